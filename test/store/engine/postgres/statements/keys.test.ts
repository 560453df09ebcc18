// Numbers that are drawn ahead are given in the order in which rows ask for them.
import { expect, test } from 'vitest';
import type { Answer, NamedText } from '../../../../../src/store/engine/postgres/connections/connection.ts';
import { makeKeys } from '../../../../../src/store/engine/postgres/statements/keys.ts';

/** A server that numbers from 1 on for everything. */
function makeAsker() {
  let last = 0;
  const names: string[] = [];
  return {
    names,
    ask: async ({ name, text }: NamedText): Promise<Answer> => {
      names.push(name);
      const count = Number(/generate_series\(1, (\d+)\)/.exec(text)![1]);
      const rows = Array.from({ length: count }, () => [(last += 1)]);
      return { columns: [{ name: 'nextval' }], rows, count, command: 'SELECT' };
    },
  };
}

test('whoever finds none waits for the next ones, and no number is left out or before an earlier one', async () => {
  const [keys, asker] = [makeKeys(), makeAsker()];
  const taken = await Promise.all(Array.from({ length: 200 }, async () => keys.take('runs', asker)));
  expect(taken).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
});

test('tables that few rows are added to are numbered by the server', () => {
  expect(makeKeys().take('users', makeAsker())).toBe(undefined);
});

test('a draw that fails is repeated by the next one', async () => {
  const [keys, asker] = [makeKeys(), makeAsker()];
  const lost = { ask: () => Promise.reject(new Error('lost')) };
  keys.refill(lost);
  await expect(keys.take('runs', lost)).rejects.toThrow('lost');
  expect(await keys.take('runs', asker)).toBe(1);
  expect(asker.names).toEqual(['keys_runs']);
});
