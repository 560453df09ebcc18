// What a run has used of its time limit is the time that it had a worker, as its executor tells it with each write.
import { onTestFinished, expect, test } from 'vitest';
import type { Store } from '../../../src/store/open-store.ts';
import { openStore } from '../../support/store/open-store.ts';
import type { ClaimedRun } from '../../../src/store/lifecycle/start-run.ts';
import type { Progress } from '../../../src/store/runs/fence.ts';
import { fakeClock } from '../../support/time/fake-clock.ts';
import {
  aSpentCall,
  aStep,
  BACKGROUND_CLAIM,
  fenceOf,
  FREE,
  type StoreFixture,
  storeFixture,
} from '../../support/store/store-fixture.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const ORDER = { limit: 1, node: 'here', leaseMs: 60_000, background: BACKGROUND_CLAIM, modelFor: () => 'scripted' };
const ENDED = { outcome: 'completed', answer: '', stopReason: 'end_turn' } as const;

/** The fixture's store as a daemon finds it that starts later, after a crash unless it was let go of before. */
async function startAgain(fixture: StoreFixture, downMs: number): Promise<Store> {
  await fixture.store.close();
  const store = openStore(fixture.file, fakeClock(fixture.clock.now() + downMs));
  onTestFinished(() => store.close());
  await store.runs.rescue('here');
  return store;
}

async function begin(fixture: StoreFixture): Promise<ClaimedRun> {
  await fixture.accept();
  const [run] = await fixture.claim();
  expect(run!.workedMs).toBe(0);
  return run!;
}

const result = { step: 1, toolUseId: 'x', name: 'shell', ok: true, output: '', durationMs: 1 };
const question = { toolUseId: 'q', toolName: 'ask_user', toolInput: {}, lifetimeMs: 1_000 };
const workedOf = (fixture: StoreFixture) => fixture.rows<{ ms: number }>('SELECT worked_ms AS ms FROM runs')[0]!.ms;

/** What each kind of progress keeps of the time until then. */
const KEEPERS: Readonly<Record<string, (store: Store, at: Progress) => Promise<unknown>>> = {
  'a reply of the model': ({ runs }, at) => runs.recordStep(at, aStep(), FREE),
  'the result of a tool': ({ runs }, at) => runs.recordToolResult(at, result),
  'what a sub-agent has used': ({ runs }, at) => runs.recordSpent(at, aSpentCall(), FREE),
  'the renewal of its lease': ({ runs }, at) => runs.renewLeases('here', [at], 60_000),
  'a drain': ({ runs }, at) => runs.interrupt(at, 'drain'),
  'the loss of its thread': ({ runs }, at) => runs.interrupt(at, 'crash'),
};

test.each(Object.keys(KEEPERS))(
  '%s keeps what the run has used, and a night without a daemon adds nothing',
  async (by) => {
    const fixture = await storeFixture();
    const run = await begin(fixture);
    await KEEPERS[by]!(fixture.store, fenceOf(run, 5 * MINUTE_MS));
    const store = await startAgain(fixture, DAY_MS / 3);
    const [again] = await store.runs.claim(ORDER);
    expect(again!.run).toMatchObject({ seq: run.seq, attempt: 2, workedMs: 5 * MINUTE_MS });
  },
);

test.each<[string, (store: Store, at: Progress) => Promise<boolean>]>([
  ['a question to the user', ({ runs }, at) => runs.waitForUser(at, question)],
  ['the end of the agent', ({ runs }, at) => runs.finalize(at, ENDED)],
])('%s keeps what the run has used', async (_, keep) => {
  const fixture = await storeFixture();
  const run = await begin(fixture);
  expect(await keep(fixture.store, fenceOf(run, MINUTE_MS))).toBe(true);
  expect(workedOf(fixture)).toBe(MINUTE_MS);
});

test('attempts add up, and the time between them in the queue does not', async () => {
  const fixture = await storeFixture();
  let run = await begin(fixture);
  for (const attempt of [2, 3, 4]) {
    await fixture.store.runs.recordStep(fenceOf(run, run.workedMs + MINUTE_MS), aStep({ step: attempt }), FREE);
    await fixture.store.runs.interrupt(fenceOf(run, run.workedMs + 2 * MINUTE_MS), 'drain');
    fixture.clock.advance(DAY_MS);
    run = (await fixture.claim())[0]!;
    expect(run).toMatchObject({ attempt, workedMs: 2 * MINUTE_MS * (attempt - 1) });
  }
});

test('what an attempt has used is never taken back, and an older attempt adds nothing', async () => {
  const fixture = await storeFixture();
  const first = await begin(fixture);
  await fixture.store.runs.recordStep(fenceOf(first, 2 * MINUTE_MS), aStep(), FREE);
  await fixture.store.runs.renewLeases('here', [fenceOf(first, MINUTE_MS)], 60_000);
  expect(workedOf(fixture)).toBe(2 * MINUTE_MS);
  await fixture.store.runs.interrupt(fenceOf(first, 2 * MINUTE_MS), 'drain');
  const [second] = await fixture.claim();
  fixture.clock.advance(50_000);
  await fixture.store.runs.renewLeases('here', [fenceOf(first, DAY_MS)], 60_000);
  expect(workedOf(fixture)).toBe(2 * MINUTE_MS);
  // Nor does it keep the run from being rescued.
  fixture.clock.advance(10_001);
  expect(await fixture.store.runs.renewLeases('here', [fenceOf(first, DAY_MS)], 60_000)).toBe(1);
  expect((await fixture.claim())[0]).toMatchObject({ seq: second!.seq, attempt: 3, workedMs: 2 * MINUTE_MS });
});

test('a run that lost its worker unnoticed has used what it had until its last lease', async () => {
  const fixture = await storeFixture();
  const run = await begin(fixture);
  await fixture.store.runs.renewLeases('here', [fenceOf(run, MINUTE_MS / 2)], 60_000);
  fixture.clock.advance(2 * MINUTE_MS);
  expect(await fixture.store.runs.renewLeases('here', [], 60_000)).toBe(1);
  expect((await fixture.claim())[0]).toMatchObject({ workedMs: MINUTE_MS / 2 });
});
