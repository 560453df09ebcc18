// How one run gets to its worker, alongside everything else that the main thread does.
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Brief, Signal } from '../../../src/agent/port/protocol.ts';
import type { Halt } from '../../../src/domain/halt.ts';
import type { WorkspaceBaseline } from '../../../src/execution/artifacts/recording/workspace-baseline.ts';
import type { BuildBrief } from '../../../src/execution/brief/brief.ts';
import { executeRun } from '../../../src/execution/executor/executor.ts';
import type { RunSink } from '../../../src/execution/pool/run-on-thread.ts';
import type { PoolEnd, Reservation } from '../../../src/execution/pool/worker-pool.ts';
import type { RunServices, ServedRun } from '../../../src/execution/run-services.ts';
import type { Store } from '../../../src/store/open-store.ts';
import { AT_ONCE, executorParts } from '../../support/agent/executor-parts.ts';
import {
  aSpentCall,
  aStep,
  fenceOf,
  type StoreFixture,
  storeFixture,
  TIMING,
} from '../../support/store/store-fixture.ts';
import { waitFor } from '../../support/time/wait-for.ts';

/** Counts turns of the event loop from now on. */
function countTurns(): () => number {
  let turns = 0;
  const tick = () => {
    turns += 1;
    next = setImmediate(tick);
  };
  let next = setImmediate(tick);
  onTestFinished(() => clearImmediate(next));
  return () => turns;
}

type Sink = RunSink<PoolEnd>;

const DONE: PoolEnd = {
  kind: 'done',
  outcome: { status: 'completed', text: '', stopReason: 'end_turn' },
  untouched: true,
};
const CHOICE = { keyModel: null, scenario: null, target: 'free', leadModel: null };
const partsWith = (fixture: StoreFixture, reservation: Partial<Reservation>, turns: Partial<Store['turns']> = {}) =>
  executorParts(fixture, { reserve: () => ({ ...AT_ONCE, ...reservation }) }, turns);
const nobody = () => undefined;

/** How a reservation starts its run, and what the run's signals go to from then on. */
function openStart() {
  const { promise: started, resolve: begin } = Promise.withResolvers<Sink>();
  const start = (_: Brief, sink: Sink) => {
    begin(sink);
    return { send: nobody };
  };
  return { start, started };
}

test('the claim of a run, the reading of its text and the start of its worker have a turn of the event loop each', async () => {
  const fixture = await storeFixture();
  const { store } = fixture;
  await fixture.accept();
  const [run] = await fixture.claim();
  const turn = countTurns();
  const at: Record<string, number> = {};
  const start = (_: Brief, sink: Sink) => {
    at['start'] = turn();
    sink.ended(DONE);
    return { send: () => undefined };
  };
  const get = (...of: [number, number]) => {
    at['read'] = turn();
    return store.turns.get(...of);
  };
  at['claim'] = turn();
  await executeRun(partsWith(fixture, { start }, { get }), { run: run!, choice: CHOICE }, nobody).ended;
  expect((await store.runs.get(run!.seq))?.status).toBe('completed');
  expect(at['read']).toBeGreaterThan(at['claim']);
  expect(at['start']).toBeGreaterThan(at['read']!);
});

/** A reservation that is not ready before it is let in, or left. */
function lateReservation() {
  const { promise: ready, resolve: letIn } = Promise.withResolvers<void>();
  const seen = { starts: 0, leaves: 0 };
  const start = (_: Brief, sink: Sink) => {
    seen.starts += 1;
    end = sink.ended;
    return { send: nobody };
  };
  const leave = () => {
    seen.leaves += 1;
    letIn();
  };
  let end: Sink['ended'] | undefined;
  return { reservation: { takesNoSlot: true, ready, start, leave }, seen, letIn, lose: () => end!(LOST) };
}

const workedOf = (fixture: StoreFixture) => fixture.rows<{ ms: number }>('SELECT worked_ms AS ms FROM runs')[0]!.ms;
const LOST: PoolEnd = { kind: 'lost', why: 'it died', isCharged: false };

test('what a run waits for its thread is not time at work, what follows is, and nothing is read before', async () => {
  const fixture = await storeFixture();
  await fixture.accept();
  const [run] = await fixture.claim();
  const { reservation, seen, letIn, lose } = lateReservation();
  const reads: number[] = [];
  const get = (...of: [number, number]) => {
    reads.push(of[0]);
    return fixture.store.turns.get(...of);
  };
  const went = vi.fn<() => void>();
  const execution = executeRun(partsWith(fixture, reservation, { get }), { run: run!, choice: CHOICE }, went);
  await waitFor(() => went.mock.calls.length > 0);
  fixture.clock.advance(600_000);
  await fixture.store.runs.renewLeases('here', [execution.progress()], 60_000);
  expect(reads).toEqual([]);
  letIn();
  await waitFor(() => seen.starts === 1);
  fixture.clock.advance(5_000);
  lose();
  await execution.ended;
  expect(seen.leaves).toBe(1);
  expect((await fixture.claim())[0]).toMatchObject({ seq: run!.seq, attempt: 2, workedMs: 5_000 });
});

test('each reply, tool result and end brings how long the run has been at work until then', async () => {
  const fixture = await storeFixture();
  await fixture.accept();
  const [run] = await fixture.claim();
  const { start, started } = openStart();
  const execution = executeRun(partsWith(fixture, { start }), { run: run!, choice: CHOICE }, nobody);
  const { signals, ended } = await started;
  const call = { id: 'a', name: 'shell', input: {} };
  const batch: readonly Signal[] = [
    { t: 'step', ack: 1, reply: { ...aStep({ calls: [call] }), kind: 'openai' } },
    { t: 'tool-result', ack: 2, step: 1, call, result: { ok: true, output: '' }, durationMs: 1 },
    { t: 'spent', model: 'scripted', ...aSpentCall() },
  ];
  for (const [index, signal] of batch.entries()) {
    fixture.clock.advance(1_000);
    signals([signal]);
    await waitFor(() => workedOf(fixture) === 1_000 * (index + 1));
  }
  fixture.clock.advance(1_000);
  expect(execution.progress()).toEqual(fenceOf(run!, 4_000));
  ended(DONE);
  await execution.ended;
  expect(fixture.rows('SELECT status, worked_ms FROM runs')).toEqual([{ status: 'completed', worked_ms: 4_000 }]);
  fixture.clock.advance(1_000);
  expect(execution.progress()).toEqual(fenceOf(run!, 4_000));
});

const NOT_WORKED_ON = { used: null, purpose: 'reply', agent: null, timing: TIMING } as const;
const FAILED = { t: 'call-failed', model: 'scripted', ...NOT_WORKED_ON } as const;

test('each call of a model counts once for its endpoint: replies of the run and of others, and failures', async () => {
  const fixture = await storeFixture();
  await fixture.accept();
  const [run] = await fixture.claim();
  const { start, started } = openStart();
  const called: object[] = [];
  const parts = { ...partsWith(fixture, { start }), modelCalled: (call: object) => void called.push(call) };
  const execution = executeRun(parts, { run: run!, choice: CHOICE }, nobody);
  const { signals, ended } = await started;
  signals([
    { ...FAILED, outcome: 'throttled' },
    { ...FAILED, outcome: 'stopped' },
    { t: 'step', ack: 1, reply: { ...aStep(), kind: 'openai' } },
    { t: 'spent', model: 'scripted', ...aSpentCall() },
  ]);
  ended(DONE);
  await execution.ended;
  expect(called).toEqual(['throttled', 'ok', 'ok'].map((outcome) => ({ endpoint: 'local', outcome })));
});

test('a run whose last reply is refused does not end, but is executed again', async () => {
  const fixture = await storeFixture();
  await fixture.accept();
  const [run] = await fixture.claim();
  const { start, started } = openStart();
  const parts = partsWith(fixture, { start });
  const { promise: refusal, reject: refuse } = Promise.withResolvers<never>();
  const recordStep = vi.fn<Store['runs']['recordStep']>(() => refusal);
  const store = { ...parts.store, runs: { ...parts.store.runs, recordStep } };
  const execution = executeRun({ ...parts, store }, { run: run!, choice: CHOICE }, nobody);
  // The first reason is another one.
  const { signals, ended } = await started;
  execution.abort('drain');
  signals([{ t: 'step', ack: 1, reply: { ...aStep(), kind: 'openai' } }]);
  await waitFor(() => recordStep.mock.calls.length === 1);
  refuse(new Error('refused'));
  await new Promise(setImmediate);
  ended(DONE);
  await execution.ended;
  expect((await fixture.store.runs.get(run!.seq))?.status).toBe('queued');
});

test('text of a reply that broke off is discarded, and the sweeper learns of it', async () => {
  const fixture = await storeFixture();
  await fixture.accept();
  const [run] = await fixture.claim();
  const { start, started } = openStart();
  const { promise: discarded, resolve: textDiscarded } = Promise.withResolvers<void>();
  const execution = executeRun(
    { ...partsWith(fixture, { start }), textDiscarded },
    { run: run!, choice: CHOICE },
    nobody,
  );
  const { signals, ended } = await started;
  signals([
    { t: 'block-start', index: 0 },
    { t: 'text', index: 0, text: 'Half' },
    { t: 'block-stop', index: 0 },
    { t: 'discard' },
    { t: 'step', ack: 1, reply: { ...aStep(), kind: 'openai' } },
  ]);
  await discarded;
  ended(DONE);
  await execution.ended;
  expect(fixture.rows('SELECT run_seq FROM discarded_texts')).toEqual([{ run_seq: run!.seq }]);
});

test('text that comes in one long piece is recorded in short ones, some at a time and in order', async () => {
  const fixture = await storeFixture();
  const { runs } = fixture.store;
  const append = vi.spyOn(runs, 'appendStream');
  await fixture.accept();
  const [run] = await fixture.claim();
  const { start, started } = openStart();
  const execution = executeRun(partsWith(fixture, { start }), { run: run!, choice: CHOICE }, nobody);
  const { signals, ended } = await started;
  const text = `${'ab'.repeat(32_767)}a😀`.repeat(15);
  signals([
    { t: 'block-start', index: 0 },
    { t: 'text', index: 0, text },
    { t: 'block-stop', index: 0 },
    { t: 'step', ack: 1, reply: { ...aStep({ text }), kind: 'openai' } },
  ]);
  ended(DONE);
  await execution.ended;
  const events = fixture.rows<{ payload: string }>(
    "SELECT payload FROM events WHERE type = 'content_block_delta' ORDER BY id",
  );
  const texts = events.map(({ payload }) => (JSON.parse(payload) as { text: string }).text);
  expect(texts.join('')).toBe(text);
  expect(Math.max(...texts.map(({ length }) => length))).toBeLessThanOrEqual(65_536);
  expect(append.mock.calls.length).toBeGreaterThanOrEqual(3);
});

test('a thread is reserved for the bytes of the turn, before any of it is read', async () => {
  const fixture = await storeFixture();
  await fixture.accept({ content: [{ type: 'text', text: 'ü'.repeat(50_000) }] });
  const [run] = await fixture.claim();
  const taken: number[] = [];
  const reserve = (_: string, bytes: number): Reservation => {
    taken.push(bytes);
    return { ...AT_ONCE, ready: new Promise(nobody) };
  };
  const get = vi.fn<Store['turns']['get']>();
  executeRun(executorParts(fixture, { reserve }, { get }), { run: run!, choice: CHOICE }, nobody);
  await waitFor(() => taken.length === 1);
  expect(taken[0]).toBeGreaterThanOrEqual(100_000);
  expect(get).not.toHaveBeenCalled();
});

test.each(['drain', 'stop'] as const)('a run that waits for its thread answers a %s at once', async (why) => {
  const fixture = await storeFixture();
  const accepted = await fixture.accept();
  const [run] = await fixture.claim();
  const { reservation, seen } = lateReservation();
  const went = vi.fn<() => void>();
  const execution = executeRun(partsWith(fixture, reservation), { run: run!, choice: CHOICE }, went);
  await waitFor(() => went.mock.calls.length > 0);
  fixture.clock.advance(600_000);
  if (why === 'stop')
    await fixture.store.runs.stopRun({ sessionSeq: accepted.sessionSeq, runSeq: run!.seq }, 'operator_requested_stop');
  execution.abort(why);
  await execution.ended;
  expect(seen.starts).toBe(0);
  expect(seen.leaves).toBeGreaterThan(0);
  const [row] = fixture.rows('SELECT status, resumes, worked_ms FROM runs');
  expect(row).toEqual({ status: why === 'stop' ? 'canceled' : 'queued', resumes: 0, worked_ms: 0 });
});

test.each([
  ['drain', ['recorded as running', 'queued']],
  ['unavailable', ['queued']],
] as const)(
  'before a run leaves its worker for a %s, its workspace is recorded if that is possible',
  async (why, order) => {
    const fixture = await storeFixture();
    await fixture.accept();
    const [run] = await fixture.claim();
    const { start, started } = openStart();
    const parts = partsWith(fixture, { start });
    const seen: string[] = [];
    const statusOf = async () => (await fixture.store.runs.get(run!.seq)).status;
    const keep = async () => void seen.push(`recorded as ${await statusOf()}`);
    const collector = { baselineOf: () => ({ ...parts.collector.baselineOf(run!), keep }) };
    const execution = executeRun({ ...parts, collector }, { run: run!, choice: CHOICE }, nobody);
    const { ended } = await started;
    execution.abort(why);
    ended({ kind: 'done', outcome: { status: 'canceled' }, untouched: false });
    await execution.ended;
    seen.push(await statusOf());
    expect(seen).toEqual(order);
  },
);

test('a run that is stopped while its brief is made calls off what is read for it', async () => {
  const fixture = await storeFixture();
  await fixture.accept();
  const [run] = await fixture.claim();
  const parts = partsWith(fixture, { start: openStart().start });
  const begun = Promise.withResolvers<Halt>();
  const buildBrief: BuildBrief = async (claimed, given) => {
    begun.resolve(given.off);
    await new Promise<void>((resolve) => given.off.listen(resolve));
    return parts.buildBrief(claimed, given);
  };
  const execution = executeRun({ ...parts, buildBrief }, { run: run!, choice: CHOICE }, nobody);
  expect((await begun.promise).isHalted).toBe(false);
  execution.abort('stop');
  await execution.ended;
  expect((await begun.promise).isHalted).toBe(true);
});

test('what a tool requests is for the user of its run, until the run ends', async () => {
  const fixture = await storeFixture();
  await fixture.accept();
  const [run] = await fixture.claim();
  const { start, started } = openStart();
  const asked = Promise.withResolvers<ServedRun>();
  const read_document = async (served: ServedRun) => {
    asked.resolve(served);
    return null;
  };
  const parts = { ...partsWith(fixture, { start }), services: { read_document } as unknown as RunServices };
  const execution = executeRun(parts, { run: run!, choice: CHOICE }, nobody);
  const { signals, ended } = await started;
  signals([{ t: 'request', request: 1, service: 'read_document', input: { root: '/w', path: 'a.pdf', version: '1' } }]);
  const { userSeq, off } = await asked.promise;
  expect([userSeq, off.isHalted]).toEqual([run!.userSeq, false]);
  ended(DONE);
  await execution.ended;
  expect(off.isHalted).toBe(true);
});

test('before a run waits for its user, its workspace is recorded', async () => {
  const fixture = await storeFixture();
  await fixture.accept();
  const [run] = await fixture.claim();
  const { start, started } = openStart();
  const parts = partsWith(fixture, { start });
  const statusOf = async () => (await fixture.store.runs.get(run!.seq)).status;
  let recordedAs = '';
  const keep = async () => void (recordedAs = await statusOf());
  const collector = { baselineOf: () => ({ ...parts.collector.baselineOf(run!), keep }) };
  const execution = executeRun({ ...parts, collector }, { run: run!, choice: CHOICE }, nobody);
  const { ended } = await started;
  const question = { id: 'q', name: 'ask_user', input: {} };
  ended({ kind: 'done', outcome: { status: 'waiting', question }, untouched: true });
  await execution.ended;
  expect([recordedAs, await statusOf()]).toEqual(['running', 'waiting']);
});

/** A run whose workspace is prepared so, and what its row says afterwards. */
async function withWorkspace(prepare: WorkspaceBaseline['prepare']) {
  const fixture = await storeFixture();
  await fixture.accept();
  const [run] = await fixture.claim();
  const { start } = openStart();
  const parts = partsWith(fixture, { start });
  const baselineOf = (): WorkspaceBaseline => ({
    announces: 'none',
    prepare,
    take: async () => true,
    stepEnded: nobody,
    keep: async () => nobody(),
    abort: nobody,
  });
  const collector = { ...parts.collector, baselineOf };
  await executeRun({ ...parts, collector }, { run: run!, choice: CHOICE }, nobody).ended;
  return fixture.rows<{ status: string; resumes: number; error: string | null }>(
    'SELECT status, resumes, error FROM runs',
  )[0]!;
}

test('a run whose workspace is away goes back to the queue, and that is not its fault', async () => {
  const row = await withWorkspace(async () => ({ kind: 'away', why: 'The bucket is away.' }));
  expect(row).toEqual({ status: 'queued', resumes: 0, error: null });
});

test('a run whose workspace is lost fails, and says why', async () => {
  const error = { type: 'api_error', message: 'The content of /a is lost.', retryable: false } as const;
  const row = await withWorkspace(async () => ({ kind: 'failed', error }));
  expect([row.status, JSON.parse(row.error!)]).toEqual(['failed', error]);
});

test('a workspace that can not be laid out for another reason counts as a crash', async () => {
  const row = await withWorkspace(async () => {
    throw new Error('broken');
  });
  expect(row).toEqual({ status: 'queued', resumes: 1, error: null });
});

test('a run that another attempt has taken meanwhile is left to it', async () => {
  expect(await withWorkspace(async () => ({ kind: 'fenced' }))).toMatchObject({ status: 'running' });
});
