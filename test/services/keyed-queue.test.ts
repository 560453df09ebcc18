// Work by key: in order of request, a few keys at once, one piece at a time for each.
import { expect, test } from 'vitest';
import { makeLog } from '../../src/log/log.ts';
import { makeKeyedQueue } from '../../src/services/keyed-queue.ts';
import { fakeClock } from '../support/time/fake-clock.ts';

const settle = () => new Promise<void>((resolve) => void setImmediate(resolve));

function queueHouse() {
  const clock = fakeClock();
  const begun: string[] = [];
  const works = new Map<string, PromiseWithResolvers<boolean>>();
  const queue = makeKeyedQueue<string>({
    limit: 2,
    work: (key) => {
      begun.push(key);
      const work = Promise.withResolvers<boolean>();
      works.set(key, work);
      return work.promise;
    },
    failure: 'it failed',
    retryMs: (error) => (error === 'long' ? 60_000 : 1_000),
    clock,
    log: makeLog({ level: 'fatal' }),
  });
  const end = async (key: string, more: boolean) => {
    works.get(key)!.resolve(more);
    await settle();
  };
  const fail = async (key: string, error: string) => {
    works.get(key)!.reject(error);
    await settle();
  };
  return { clock, begun, queue, end, fail };
}

test('keys are worked on in order, two at once, and never one key twice at once', async () => {
  const house = queueHouse();
  for (const key of ['a', 'b', 'a', 'c', 'c']) house.queue.add(key);
  expect(house.begun).toEqual(['a', 'b']);
  await house.end('b', false);
  expect(house.begun).toEqual(['a', 'b', 'c']);
  await house.end('a', false);
  expect(house.begun).toEqual(['a', 'b', 'c', 'a']);
});

test('a key with more to do goes behind the others', async () => {
  const house = queueHouse();
  for (const key of ['a', 'b', 'c']) house.queue.add(key);
  await house.end('a', true);
  expect(house.begun).toEqual(['a', 'b', 'c']);
  await house.end('b', false);
  expect(house.begun).toEqual(['a', 'b', 'c', 'a']);
});

test('work that failed is tried again after the time that its error asks for', async () => {
  const house = queueHouse();
  house.queue.add('a');
  await house.fail('a', 'short');
  house.clock.advance(1_000);
  expect(house.begun).toEqual(['a', 'a']);
  await house.fail('a', 'long');
  house.clock.advance(59_999);
  expect(house.begun).toHaveLength(2);
  house.clock.advance(1);
  expect(house.begun).toHaveLength(3);
});

test('a stop waits for work in progress, and nothing else starts', async () => {
  const house = queueHouse();
  for (const key of ['a', 'b', 'c']) house.queue.add(key);
  let stopped = false;
  const stop = house.queue.stop().then(() => (stopped = true));
  await house.end('a', true);
  expect(stopped).toBe(false);
  await house.fail('b', 'short');
  await stop;
  house.clock.advance(60_000);
  house.queue.add('d');
  expect(house.begun).toEqual(['a', 'b']);
});
