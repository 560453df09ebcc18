// The linear engine answers as the built-in one does, and does not care how hostile a pattern is.
import { describe, expect, test } from 'vitest';
import { compilePattern } from '../../../src/agent/result/linear-pattern.ts';

const TEXTS = [
  '',
  'a',
  'b',
  'ab',
  'aaa',
  'aab',
  'abab',
  'foo bar',
  'foobar',
  'x-1',
  '2024-02-29',
  'mara@example.org',
  'A1_b',
  'é',
  'Ünï',
  '😀',
  '😀😀',
  'a\nb',
  'tab\there',
  '{}',
  'a.b',
  '\\',
  '007',
  'ſ',
];

const PATTERNS = [
  '',
  'a',
  '^a$',
  '^a|b$',
  'a|',
  '(?:a|b)+b',
  '^(ab)*$',
  '^(?<twice>ab){2}$',
  '^.$',
  '^.{2}$',
  '^[^a]$',
  '[^]',
  '[\\]a]',
  '[a\\-b]',
  '^[a-f0-9-]+$',
  '\\bbar\\b',
  'o\\Bb',
  '^\\d{4}-\\d{2}-\\d{2}$',
  '^\\w+@\\w+\\.\\w{2,}$',
  '^\\S*$',
  '\\s',
  '^\\p{Lu}\\p{L}+$',
  '^\\P{L}+$',
  '^\\u{1F600}+$',
  '^\\uD83D\\uDE00$',
  '^\\u0061\\x62?$',
  '^😀{2}$',
  '\\.',
  '\\{\\}',
  'a*?b',
  'a{0}b',
  '^a{2,3}b{0,1}$',
  '(a?)*$',
  '^(a|b|ab)*c?$',
  '\\\\',
  '\\cI',
  '^x\\-1$',
  '^a{,2}$',
  '{}',
  '^$',
  '$^',
];

test.each(PATTERNS)('%s finds what the built-in engine finds', { tags: ['C14-patterns'] }, (source) => {
  let builtIn: RegExp;
  try {
    builtIn = new RegExp(source, 'u');
  } catch {
    builtIn = new RegExp(source);
  }
  const pattern = compilePattern(source);
  expect(TEXTS.filter((text) => pattern.test(text))).toEqual(TEXTS.filter((text) => builtIn.test(text)));
  const example = pattern.example();
  if (example !== undefined && !source.includes('\\B')) expect(builtIn.test(example)).toBe(true);
});

describe('patterns that make other engines hang', () => {
  const BOMBS = [
    '(a+)+$',
    '(a|a)*$',
    '(a*)*$',
    '(x+x+)+y',
    '^(a?){40}a{40}$',
    '(.*)*(.*)*(.*)*[xyz]$',
    '((a{1,9}){1,9}){1,9}$',
  ];

  test.each(BOMBS)('%s is answered', (source) => {
    const pattern = compilePattern(source);
    for (const letter of ['a', 'x']) pattern.test(`${letter.repeat(2_000)}!`);
  });
});

const REFUSED: readonly (readonly [pattern: string, message: string])[] = [
  ['(', 'is not a regular expression'],
  ['[b-a]', 'is not a regular expression'],
  ['(a)\\1', 'back-reference'],
  ['(?<n>a)\\k<n>', 'back-reference'],
  ['(?=a)', 'look-around'],
  ['(?!a)', 'look-around'],
  ['(?<=a)b', 'look-around'],
  ['(?<!a)b', 'look-around'],
  ['(?i:a)', 'modifier'],
  ['a{2001}', '2000 states'],
  ['(){1000000000}', '2000 states'],
  ['(a{0,1000000000}){1000}', '2000 states'],
  [`${'('.repeat(20_000)}${')'.repeat(20_000)}`, ''],
];

test.each(REFUSED)('%.30s is refused', (source, message) => {
  expect(() => compilePattern(source)).toThrow(message);
});
