// Tests in flight: a few of each caller, and a few in all.
import { expect, test } from 'vitest';
import type { Caller } from '../../../src/domain/people/user.ts';
import { makeTestLimit, TEST_LIMITS } from '../../../src/operations/webhooks/test-limit.ts';

const userOf = (seq: number) => ({ kind: 'token', reach: 'user', user: { seq } }) as Caller;
const OPERATOR = { kind: 'operator' } as Caller;

test('no more than eight run in all, and what has failed gives back its place', async () => {
  const limited = makeTestLimit();
  const { promise, reject } = Promise.withResolvers<void>();
  const going: Promise<void>[] = [];
  for (let seq = 1; going.length < TEST_LIMITS.all; seq += 1)
    for (let own = 0; own < TEST_LIMITS.perCaller; own += 1) going.push(limited(userOf(seq), async () => promise));
  const another = async () => limited(OPERATOR, async () => 'ran');
  await expect(another()).rejects.toMatchObject({ reason: 'rate_limited' });
  reject(new Error('The store is closed.'));
  expect(new Set((await Promise.allSettled(going)).map(({ status }) => status))).toEqual(new Set(['rejected']));
  expect(await another()).toBe('ran');
  expect(await limited(userOf(1), async () => 'ran')).toBe('ran');
});

test('the keys of a user count together', async () => {
  const limited = makeTestLimit();
  const byKey = (seq: number) => ({ ...userOf(7), kind: 'key', reach: 'all', key: { seq } }) as unknown as Caller;
  const { promise, resolve } = Promise.withResolvers<void>();
  const going = [limited(byKey(1), async () => promise), limited(byKey(2), async () => promise)];
  await expect(limited(userOf(7), async () => promise)).rejects.toMatchObject({ reason: 'rate_limited' });
  resolve();
  await Promise.all(going);
});
