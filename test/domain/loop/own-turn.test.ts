import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { inOwnTurn, isTurnTaken, takeTurn } from '../../../src/domain/loop/own-turn.ts';

test('steps that come together are done one a turn of the loop, in their order', async () => {
  let turn = 0;
  const count = () => {
    turn += 1;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  const turns = await Promise.all([0, 1, 2].map(async () => inOwnTurn(() => turn)));
  clearImmediate(counting);
  expect(new Set(turns).size).toBe(3);
  expect(turns).toEqual(turns.toSorted((one, other) => one - other));
});

test('a step begins when the one before it has ended, also with an error', async () => {
  const done: string[] = [];
  const failed = inOwnTurn(async () => {
    await setTimeout(5);
    done.push('first');
    throw new Error('Gone.');
  });
  const second = inOwnTurn(() => done.push('second'));
  await expect(failed).rejects.toThrow('Gone.');
  await second;
  expect(done).toEqual(['first', 'second']);
});

test('a step waits for a turn in which no other long work is done', async () => {
  const done: string[] = [];
  const step = inOwnTurn(() => done.push('step'));
  // As work that isn't known to be long before it is done.
  setImmediate(() => {
    takeTurn();
    done.push('work');
    setImmediate(() => done.push('next turn'));
  });
  await step;
  expect(done).toEqual(['work', 'next turn', 'step']);
  expect(isTurnTaken()).toBe(true);
});
