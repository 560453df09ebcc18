import { expect, test } from 'vitest';
import { retryEachSecond } from '../../src/services/retry.ts';
import { fakeClock } from '../support/time/fake-clock.ts';

const settle = () => new Promise<void>((resolve) => void setImmediate(resolve));

/** Work that fails with each of some errors in turn, then succeeds. */
function workThatFails(...errors: string[]) {
  return async () => {
    const error = errors.shift();
    if (error !== undefined) throw new Error(error);
    return 'done';
  };
}

test('work is tried again each second until it succeeds', async () => {
  const clock = fakeClock();
  const failures: string[] = [];
  let result: string | undefined;
  void retryEachSecond(clock, workThatFails('one', 'two'), (error) => failures.push(String(error))).then(
    (done) => (result = done),
  );
  await settle();
  expect(failures).toEqual(['Error: one']);
  clock.advance(999);
  await settle();
  expect(failures).toHaveLength(1);
  clock.advance(1);
  await settle();
  expect([failures.length, result]).toEqual([2, undefined]);
  clock.advance(1_000);
  await settle();
  expect([failures.length, result]).toEqual([2, 'done']);
});

test('a failure that is thrown on ends the tries', async () => {
  const tries = retryEachSecond(fakeClock(), workThatFails('no'), (error) => {
    throw error;
  });
  await expect(tries).rejects.toThrow('no');
});
