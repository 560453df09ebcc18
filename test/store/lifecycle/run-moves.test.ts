// The table of a run's moves, held against the verbs: each is tried on a run in each state.
import { expect, test } from 'vitest';
import { type Protocol, RUN_MOVES, RUN_STATES, type RunState } from '../../../src/domain/sessions/run.ts';
import type { NewTurn } from '../../../src/store/lifecycle/accept-run.ts';
import type { Ending } from '../../../src/store/lifecycle/end-run.ts';
import type { Progress } from '../../../src/store/runs/fence.ts';
import { aStep, fenceOf, FREE, type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';

const LEASE_MS = 60_000;
const DAY_MS = 86_400_000;
const QUESTION = { toolUseId: 'ask', toolName: 'ask_user', toolInput: {}, lifetimeMs: DAY_MS };
const COMPLETED: Ending = { outcome: 'completed', answer: '', stopReason: 'end_turn' };
const error = { type: 'api_error', message: 'No.', retryable: false } as const;
const ENDINGS: readonly Ending[] = [COMPLETED, { outcome: 'failed', error }, { outcome: 'incomplete', error }];

interface RunRow extends Progress {
  readonly status: RunState;
}

/** A verb that runs of one kind or all of them are moved by. */
type Verb = (fixture: StoreFixture, run: RunRow) => Promise<unknown>;

const VERBS: Readonly<Record<string, Verb>> = {
  claim: (fixture) => fixture.claim(9),
  finalize: ({ store }, run) => store.runs.finalize(run, COMPLETED),
  settle: ({ store }, run) => store.runs.settle(run),
  interrupt: ({ store }, run) => store.runs.interrupt(run, 'drain'),
  waitForUser: ({ store }, run) => store.runs.waitForUser(run, QUESTION),
  stopRun: ({ store }, run) => store.runs.stopRun(run, 'user_requested_stop'),
  stopSession: ({ store }, run) => store.runs.stopSession(run.sessionSeq, 'user_requested_stop'),
  deleteSession: ({ store }, run) => store.sessions.deleteSession(run.sessionSeq),
  rescue: ({ store }) => store.runs.rescue('here'),
  renewLeases: async ({ store, clock }) => {
    clock.advance(2 * LEASE_MS);
    return store.runs.renewLeases('here', [], LEASE_MS);
  },
  expireQueued: ({ store }) => store.runs.expireQueued(Number.MAX_SAFE_INTEGER),
  answer: async (fixture, run) => {
    for (const { id } of questionsOf(fixture, run)) await fixture.store.userInputs.answer(id, {});
  },
  expireDue: async ({ store, clock }) => {
    clock.advance(2 * DAY_MS);
    return store.userInputs.expireDue();
  },
};

const questionsOf = (fixture: StoreFixture, { runSeq }: RunRow) =>
  fixture.rows<{ id: string }>(`SELECT id FROM user_inputs WHERE run_seq = ${runSeq}`);

const rowsOf = (fixture: StoreFixture) =>
  fixture.rows<RunRow>(`SELECT seq AS runSeq, session_seq AS sessionSeq, attempt, status, ready, resumes, lease_until,
    outcome, answer, stop_reason, error, finished_at, worked_ms AS workedMs FROM runs ORDER BY seq`);

/** Begins a run of a key of its own. */
async function begin(fixture: StoreFixture, given: Partial<NewTurn> = {}): Promise<Progress> {
  await accept(fixture, given);
  const [run] = await fixture.claim();
  return fenceOf(run!);
}

const accept = async (fixture: StoreFixture, given: Partial<NewTurn> = {}) =>
  fixture.accept({
    ...given,
    key: await fixture.makeKey(),
    background: { payload: null, limits: { maxUnfinishedPerKey: 9, maxUnfinishedPerUser: 99, capacity: 5 } },
  });

/** A fixture with a run in each state, and one for each ending that may be finalizing. */
async function fixtureOfAll(): Promise<StoreFixture> {
  const fixture = await storeFixture();
  const { runs } = fixture.store;
  for (const ending of ENDINGS) {
    const ended = await begin(fixture);
    await runs.finalize(ended, ending);
    await runs.settle(ended);
    await runs.finalize(await begin(fixture), ending);
  }
  await runs.stopRun(await begin(fixture), 'user_requested_stop');
  const asking = await begin(fixture);
  await runs.recordStep(asking, aStep({ calls: [{ id: 'ask', name: 'ask_user', input: {} }] }), FREE);
  await runs.waitForUser(asking, QUESTION);
  await begin(fixture);
  await accept(fixture);
  expect(new Set(rowsOf(fixture).map(({ status }) => status))).toEqual(new Set(RUN_STATES));
  return fixture;
}

/** What a verb does to a run in each state; when it does not move a run, it must not change the row or the journal. */
async function movesOf(name: string): Promise<string[]> {
  const fixture = await fixtureOfAll();
  const before = rowsOf(fixture);
  const eventsBefore = fixture.committed.length;
  for (const run of before) await VERBS[name]!(fixture, run);
  const after = rowsOf(fixture);
  const moved = before.filter((run, at) => run.status !== after[at]!.status);
  for (const [at, run] of before.entries()) {
    if (moved.includes(run)) continue;
    expect(after[at], `${name} of a run that is ${run.status}`).toEqual(run);
    const events = fixture.committed.slice(eventsBefore).filter(({ runSeq }) => runSeq === run.runSeq);
    expect(events, `${name} of a run that is ${run.status}`).toEqual([]);
  }
  return moved.map((run) => `${run.status} → ${after[before.indexOf(run)]!.status}`);
}

test('verbs make every move of the table, and no other; a verb that moves nothing writes nothing', {
  tags: ['D1'],
}, async () => {
  const made = new Set<string>();
  for (const name of Object.keys(VERBS)) for (const move of await movesOf(name)) made.add(move);
  const moves = RUN_STATES.flatMap((from) => RUN_MOVES[from].map((to) => `${from} → ${to}`));
  expect([...made].toSorted()).toEqual(moves.toSorted());
});

/** Ends a run by the verb or by its two halves. Returns its row and what the journal says of it. */
async function endedBy(name: 'end' | 'halves', ending: Ending, protocol: Protocol) {
  const fixture = await storeFixture();
  const { runs } = fixture.store;
  const outputSchema = 'structured' in ending ? {} : null;
  const fence = { ...(await begin(fixture, { protocol, outputSchema })), workedMs: 5 };
  await runs.recordStep(fence, aStep({ text: 'Said.' }), FREE);
  const options = { untouched: true };
  if (name === 'end') expect(await runs.end(fence, ending, options)).toBe(true);
  else expect([await runs.finalize(fence, ending), await runs.settle(fence, options)]).toEqual([true, true]);
  const events = fixture.committed.map(({ type, payload }) => ({ type, payload: { ...payload, runId: '' } }));
  const totals = fixture.rows('SELECT message_count, worked_ms FROM session_totals');
  expect(await runs.end(fence, ending)).toBe(false);
  return { rows: rowsOf(fixture), totals, events };
}

const RESULT: Ending = { ...COMPLETED, structured: { value: { a: 1 } } };

test.each<[Ending, Protocol]>([
  ...ENDINGS.map((ending): [Ending, Protocol] => [ending, 'messages']),
  [{ ...COMPLETED, answer: 'Said.' }, 'messages'],
  [RESULT, 'messages'],
  [RESULT, 'chat'],
])('an end in one step leaves what its two halves leave: %o of %s', async (ending, protocol) => {
  const whole = await endedBy('end', ending, protocol);
  expect(whole.events.map(({ type }) => type)).toContain('run.finalizing');
  expect(whole).toEqual(await endedBy('halves', ending, protocol));
});
