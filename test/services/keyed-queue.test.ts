// Work by key: in order of request, a few keys at once, one piece at a time for each.
import { expect, test } from 'vitest';
import { makeLog } from '../../src/log/log.ts';
import { makeKeyedQueue } from '../../src/services/keyed-queue.ts';
import { fakeClock } from '../support/time/fake-clock.ts';

const settle = () => new Promise<void>((resolve) => void setImmediate(resolve));

function queueFixture() {
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
  const fixture = queueFixture();
  for (const key of ['a', 'b', 'a', 'c', 'c']) fixture.queue.add(key);
  expect(fixture.begun).toEqual(['a', 'b']);
  await fixture.end('b', false);
  expect(fixture.begun).toEqual(['a', 'b', 'c']);
  await fixture.end('a', false);
  expect(fixture.begun).toEqual(['a', 'b', 'c', 'a']);
});

test('a key with more to do goes behind the others', async () => {
  const fixture = queueFixture();
  for (const key of ['a', 'b', 'c']) fixture.queue.add(key);
  await fixture.end('a', true);
  expect(fixture.begun).toEqual(['a', 'b', 'c']);
  await fixture.end('b', false);
  expect(fixture.begun).toEqual(['a', 'b', 'c', 'a']);
});

test('work that failed is tried again after the time that its error asks for', async () => {
  const fixture = queueFixture();
  fixture.queue.add('a');
  await fixture.fail('a', 'short');
  fixture.clock.advance(1_000);
  expect(fixture.begun).toEqual(['a', 'a']);
  await fixture.fail('a', 'long');
  fixture.clock.advance(59_999);
  expect(fixture.begun).toHaveLength(2);
  fixture.clock.advance(1);
  expect(fixture.begun).toHaveLength(3);
});

test('a stop waits for work in progress, and nothing else starts', async () => {
  const fixture = queueFixture();
  for (const key of ['a', 'b', 'c']) fixture.queue.add(key);
  let stopped = false;
  const stop = fixture.queue.stop().then(() => (stopped = true));
  await fixture.end('a', true);
  expect(stopped).toBe(false);
  await fixture.fail('b', 'short');
  await stop;
  fixture.clock.advance(60_000);
  fixture.queue.add('d');
  expect(fixture.begun).toEqual(['a', 'b']);
});
