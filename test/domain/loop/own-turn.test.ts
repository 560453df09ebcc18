import { expect, test } from 'vitest';
import { ownTurn } from '../../../src/domain/loop/own-turn.ts';

test('steps that come together are done one a turn of the loop, in their order', async () => {
  let turn = 0;
  const count = () => {
    turn += 1;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  const turns = await Promise.all(
    [0, 1, 2].map(async () => {
      await ownTurn();
      return turn;
    }),
  );
  clearImmediate(counting);
  expect(new Set(turns).size).toBe(3);
  expect(turns).toEqual(turns.toSorted((one, other) => one - other));
});
