// Whether there is any budget, while some are set.
import { expect, test } from 'vitest';
import { makeBudgetsInForce } from '../../../src/store/budgets/in-force.ts';
import { READER } from '../../../src/store/engine/statement.ts';

/** Asks the database, which answers later. */
function asking(inForce: ReturnType<typeof makeBudgetsInForce>) {
  const verb = inForce.any(READER)[Symbol.iterator]();
  const asked = verb.next(undefined);
  return { isAsked: asked.done !== true, answer: (row: object | undefined) => verb.next(row).value };
}

test('it is asked once until a change', () => {
  const inForce = makeBudgetsInForce();
  expect(inForce.mayBe()).toBe(true);
  expect(asking(inForce).answer(undefined)).toBe(false);
  expect([inForce.mayBe(), asking(inForce).isAsked]).toEqual([false, false]);
  inForce.changed();
  expect(asking(inForce).answer({})).toBe(true);
  expect([inForce.mayBe(), asking(inForce).isAsked]).toEqual([true, false]);
});

test.each([
  ['after the commit', ['begun', 'changed']],
  ['before it', ['begun']],
] as const)('an answer from before a budget was set that comes %s tells nothing of it', (_, steps) => {
  const inForce = makeBudgetsInForce();
  const early = asking(inForce);
  for (const step of steps) inForce[step]();
  expect(early.answer(undefined)).toBe(false);
  expect(inForce.mayBe()).toBe(true);
});
