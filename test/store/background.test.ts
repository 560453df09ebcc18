import { expect, test } from 'vitest';
import type { Acceptance } from '../../src/store/lifecycle/accept-run.ts';
import { aTurn, BACKGROUND_CLAIM, fenceOf, type StoreHouse, storeHouse } from '../support/store/store-house.ts';

const LIMITS = { maxUnfinishedPerKey: 20, maxUnfinishedPerUser: 50, capacity: 9 };
const ENDED = { outcome: 'completed', answer: '', stopReason: 'end_turn' } as const;

async function submit(house: StoreHouse, over: object = {}, limits = LIMITS): Promise<Acceptance> {
  return house.store.runs.accept({
    ...aTurn(house.user, house.key),
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
  const house = await storeHouse();
  const answers = await Promise.all(Array.from({ length: 100 }, () => submit(house)));
  expect(kindsOf(answers)).toEqual({ accepted: 20, key_limit: 80 });
});

test('all keys of a user together get no more than 50 places', { tags: ['§8-unfinished-per-user'] }, async () => {
  const house = await storeHouse();
  const keys = await Promise.all(Array.from({ length: 4 }, () => house.makeKey()));
  const answers = await Promise.all(keys.flatMap((key) => Array.from({ length: 18 }, () => submit(house, { key }))));
  expect(kindsOf(answers)).toEqual({ accepted: 50, user_limit: 22 });
});

test('a finished run gives its place back', async () => {
  const house = await storeHouse();
  const limits = { maxUnfinishedPerKey: 1, maxUnfinishedPerUser: 1, capacity: 5 };
  expect((await submit(house, {}, limits)).kind).toBe('accepted');
  expect((await submit(house, {}, limits)).kind).toBe('key_limit');
  const [run] = await house.claim();
  await house.store.runs.finalize(fenceOf(run!), ENDED);
  await house.store.runs.settle(fenceOf(run!));
  expect((await submit(house, {}, limits)).kind).toBe('accepted');
});

test('ordinary requests are under none of these limits and count for none', {
  tags: ['§8-scope-of-these-limits'],
}, async () => {
  const house = await storeHouse();
  const limits = { maxUnfinishedPerKey: 1, maxUnfinishedPerUser: 1, capacity: 5 };
  await submit(house, {}, limits);
  for (let count = 0; count < 5; count += 1) await house.accept();
  expect((await submit(house, { key: await house.makeKey() }, limits)).kind).toBe('user_limit');
});

test('the queue has ten places for each run that the online nodes can execute at once', {
  tags: ['§7-queue-full', '§8-global-queue'],
}, async () => {
  const wide = { maxUnfinishedPerKey: 1_000, maxUnfinishedPerUser: 1_000, capacity: 5 };
  const house = await storeHouse();
  const first = await Promise.all(Array.from({ length: 60 }, () => submit(house, {}, wide)));
  expect(kindsOf(first)).toEqual({ accepted: 50, queue_full: 10 });
  const second = await Promise.all(Array.from({ length: 20 }, () => submit(house, {}, { ...wide, capacity: 6 })));
  expect(kindsOf(second)).toEqual({ accepted: 10, queue_full: 10 });
});

test('without a node online nothing is admitted', { tags: ['§7-queue-full'] }, async () => {
  const house = await storeHouse();
  expect((await submit(house, {}, { ...LIMITS, capacity: 0 })).kind).toBe('no_capacity');
  expect((await submit(house)).kind).toBe('accepted');
});

test('a session with an unfinished run takes no background run', { tags: ['§4.3-rule-5'] }, async () => {
  const house = await storeHouse();
  const run = await house.accept();
  expect((await submit(house, { sessionId: run.sessionId })).kind).toBe('session_busy');
});

test('background keys are unique per API key, whatever the session, and separate from those of ordinary requests', {
  tags: ['§4.3-rule-3', 'D4'],
}, async () => {
  const house = await storeHouse();
  const idempotencyKey = 'job-1';
  const first = await submit(house, { idempotencyKey });
  const ordinary = await house.accept({ idempotencyKey });
  const again = await submit(house, { idempotencyKey, sessionId: ordinary.sessionId });
  if (!('run' in first) || !('run' in again)) throw new Error('refused');
  expect([again.kind, again.run.id]).toEqual(['replayed', first.run.id]);
  expect(ordinary.id).not.toBe(first.run.id);
  const other = await submit(house, { idempotencyKey, key: await house.makeKey() });
  expect(other.kind).toBe('accepted');
});

test('a thousand submissions of one background key make one run', { tags: ['§3.1-repeated-submission'] }, async () => {
  const house = await storeHouse();
  const answers = await Promise.all(Array.from({ length: 1_000 }, () => submit(house, { idempotencyKey: 'once' })));
  expect(kindsOf(answers)).toEqual({ accepted: 1, replayed: 999 });
});

test('ordinary runs are claimed first; of a key no more than two background runs execute', {
  tags: ['§8-executing-per-key', 'C6'],
}, async () => {
  const house = await storeHouse();
  for (let count = 0; count < 4; count += 1) await submit(house);
  const ordinary = await house.accept();
  const claimed = await house.claim(10);
  expect(claimed[0]!.id).toBe(ordinary.id);
  expect(claimed).toHaveLength(3);
  const other = await house.makeKey();
  await submit(house, { key: other });
  expect(await house.claim(10)).toHaveLength(1);
});

test('background runs never take the last slot', { tags: ['C6'] }, async () => {
  const house = await storeHouse();
  const keys = await Promise.all(Array.from({ length: 5 }, () => house.makeKey()));
  for (const key of keys) await submit(house, { key });
  const order = { limit: 10, leaseMs: 1_000, background: { ...BACKGROUND_CLAIM, slots: 3 }, modelFor: () => 'm' };
  expect(await house.store.runs.claim(order)).toHaveLength(3);
  expect(await house.store.runs.claim(order)).toHaveLength(0);
  await house.accept();
  expect(await house.store.runs.claim(order)).toHaveLength(1);
});

test('background runs that wait too long fail, up to the newest of them, and later ones wait on', {
  tags: ['§3.1-queue-time-out', '§7-queue-time-out', '§8-queue-wait'],
}, async () => {
  const house = await storeHouse();
  expect(await house.store.runs.findNewestQueued()).toBeUndefined();
  const answer = await submit(house);
  if (!('run' in answer)) throw new Error('refused');
  expect(await house.store.runs.findNewestQueued()).toBe(answer.run.seq);
  await house.accept();
  const later = await submit(house);
  if (!('run' in later)) throw new Error('refused');
  expect(await house.store.runs.expireQueued(answer.run.seq)).toBe(1);
  expect(await house.store.runs.get(answer.run.seq)).toMatchObject({
    status: 'failed',
    error: { type: 'queue_timeout_error' },
  });
  expect(house.committed.at(-1)).toMatchObject({ type: 'run.failed', runSeq: answer.run.seq });
  expect(await house.store.runs.expireQueued(answer.run.seq)).toBe(0);
  expect(await house.store.runs.findNewestQueued()).toBe(later.run.seq);
});

test('a run that had been started is not failed for waiting again', { tags: ['§3.1-queue-time-out'] }, async () => {
  const house = await storeHouse();
  await submit(house);
  const [run] = await house.claim();
  await house.store.runs.interrupt(fenceOf(run!), 'drain');
  expect(await house.store.runs.findNewestQueued()).toBeUndefined();
  expect(await house.store.runs.expireQueued(run!.seq)).toBe(0);
});

test('a waiting run reports its place in the queue', async () => {
  const house = await storeHouse();
  const runs = [await submit(house), await submit(house), await submit(house)];
  const positions = [];
  for (const answer of runs)
    positions.push('run' in answer ? await house.store.runs.queuePosition(answer.run.seq) : null);
  expect(positions).toEqual([1, 2, 3]);
});
