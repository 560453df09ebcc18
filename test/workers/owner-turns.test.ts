// Work of many owners in turns: a hostile one costs the others nothing but a process.
import { expect, test } from 'vitest';
import { makeOwnerTurns } from '../../src/workers/owner-turns.ts';
import { fakeClock } from '../support/time/fake-clock.ts';

const settle = () => new Promise(setImmediate);

function fixture({ maxOwn = 10, maxSlow = 10 } = {}) {
  const clock = fakeClock();
  const turns = makeOwnerTurns({ clock, maxOwn, maxSlow });
  const began: string[] = [];
  /** Starts a work that lasts until it is finished. */
  const start = (owner: string, name: string) => {
    const { promise, resolve: finish } = Promise.withResolvers<string>();
    const work = async () => {
      began.push(name);
      return promise;
    };
    return { done: turns.take(owner, work), finish: () => finish(name) };
  };
  return { ...turns, clock, began, start };
}

test('one work of an owner is done at a time, in their order, and others wait for none of it', async () => {
  const { start, began } = fixture();
  const [a, b] = [start('ann', 'a'), start('ann', 'b')];
  const c = start('bob', 'c');
  await settle();
  expect(began).toEqual(['a', 'c']);
  a.finish();
  expect(await a.done).toBe('a');
  await settle();
  expect(began).toEqual(['a', 'c', 'b']);
  b.finish();
  c.finish();
  expect(await Promise.all([b.done, c.done])).toEqual(['b', 'c']);
});

test('work that fails fails alone, and the next is done', async () => {
  const { take } = fixture();
  const failing = take('ann', async () => Promise.reject(new Error('damaged')));
  const next = take('ann', async () => 'b');
  await expect(failing).rejects.toThrow('damaged');
  expect(await next).toBe('b');
});

test('more than an owner may have waiting is refused, until there is less; others are not concerned', async () => {
  const { start, began } = fixture({ maxOwn: 2 });
  const [a, b] = [start('ann', 'a'), start('ann', 'b')];
  expect(await start('ann', 'c').done).toBeNull();
  const d = start('bob', 'd');
  for (const one of [a, b, d]) one.finish();
  await Promise.all([a.done, b.done, d.done]);
  const e = start('ann', 'e');
  e.finish();
  expect(await e.done).toBe('e');
  expect(began).toEqual(['a', 'd', 'b', 'e']);
});

test('owners whose work was slow have one turn together for an hour, and fewer may wait', async () => {
  const { start, began, noteSlow, clock } = fixture({ maxSlow: 1 });
  for (const owner of ['mallory', 'oscar']) noteSlow(owner);
  const [a, b] = [start('mallory', 'a'), start('oscar', 'b')];
  expect(await start('oscar', 'c').done).toBeNull();
  const d = start('ann', 'd');
  await settle();
  expect(began).toEqual(['a', 'd']);
  for (const one of [a, b, d]) one.finish();
  await Promise.all([a.done, b.done, d.done]);
  clock.advance(3_600_000);
  const later = [start('mallory', 'e'), start('oscar', 'f')];
  await settle();
  expect(began).toEqual(['a', 'd', 'b', 'e', 'f']);
  for (const one of later) one.finish();
});
