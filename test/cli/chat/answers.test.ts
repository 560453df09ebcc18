// Answering a question of the agent: a number stands for an option.
import { expect, test } from 'vitest';
import { answerOf, questionLines } from '../../../src/cli/chat/answers.ts';

const CHOICE = { question: 'Which\u001b[31m colour?', options: ['red', 'blue\u202e'] };

test.each([
  ['2', CHOICE, 'blue\u202e'],
  [' 1 ', CHOICE, 'red'],
  ['3', CHOICE, '3'],
  ['0', CHOICE, '0'],
  ['green, please', CHOICE, 'green, please'],
  ['1, 2', { ...CHOICE, multiple: true }, ['red', 'blue\u202e']],
  ['1', { ...CHOICE, multiple: true }, ['red']],
  ['1, 4', { ...CHOICE, multiple: true }, '1, 4'],
  ['1', { question: 'How many?' }, '1'],
])('%j answers %j with %j', (said, input, answer) => {
  expect(answerOf(said, input)).toEqual(answer);
});

test('a question is shown with its options, and cannot steer the terminal', () => {
  expect(questionLines(CHOICE)).toBe('? Which colour?\n  1. red\n  2. blue\n  (a number, or other words)');
  expect(questionLines({ question: 'Why?' })).toBe('? Why?');
});
