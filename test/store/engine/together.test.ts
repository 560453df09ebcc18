// Steps side by side: their statements leave in rounds, and each gets its own results.
import { expect, test } from 'vitest';
import { READER, type Step, together } from '../../../src/store/engine/statement.ts';

/** Carries out a step; each answer is the text of its statement. Returns what was asked in each round, too. */
function carriedOut<Result>(step: Step<Result>): { readonly result: Result; readonly rounds: string[][] } {
  const verb = step[Symbol.iterator]();
  const rounds: string[][] = [];
  let next = verb.next(undefined);
  while (next.done !== true) {
    const asked = [next.value].flat();
    rounds.push(asked.map(({ sql }) => sql));
    next = verb.next(Array.isArray(next.value) ? asked.map(({ sql }) => sql) : asked[0]!.sql);
  }
  return { result: next.value, rounds };
}

const ask = (text: string) => READER.get<string>(text) as Step<string>;

function* asking(name: string, times: number): Step<string[]> {
  const answers: string[] = [];
  for (let at = 1; at <= times; at += 1) answers.push(yield* ask(`${name}${at}`));
  return answers;
}

test('their statements leave in rounds, and each gets its own answers', () => {
  const { result, rounds } = carriedOut(together([asking('a', 2), asking('b', 0), asking('c', 3)]));
  expect(result).toEqual([['a1', 'a2'], [], ['c1', 'c2', 'c3']]);
  expect(rounds).toEqual([['a1', 'c1'], ['a2', 'c2'], ['c3']]);
  expect(carriedOut(together([]))).toEqual({ result: [], rounds: [] });
});

test('one may have several of its own side by side', () => {
  const inner = together([asking('x', 1), asking('y', 2)]);
  const { result, rounds } = carriedOut(together<string[] | string[][]>([asking('a', 1), inner]));
  expect(result).toEqual([['a1'], [['x1'], ['y1', 'y2']]]);
  expect(rounds).toEqual([['a1', 'x1', 'y1'], ['y2']]);
});

test('what one throws ends all', () => {
  // oxlint-disable-next-line require-yield
  function* faulty(): Step<string[]> {
    throw new Error('Not this one.');
  }
  expect(() => carriedOut(together([asking('a', 1), faulty()]))).toThrow('Not this one.');
});
