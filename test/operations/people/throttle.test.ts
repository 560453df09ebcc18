import { expect, test } from 'vitest';
import { GROWING_WAITS, makeThrottle, TEN_A_MINUTE } from '../../../src/operations/people/throttle.ts';
import { networkOf } from '../../../src/outbound/address-range.ts';
import { fakeClock } from '../../support/time/fake-clock.ts';

const fail = async () => undefined;
const succeed = async () => 'in';
const refused = { reason: 'rate_limited' };

async function times(count: number, act: () => Promise<unknown>): Promise<void> {
  for (let i = 0; i < count; i += 1) await act();
}

test('the eleventh login after ten failures in a minute is not even tried, from that address only', {
  tags: ['B7-attempts'],
}, async () => {
  const throttle = makeThrottle(fakeClock());
  await times(10, () => throttle('a', fail));
  let tried = false;
  const attempt = throttle('a', async () => {
    tried = true;
    return 'in';
  });
  await expect(attempt).rejects.toMatchObject({ ...refused, details: { retryAfterSeconds: 60 } });
  expect(tried).toBe(false);
  expect(await throttle('b', succeed)).toBe('in');
});

test('a place is free a minute after the first failure, and Retry-After says when', async () => {
  const clock = fakeClock();
  const throttle = makeThrottle(clock);
  await throttle('a', fail);
  clock.advance(10_000);
  await times(9, () => throttle('a', fail));
  clock.advance(49_999);
  await expect(throttle('a', fail)).rejects.toMatchObject({ ...refused, details: { retryAfterSeconds: 1 } });
  clock.advance(1);
  expect(await throttle('a', fail)).toBeUndefined();
  await expect(throttle('a', fail)).rejects.toMatchObject({ ...refused, details: { retryAfterSeconds: 10 } });
});

test('a wall clock that jumps neither frees nor blocks', async () => {
  const clock = fakeClock();
  const throttle = makeThrottle(clock);
  await times(10, () => throttle('a', fail));
  clock.jump(3_600_000);
  await expect(throttle('a', fail)).rejects.toMatchObject(refused);
  clock.jump(-7_200_000);
  clock.advance(60_000);
  expect(await throttle('a', succeed)).toBe('in');
});

test('successful logins do not count, and do not clear the failures', async () => {
  const throttle = makeThrottle(fakeClock());
  await times(9, () => throttle('a', fail));
  await times(50, () => throttle('a', succeed));
  await throttle('a', fail);
  await expect(throttle('a', succeed)).rejects.toMatchObject(refused);
});

test('growing waits: twenty failures are free, then each doubles the wait, up to half a minute', async () => {
  const clock = fakeClock();
  const throttle = makeThrottle(clock, GROWING_WAITS);
  await times(20, () => throttle('a', fail));
  for (const seconds of [1, 2, 4, 8, 16, 30, 30]) {
    const attempt = throttle('a', succeed);
    await expect(attempt).rejects.toMatchObject({ ...refused, details: { retryAfterSeconds: seconds } });
    clock.advance(seconds * 1_000);
    expect(await throttle('a', fail)).toBeUndefined();
  }
  clock.advance(30_000);
  expect(await throttle('a', succeed)).toBe('in');
});

test('growing waits are over a quarter of an hour after the last failure', async () => {
  const clock = fakeClock();
  const throttle = makeThrottle(clock, GROWING_WAITS);
  await times(20, () => throttle('a', fail));
  clock.advance(15 * 60_000);
  await times(20, () => throttle('a', fail));
  await expect(throttle('a', fail)).rejects.toMatchObject(refused);
});

test('concurrency does not evade growing waits: after twenty failures one is tried at a time', async () => {
  const clock = fakeClock();
  const throttle = makeThrottle(clock, GROWING_WAITS);
  let checks = 0;
  const slow = async () => {
    checks += 1;
    await new Promise((resolve) => setImmediate(resolve));
    return undefined;
  };
  await Promise.allSettled(Array.from({ length: 100 }, () => throttle('a', slow)));
  expect(checks).toBe(20);
  clock.advance(1_000);
  await Promise.allSettled(Array.from({ length: 100 }, () => throttle('a', slow)));
  expect(checks).toBe(21);
});

test('a login that throws does not count as failed, and gives its place back', async () => {
  const throttle = makeThrottle(fakeClock());
  const broken = () => throttle('a', () => Promise.reject(new Error('the disk')));
  await times(20, () => broken().catch(() => undefined));
  expect(await throttle('a', succeed)).toBe('in');
});

test('a hundred wrong passwords at once are ten checks and ninety refusals', async () => {
  const throttle = makeThrottle(fakeClock());
  let checks = 0;
  let most = 0;
  let inProgress = 0;
  const slow = async () => {
    checks += 1;
    inProgress += 1;
    most = Math.max(most, inProgress);
    await new Promise((resolve) => setImmediate(resolve));
    inProgress -= 1;
    return undefined;
  };
  const ends = await Promise.allSettled(Array.from({ length: 100 }, () => throttle('a', slow)));
  expect(checks).toBe(10);
  expect(most).toBeLessThanOrEqual(10);
  expect(ends.filter(({ status }) => status === 'rejected')).toHaveLength(90);
});

test('a hundred right passwords at once all pass', async () => {
  const throttle = makeThrottle(fakeClock());
  const slow = async () => new Promise<string>((resolve) => setImmediate(() => resolve('in')));
  const ends = await Promise.all(Array.from({ length: 100 }, () => throttle('a', slow)));
  expect(new Set(ends)).toEqual(new Set(['in']));
});

test('what waits for its turn is bounded', async () => {
  const throttle = makeThrottle(fakeClock());
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  const held = Array.from({ length: 110 }, () => throttle('a', async () => gate.then(() => 'in')));
  await expect(throttle('a', succeed)).rejects.toMatchObject(refused);
  open();
  expect(await Promise.all(held)).toHaveLength(110);
});

test('a limited number of addresses is remembered, the latest to fail', async () => {
  const throttle = makeThrottle(fakeClock(), TEN_A_MINUTE, 3);
  for (const address of ['a', 'b', 'c']) await times(10, () => throttle(address, fail));
  await expect(throttle('a', succeed)).rejects.toMatchObject(refused);
  await throttle('d', fail);
  expect(await throttle('a', succeed)).toBe('in');
  await expect(throttle('c', succeed)).rejects.toMatchObject(refused);
});

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['2001:db8:1:2::', '2001:db8:1:2'],
  ['::1', '0:0:0:0'],
  ['::', '0:0:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['socket', 'socket'],
])('failures from %s count under %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
