import { expect, test } from 'vitest';
import type { Acceptance } from '../../src/store/lifecycle/accept-run.ts';
import { aTurn, BACKGROUND_CLAIM, fenceOf, type StoreFixture, storeFixture } from '../support/store/store-fixture.ts';

const LIMITS = { maxUnfinishedPerKey: 20, maxUnfinishedPerUser: 50, capacity: 9 };
const ENDED = { outcome: 'completed', answer: '', stopReason: 'end_turn' } as const;

async function submit(fixture: StoreFixture, over: object = {}, limits = LIMITS): Promise<Acceptance> {
  return fixture.store.runs.accept({
    ...aTurn(fixture.user, fixture.key),
    background: { payload: null, limits },
    ...over,
  });
}

const kindsOf = (acceptances: readonly Acceptance[]) => {
  const counts: Record<string, number> = {};
  for (const { kind } of acceptances) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
};

test('a hundred parallel submitters never get more than the 20 places of a key', {
  tags: ['§8-unfinished-per-key'],
}, async () => {
  const fixture = await storeFixture();
  const answers = await Promise.all(Array.from({ length: 100 }, () => submit(fixture)));
  expect(kindsOf(answers)).toEqual({ accepted: 20, key_limit: 80 });
});

test('all keys of a user together get no more than 50 places', { tags: ['§8-unfinished-per-user'] }, async () => {
  const fixture = await storeFixture();
  const keys = await Promise.all(Array.from({ length: 4 }, () => fixture.makeKey()));
  const answers = await Promise.all(keys.flatMap((key) => Array.from({ length: 18 }, () => submit(fixture, { key }))));
  expect(kindsOf(answers)).toEqual({ accepted: 50, user_limit: 22 });
});

test('a finished run gives its place back', async () => {
  const fixture = await storeFixture();
  const limits = { maxUnfinishedPerKey: 1, maxUnfinishedPerUser: 1, capacity: 5 };
  expect((await submit(fixture, {}, limits)).kind).toBe('accepted');
  expect((await submit(fixture, {}, limits)).kind).toBe('key_limit');
  const [run] = await fixture.claim();
  await fixture.store.runs.finalize(fenceOf(run!), ENDED);
  await fixture.store.runs.settle(fenceOf(run!));
  expect((await submit(fixture, {}, limits)).kind).toBe('accepted');
});

test('while every node drains no turn is accepted, of either kind, and a repeated one finds its run', {
  tags: ['L6'],
}, async () => {
  const fixture = await storeFixture();
  const { user, key, store } = fixture;
  const before = await store.runs.accept({ ...aTurn(user, key), idempotencyKey: 'before' });
  const draining = { ...aTurn(user, key), allDrain: true };
  expect((await store.runs.accept(draining)).kind).toBe('all_drain');
  expect((await submit(fixture, { allDrain: true })).kind).toBe('all_drain');
  expect((await submit(fixture, { allDrain: true }, { ...LIMITS, capacity: 0 })).kind).toBe('no_capacity');
  const again = await store.runs.accept({ ...draining, idempotencyKey: 'before' });
  expect(again).toMatchObject({ kind: 'replayed', run: { id: 'run' in before && before.run.id } });
  expect(fixture.rows('SELECT 1 FROM runs')).toHaveLength(1);
});

test('ordinary requests are under none of these limits and count for none', {
  tags: ['§8-scope-of-these-limits'],
}, async () => {
  const fixture = await storeFixture();
  const limits = { maxUnfinishedPerKey: 1, maxUnfinishedPerUser: 1, capacity: 5 };
  await submit(fixture, {}, limits);
  for (let count = 0; count < 5; count += 1) await fixture.accept();
  expect((await submit(fixture, { key: await fixture.makeKey() }, limits)).kind).toBe('user_limit');
});

test('the queue has ten places for each run that the online nodes can execute at once', {
  tags: ['§7-queue-full', '§8-global-queue'],
}, async () => {
  const wide = { maxUnfinishedPerKey: 1_000, maxUnfinishedPerUser: 1_000, capacity: 5 };
  const fixture = await storeFixture();
  const first = await Promise.all(Array.from({ length: 60 }, () => submit(fixture, {}, wide)));
  expect(kindsOf(first)).toEqual({ accepted: 50, queue_full: 10 });
  const second = await Promise.all(Array.from({ length: 20 }, () => submit(fixture, {}, { ...wide, capacity: 6 })));
  expect(kindsOf(second)).toEqual({ accepted: 10, queue_full: 10 });
});

test('without a node online nothing is admitted', { tags: ['§7-queue-full'] }, async () => {
  const fixture = await storeFixture();
  expect((await submit(fixture, {}, { ...LIMITS, capacity: 0 })).kind).toBe('no_capacity');
  expect((await submit(fixture)).kind).toBe('accepted');
});

test('a session with an unfinished run takes no background run', { tags: ['§4.3-rule-5'] }, async () => {
  const fixture = await storeFixture();
  const run = await fixture.accept();
  expect((await submit(fixture, { sessionId: run.sessionId })).kind).toBe('session_busy');
});

test('background keys are unique per API key, whatever the session, and separate from those of ordinary requests', {
  tags: ['§4.3-rule-3', 'D4'],
}, async () => {
  const fixture = await storeFixture();
  const idempotencyKey = 'job-1';
  const first = await submit(fixture, { idempotencyKey });
  const ordinary = await fixture.accept({ idempotencyKey });
  const again = await submit(fixture, { idempotencyKey, sessionId: ordinary.sessionId });
  if (!('run' in first) || !('run' in again)) throw new Error('refused');
  expect([again.kind, again.run.id]).toEqual(['replayed', first.run.id]);
  expect(ordinary.id).not.toBe(first.run.id);
  const other = await submit(fixture, { idempotencyKey, key: await fixture.makeKey() });
  expect(other.kind).toBe('accepted');
});

test('a thousand submissions of one background key make one run', { tags: ['§3.1-repeated-submission'] }, async () => {
  const fixture = await storeFixture();
  const answers = await Promise.all(Array.from({ length: 1_000 }, () => submit(fixture, { idempotencyKey: 'once' })));
  expect(kindsOf(answers)).toEqual({ accepted: 1, replayed: 999 });
});

test('ordinary runs are claimed first; of a key no more than two background runs execute', {
  tags: ['§8-executing-per-key', 'C6'],
}, async () => {
  const fixture = await storeFixture();
  for (let count = 0; count < 4; count += 1) await submit(fixture);
  const ordinary = await fixture.accept();
  const claimed = await fixture.claim(10);
  expect(claimed[0]!.id).toBe(ordinary.id);
  expect(claimed).toHaveLength(3);
  const other = await fixture.makeKey();
  await submit(fixture, { key: other });
  expect(await fixture.claim(10)).toHaveLength(1);
});

test('background runs never take the last slot', { tags: ['C6'] }, async () => {
  const fixture = await storeFixture();
  const keys = await Promise.all(Array.from({ length: 5 }, () => fixture.makeKey()));
  for (const key of keys) await submit(fixture, { key });
  const order = {
    limit: 10,
    node: 'here',
    leaseMs: 1_000,
    background: { ...BACKGROUND_CLAIM, slots: 3 },
    modelFor: () => 'm',
  };
  expect(await fixture.store.runs.claim(order)).toHaveLength(3);
  expect(await fixture.store.runs.claim(order)).toHaveLength(0);
  await fixture.accept();
  expect(await fixture.store.runs.claim(order)).toHaveLength(1);
});

test('background runs that wait too long fail, up to the newest of them, and later ones wait on', {
  tags: ['§3.1-queue-time-out', '§7-queue-time-out', '§8-queue-wait'],
}, async () => {
  const fixture = await storeFixture();
  expect(await fixture.store.runs.findNewestQueued()).toBeUndefined();
  const answer = await submit(fixture);
  if (!('run' in answer)) throw new Error('refused');
  expect(await fixture.store.runs.findNewestQueued()).toBe(answer.run.seq);
  await fixture.accept();
  const later = await submit(fixture);
  if (!('run' in later)) throw new Error('refused');
  expect(await fixture.store.runs.expireQueued(answer.run.seq)).toBe(1);
  expect(await fixture.store.runs.get(answer.run.seq)).toMatchObject({
    status: 'failed',
    error: { type: 'queue_timeout_error' },
  });
  expect(fixture.committed.at(-1)).toMatchObject({ type: 'run.failed', runSeq: answer.run.seq });
  expect(await fixture.store.runs.expireQueued(answer.run.seq)).toBe(0);
  expect(await fixture.store.runs.findNewestQueued()).toBe(later.run.seq);
});

test('a run that had been started is not failed for waiting again', { tags: ['§3.1-queue-time-out'] }, async () => {
  const fixture = await storeFixture();
  await submit(fixture);
  const [run] = await fixture.claim();
  await fixture.store.runs.interrupt(fenceOf(run!), 'drain');
  expect(await fixture.store.runs.findNewestQueued()).toBeUndefined();
  expect(await fixture.store.runs.expireQueued(run!.seq)).toBe(0);
});

test('a waiting run reports its place in the queue', async () => {
  const fixture = await storeFixture();
  const runs = [await submit(fixture), await submit(fixture), await submit(fixture)];
  const positions = [];
  for (const answer of runs)
    positions.push('run' in answer ? await fixture.store.runs.queuePosition(answer.run.seq) : null);
  expect(positions).toEqual([1, 2, 3]);
});
