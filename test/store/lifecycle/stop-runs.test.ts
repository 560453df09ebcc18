// Stopping in the store: what moves, what is published, and that exactly one end of a run is ever committed.
import { expect, test } from 'vitest';
import { isPostgres } from '../../support/postgres/shared-cluster.ts';
import { aStep, fenceOf, FREE, type StoreFixture, storeFixture } from '../../support/store/store-fixture.ts';
import { messagesOf } from '../../support/store/read-whole.ts';

const ENDED = { outcome: 'completed', answer: 'The moon pulls.', stopReason: 'end_turn' } as const;
const USER = 'user_requested_stop';

const ends = (fixture: StoreFixture) =>
  fixture.rows<{ run_seq: number; type: string }>(
    "SELECT run_seq, type FROM events WHERE type IN ('run.done', 'run.failed', 'run.stopped') ORDER BY id",
  );
const sessionRow = (fixture: StoreFixture) =>
  fixture.rows<Record<string, unknown>>(
    'SELECT status, stop_requested_at, stop_confirmed_at, stop_cause FROM sessions ORDER BY seq',
  )[0];

test('queued runs end at once as canceled, each with one event, and the stop counts as confirmed', {
  tags: ['E8'],
}, async () => {
  const fixture = await storeFixture();
  const first = await fixture.accept();
  const second = await fixture.accept({ sessionId: first.sessionId });
  const commit = await fixture.store.runs.stopSession(first.sessionSeq, USER);
  expect(commit).toMatchObject({ kind: 'ended', status: 'stopped', canceled: 2, unconfirmed: false });
  expect(ends(fixture).map(({ type }) => type)).toEqual(['run.stopped', 'run.stopped']);
  for (const { seq } of [first, second]) expect((await fixture.store.runs.get(seq)).status).toBe('canceled');
  expect(sessionRow(fixture)).toMatchObject({
    status: 'stopped',
    stop_confirmed_at: fixture.clock.now(),
    stop_cause: USER,
  });
  expect(await fixture.claim(10)).toEqual([]);
});

test('an executing run is canceled with its open block closed and its work kept; its worker can’t write any more', async () => {
  const fixture = await storeFixture();
  await fixture.accept();
  const [run] = await fixture.claim();
  const fence = fenceOf(run!);
  await fixture.store.runs.recordStep(fence, aStep({ calls: [{ id: 'a', name: 'shell', input: {} }] }), FREE);
  await fixture.store.runs.appendStream(fence, [{ type: 'content_block_start', payload: { index: 1 } }]);
  expect(await fixture.store.runs.stopSession(run!.sessionSeq, USER)).toMatchObject({ canceled: 1, unconfirmed: true });
  expect(fixture.committed.slice(-3).map(({ type }) => type)).toEqual(['content_block_stop', 'message', 'run.stopped']);
  const [, assistant] = await messagesOf(fixture.store, run!.sessionSeq);
  expect(assistant!.content).toMatchObject([{ type: 'text' }, { type: 'tool_use' }]);
  const result = { step: 1, toolUseId: 'a', name: 'shell', ok: true, output: 'x', durationMs: 1 };
  const late = await Promise.all([
    fixture.store.runs.recordToolResult(fence, result),
    fixture.store.runs.finalize(fence, ENDED),
    fixture.store.runs.settle(fence),
    fixture.store.runs.interrupt(fence, 'crash'),
  ]);
  expect(late).toEqual([false, false, false, false]);
});

test('a finalizing run is canceled, too', async () => {
  const fixture = await storeFixture();
  await fixture.accept();
  const [run] = await fixture.claim();
  await fixture.store.runs.finalize(fenceOf(run!), ENDED);
  await fixture.store.runs.stopSession(run!.sessionSeq, USER);
  expect(await fixture.store.runs.settle(fenceOf(run!))).toBe(false);
  expect(ends(fixture).map(({ type }) => type)).toEqual(['run.stopped']);
});

/** PostgreSQL answers each over its socket. */
const ROUNDS = isPostgres ? 150 : 1_002;

test('stop against completion, again and again: exactly one outcome, one event, and both agree', {
  tags: ['§3.1-one-end', 'D1'],
}, async () => {
  const fixture = await storeFixture();
  const outcomes = { completed: 0, canceled: 0 };
  for (let round = 0; round < ROUNDS; round += 1) {
    const { seq, sessionSeq } = await fixture.accept();
    const [run] = await fixture.claim();
    const complete = () => [
      fixture.store.runs.finalize(fenceOf(run!), ENDED),
      fixture.store.runs.settle(fenceOf(run!)),
    ];
    const stop = () => fixture.store.runs.stopSession(sessionSeq, USER);
    // In every order, also between the two moves of the completion.
    const orders = [
      () => [...complete(), stop()],
      () => [stop(), ...complete()],
      () => [fixture.store.runs.finalize(fenceOf(run!), ENDED), stop(), fixture.store.runs.settle(fenceOf(run!))],
    ];
    await Promise.all(orders[round % 3]!());
    const { status } = await fixture.store.runs.get(seq);
    const session = await fixture.store.sessions.find(run!.sessionId);
    expect(session!.status).toBe(status === 'completed' ? 'completed' : 'stopped');
    outcomes[status as keyof typeof outcomes] += 1;
  }
  expect(outcomes).toEqual({ completed: ROUNDS / 3, canceled: (ROUNDS / 3) * 2 });
  const committed = ends(fixture);
  expect(new Set(committed.map(({ run_seq }) => run_seq)).size).toBe(ROUNDS);
  expect(committed.filter(({ type }) => type === 'run.stopped')).toHaveLength((ROUNDS / 3) * 2);
  expect(committed).toHaveLength(ROUNDS);
});

test('what follows in the session waits until the executor of a stopped run has confirmed', async () => {
  const fixture = await storeFixture();
  const { sessionId, sessionSeq } = await fixture.accept();
  await fixture.claim();
  await fixture.store.runs.stopSession(sessionSeq, USER);
  const next = await fixture.accept({ sessionId });
  expect(next.scheduleMode).toBe('queued');
  expect(await fixture.claim(10)).toEqual([]);
  expect((await fixture.store.sessions.find(sessionId))!.status).toBe('pending');
  expect(await fixture.store.runs.confirmStop(sessionSeq)).toBe(true);
  expect(await fixture.store.runs.confirmStop(sessionSeq)).toBe(false);
  expect((await fixture.claim(10)).map(({ id }) => id)).toEqual([next.id]);
});

test('a stop that is confirmed is forgotten with the next turn', async () => {
  const fixture = await storeFixture();
  const { sessionId, sessionSeq } = await fixture.accept();
  await fixture.store.runs.stopSession(sessionSeq, USER);
  const next = await fixture.accept({ sessionId });
  expect(sessionRow(fixture)).toEqual({
    status: 'pending',
    stop_requested_at: null,
    stop_confirmed_at: null,
    stop_cause: null,
  });
  expect((await fixture.claim(10)).map(({ id }) => id)).toEqual([next.id]);
});

test('stopping one queued run leaves the run before it executing and the one behind it waiting', async () => {
  const fixture = await storeFixture();
  const first = await fixture.accept();
  const [second, third] = [
    await fixture.accept({ sessionId: first.sessionId }),
    await fixture.accept({ sessionId: first.sessionId }),
  ];
  await fixture.claim();
  const which = { sessionSeq: first.sessionSeq, runSeq: second.seq };
  expect(await fixture.store.runs.stopRun(which, USER)).toMatchObject({ canceled: 1, unconfirmed: false });
  expect((await fixture.store.sessions.find(first.sessionId))!.status).toBe('running');
  expect(await fixture.claim(10)).toEqual([]);
  // Now the executing one: the third may begin once its executor has let go.
  await fixture.store.runs.stopRun({ ...which, runSeq: first.seq }, USER);
  expect(await fixture.claim(10)).toEqual([]);
  await fixture.store.runs.confirmStop(first.sessionSeq);
  expect((await fixture.claim(10)).map(({ id }) => id)).toEqual([third.id]);
});

test('after a restart every stop is confirmed, for no executor has survived', async () => {
  const fixture = await storeFixture();
  const { sessionId, sessionSeq } = await fixture.accept();
  await fixture.claim();
  await fixture.store.runs.stopSession(sessionSeq, USER);
  const next = await fixture.accept({ sessionId });
  expect(await fixture.store.runs.listExecutingSessions('here')).toEqual([sessionId]);
  await fixture.store.runs.rescue('here');
  expect(await fixture.store.runs.listExecutingSessions('here')).toEqual([]);
  expect((await fixture.claim(10)).map(({ id }) => id)).toEqual([next.id]);
});

test('a session that ended by itself has nothing to stop and keeps its status', async () => {
  const fixture = await storeFixture();
  await fixture.accept();
  const [run] = await fixture.claim();
  await fixture.store.runs.finalize(fenceOf(run!), ENDED);
  await fixture.store.runs.settle(fenceOf(run!));
  const before = fixture.committed.length;
  expect(await fixture.store.runs.stopSession(run!.sessionSeq, USER)).toMatchObject({
    kind: 'idle',
    status: 'completed',
  });
  expect(fixture.committed).toHaveLength(before);
});
