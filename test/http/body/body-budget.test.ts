import { expect, test } from 'vitest';
import { makeBodyBudget } from '../../../src/http/body/body-budget.ts';

test('bodies together stay within the budget, and what one releases the next may take', () => {
  const open = makeBodyBudget(() => 100);
  const [first, second] = [open('ada'), open('ben')];
  first.take(60);
  second.take(40);
  expect(() => open('cid').take(1)).toThrow(expect.objectContaining({ reason: 'unavailable' }));
  first.release();
  first.release();
  open('cid').take(60);
  expect(() => open('cid').take(1)).toThrow();
});

test('one user leaves a quarter to the others, unless it is one body alone', () => {
  const open = makeBodyBudget(() => 100);
  const alone = open('ada');
  alone.take(90);
  expect(() => open('ada').take(1)).toThrow();
  open('ben').take(10);
  alone.release();
  const [one, two] = [open('ada'), open('ada')];
  one.take(40);
  two.take(35);
  expect(() => two.take(1)).toThrow();
  expect(() => one.take(1)).toThrow();
  open('ben').take(15);
});

test('what was refused is not counted', () => {
  const open = makeBodyBudget(() => 100);
  expect(() => open('ada').take(101)).toThrow();
  open('ada').take(100);
});
