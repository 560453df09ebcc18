import { expect, test } from 'vitest';
import { makePermits } from '../../../src/execution/pool/permits.ts';

/** Asks for permits under names, and keeps the order in which they are granted. */
function makeDesk() {
  const permits = makePermits();
  const granted: string[] = [];
  const ask = (name: string, limit = 2, endpoint = 'here') =>
    permits.acquire(endpoint, limit, () => void granted.push(name));
  return { ask, granted };
}

test('no more permits are out than the limit; those given back go to who waited longest', () => {
  const { ask, granted } = makeDesk();
  const [a, b] = [ask('a'), ask('b'), ask('c'), ask('d')];
  expect(granted).toEqual(['a', 'b']);
  b.release();
  expect(granted).toEqual(['a', 'b', 'c']);
  a.release();
  expect(granted).toEqual(['a', 'b', 'c', 'd']);
});

test('a permit given back twice counts once', () => {
  const { ask, granted } = makeDesk();
  const a = ask('a', 1);
  ask('b', 1);
  ask('c', 1);
  a.release();
  a.release();
  expect(granted).toEqual(['a', 'b']);
});

test('one that leaves the line is skipped', () => {
  const { ask, granted } = makeDesk();
  const a = ask('a', 1);
  const b = ask('b', 1);
  ask('c', 1);
  b.release();
  expect(granted).toEqual(['a']);
  a.release();
  expect(granted).toEqual(['a', 'c']);
});

test('endpoints are counted separately', () => {
  const { ask, granted } = makeDesk();
  ask('a', 1, 'here');
  ask('b', 1, 'there');
  ask('c', 1, 'here');
  expect(granted).toEqual(['a', 'b']);
});

test('the newest limit counts: a raised one admits waiters, a lowered one admits nobody until enough were released', () => {
  const { ask, granted } = makeDesk();
  const a = ask('a', 1);
  const b = ask('b', 1);
  const c = ask('c', 3);
  expect(granted).toEqual(['a', 'b', 'c']);
  ask('d', 1);
  a.release();
  b.release();
  expect(granted).toEqual(['a', 'b', 'c']);
  c.release();
  expect(granted).toEqual(['a', 'b', 'c', 'd']);
});

test('a permit that is given back while it is granted is not lost', () => {
  const permits = makePermits();
  const granted: string[] = [];
  const first = permits.acquire('here', 1, () => void granted.push('first'));
  const second = permits.acquire('here', 1, () => {
    granted.push('second');
    second.release();
  });
  permits.acquire('here', 1, () => void granted.push('third'));
  first.release();
  expect(granted).toEqual(['first', 'second', 'third']);
});

test('permits weigh what they say; none overtakes a heavy one, and one beyond the limit is granted alone', () => {
  const permits = makePermits();
  const granted: string[] = [];
  const ask = (name: string, weight: number) =>
    permits.acquire('here', { limit: 10, weight }, () => void granted.push(name));
  const a = ask('a', 6);
  const b = ask('b', 4);
  const heavy = ask('heavy', 11);
  ask('light', 1);
  expect(granted).toEqual(['a', 'b']);
  a.release();
  expect(granted).toEqual(['a', 'b']);
  b.release();
  expect(granted).toEqual(['a', 'b', 'heavy']);
  heavy.release();
  expect(granted).toEqual(['a', 'b', 'heavy', 'light']);
});
