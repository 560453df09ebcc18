// `summary.has_artifacts`: the delivery waits until it is known whether the run has left files, and for no longer than that.
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { EventsPage } from '../../src/store/webhooks/read-events.ts';
import { HOLD_MS, UNATTENDED_MS } from '../../src/store/webhooks/held-deliveries.ts';
import { makeLog } from '../../src/log/log.ts';
import { makePlanner, type Planner } from '../../src/webhooks/planner.ts';
import { fenceOf, type StoreFixture, storeFixture } from '../support/store/store-fixture.ts';
import { aWebhook } from '../support/store/webhooks.ts';

const FILES = [{ path: '/tides.md', size: 4, sha256: 'a'.repeat(64) }];

let fixture: StoreFixture;
let planner: Planner;
/** Another process's planner, in place of one that is lost. */
let start: (hasPeers?: boolean) => Planner;
let webhookId: number;
/** What was reported as planned or released. */
let planned: number[];
/** Calls of the verb that releases. */
let releases: number;
let refuse: boolean;

beforeEach(async () => {
  fixture = await storeFixture();
  [planned, releases, refuse] = [[], 0, false];
  const { deliveries } = fixture.store;
  const releaseHeld: typeof deliveries.releaseHeld = async (...input) => {
    releases += 1;
    if (refuse) throw new Error('The disk is full.');
    return deliveries.releaseHeld(...input);
  };
  start = (hasPeers = false) => {
    const store = { deliveries: { ...deliveries, releaseHeld } };
    const started = makePlanner({ store, hasPeers, clock: fixture.clock, log: makeLog({ level: 'fatal' }) });
    onTestFinished(() => started.stop());
    return started;
  };
  planner = start();
  webhookId = (await fixture.store.webhooks.create(aWebhook())).id;
  fixture.store.onPlanned(({ webhookIds }) => void planned.push(...webhookIds));
  await look();
});

async function look(): Promise<void> {
  planner.wake();
  await planner.settled();
}

type Outcome = 'completed' | 'incomplete' | 'failed';

/** A run that ends with commands behind it, so that only a look tells whether there are files. */
async function endRun(outcome: Outcome = 'completed', turn: { title?: string } = {}) {
  await fixture.accept(turn);
  const [run] = await fixture.claim();
  const error = { type: 'api_error', message: 'It was in vain.', retryable: false } as const;
  await fixture.store.runs.finalize(
    fenceOf(run!),
    outcome === 'completed' ? { outcome, answer: '', stopReason: 'end_turn' } : { outcome, error },
  );
  await fixture.store.runs.settle(fenceOf(run!));
  await look();
  return run!;
}

/** The workspace is examined, and the planner hears of it. */
async function collect(run: { seq: number; sessionSeq: number }, files = FILES): Promise<void> {
  await fixture.store.artifacts.recordArtifacts(run.seq, { files, skipped: {} });
  planner.collected(run.sessionSeq);
  await planner.settled();
}

/** Until a commit lets it go, so that nobody may have sent it before. */
const HELD_MS = HOLD_MS + UNATTENDED_MS;

/** What is to be sent: in how many milliseconds, and what it says. */
async function pending() {
  return (await fixture.store.deliveries.listPending(webhookId, 9)).map(({ nextAttemptAt, body }) => {
    const { summary } = JSON.parse(body) as { summary: { has_artifacts: boolean } };
    return { inMs: nextAttemptAt - fixture.clock.now(), hasArtifacts: summary.has_artifacts };
  });
}

test.each([
  ['that has left files', FILES, true],
  ['that has left none, such as echo hi', [], false],
])(
  'the end of a run %s is sent once that is known, and says so',
  { tags: ['§6.5-has_artifacts'] },
  async (_, files, hasArtifacts) => {
    const run = await endRun();
    expect(await pending()).toEqual([{ inMs: HELD_MS, hasArtifacts: false }]);
    fixture.clock.advance(80);
    await collect(run, files);
    expect(await pending()).toEqual([{ inMs: 0, hasArtifacts }]);
    expect(planned).toEqual([webhookId, webhookId]);
  },
);

test('texts of a body that look like the flag stay as they are', async () => {
  const title = 'Is "has_artifacts":false?';
  const run = await endRun('completed', { title });
  await collect(run);
  const [sent] = await fixture.store.deliveries.listPending(webhookId, 9);
  expect(JSON.parse(sent!.body)).toMatchObject({ session: { title }, summary: { has_artifacts: true } });
});

test('what is already known when the end is planned is not waited for', async () => {
  await fixture.accept();
  const [run] = await fixture.claim();
  await fixture.store.runs.end(
    fenceOf(run!),
    { outcome: 'completed', answer: '', stopReason: 'end_turn' },
    { untouched: true },
  );
  await look();
  expect(await pending()).toEqual([{ inMs: 0, hasArtifacts: false }]);
});

test('a run that failed has no files, so its end is sent at once; one without a valid result may have some', async () => {
  await endRun('failed');
  expect(await pending()).toEqual([{ inMs: 0, hasArtifacts: false }]);
  const run = await endRun('incomplete');
  expect((await pending()).at(-1)).toEqual({ inMs: HELD_MS, hasArtifacts: false });
  await collect(run);
  expect((await pending()).at(-1)).toEqual({ inMs: 0, hasArtifacts: true });
});

test('the ends of other sessions are not held up', async () => {
  const slow = await endRun();
  const quick = await endRun();
  await collect(quick);
  expect((await pending()).map(({ inMs }) => inMs)).toEqual([0, HELD_MS]);
  await collect(slow);
  expect((await pending()).map(({ inMs }) => inMs)).toEqual([0, 0]);
});

test('a look that takes too long is not waited for, and later changes nothing of what may have been sent', {
  tags: ['§6.5-has_artifacts'],
}, async () => {
  const run = await endRun();
  fixture.clock.advance(HOLD_MS);
  await planner.settled();
  expect(await pending()).toEqual([{ inMs: 0, hasArtifacts: false }]);
  await collect(run);
  await replace();
  expect(await pending()).toEqual([{ inMs: 0, hasArtifacts: false }]);
});

test('what a process held that is lost is due by itself after a minute, as it was planned', {
  tags: ['§6.5-has_artifacts', 'L7'],
}, async () => {
  const run = await endRun();
  await planner.stop();
  await fixture.store.artifacts.recordArtifacts(run.seq, { files: FILES, skipped: {} });
  fixture.clock.advance(HELD_MS);
  planner = start();
  await look();
  expect(await pending()).toEqual([{ inMs: 0, hasArtifacts: false }]);
});

test('what the store refuses to let go is let go later', async () => {
  const run = await endRun();
  refuse = true;
  await collect(run);
  refuse = false;
  fixture.clock.advance(1_000);
  await planner.settled();
  expect(await pending()).toEqual([{ inMs: 0, hasArtifacts: true }]);
});

test('workspaces that no delivery waits for cost nothing', async () => {
  const run = await endRun();
  await collect(run);
  expect(releases).toBe(1);
  planner.collected(run.sessionSeq);
  planner.collected(run.sessionSeq + 1);
  await planner.settled();
  expect(releases).toBe(1);
});

test('who listens without a webhook gets the end at the same moment', async () => {
  const wanted = { owner: 0, types: ['session.completed'], afterId: 0, limit: 9 } as const;
  const read = async (): Promise<EventsPage> => fixture.store.deliveries.readEvents(wanted, fixture.clock.now());
  const [first, second] = [await endRun(), await endRun()];
  await collect(first);
  const page = await read();
  expect([page.events.length, page.isHeld, page.hasMore]).toEqual([1, true, false]);
  expect(JSON.parse(page.events[0]!.body)).toMatchObject({ summary: { has_artifacts: true } });
  expect(page.nextAfterId).toBe(page.events[0]!.id);
  await collect(second, []);
  const whole = await read();
  expect([whole.events.length, whole.isHeld]).toEqual([2, undefined]);
});

/** Another process takes the place of the planner. */
async function replace(hasPeers = false): Promise<void> {
  await planner.stop();
  planner = start(hasPeers);
  await look();
}

test.each([0, 3 * HOLD_MS])(
  'what a process held that was lost says what is known by then, %i ms later',
  {
    tags: ['§6.5-has_artifacts', 'L7'],
  },
  async (laterMs) => {
    const run = await endRun();
    await fixture.store.artifacts.recordArtifacts(run.seq, { files: FILES, skipped: {} });
    fixture.clock.advance(laterMs);
    await replace();
    expect(await pending()).toEqual([{ inMs: 0, hasArtifacts: true }]);
  },
);

test('what is still to be examined then goes on waiting', { tags: ['§6.5-has_artifacts', 'L7'] }, async () => {
  const run = await endRun();
  await replace();
  expect(await pending()).toEqual([{ inMs: HELD_MS, hasArtifacts: false }]);
  await collect(run);
  expect(await pending()).toEqual([{ inMs: 0, hasArtifacts: true }]);
});

test('what another process has found is looked for each second', { tags: ['§6.5-has_artifacts', 'L7'] }, async () => {
  await replace(true);
  const run = await endRun();
  await fixture.store.artifacts.recordArtifacts(run.seq, { files: FILES, skipped: {} });
  expect(await pending()).toEqual([{ inMs: HELD_MS, hasArtifacts: false }]);
  fixture.clock.advance(1_000);
  await planner.settled();
  expect(await pending()).toEqual([{ inMs: 0, hasArtifacts: true }]);
});
