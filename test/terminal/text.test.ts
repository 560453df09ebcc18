// Text that is safe on a terminal, its width there, and how it is cut.
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { cutTo, padStartTo, padTo, safeLine, safeText, widthOf, wrapTo } from '../../src/terminal/text.ts';

test('escape sequences, control characters and direction marks are removed, line breaks are kept', () => {
  expect(safeText('a\u001b[31mred\u001b[0m\u0007\u009b2J\r\nb\tc\u202edlrow\u2066\u200f')).toBe('ared\nb\tcdlrow');
});

test.each([
  '\u001b]0;title\u0007x',
  '\u001b]8;;http://evil.example\u001b\\x\u001b]8;;\u001b\\',
  '\u001b\u001bx',
  '\u009cx',
])('what is left of %j has no control characters', (text) => {
  const safe = safeText(text);
  expect(safe).toMatch(/^\P{Cc}*$/u);
  expect(safe).toMatch(/x$/);
});

test('a line has no line breaks, nor spaces at its ends', () => {
  expect(safeLine('  one\r\n\ttwo\u2028three ')).toBe('one two three');
});

test.each([
  ['abc', 3, 'abc'],
  ['abcd', 3, 'ab…'],
  ['日本語', 6, '日本語'],
  ['日本語', 5, '日本…'],
  ['日本語', 4, '日…'],
  ['👨‍👩‍👧‍👦 family', 3, '👨‍👩‍👧‍👦…'],
  ['👨‍👩‍👧‍👦 family', 2, '…'],
  ['e\u0301e\u0301e\u0301', 2, 'e\u0301…'],
  ['abc', 1, '…'],
  ['abc', 0, ''],
])('%j in %i columns is %j', (text, columns, expected) => {
  const cut = cutTo(text, columns);
  expect(cut).toBe(expected);
  expect(stringWidth(cut)).toBeLessThanOrEqual(columns);
});

test('padding counts columns, not characters', () => {
  expect(widthOf('日本')).toBe(4);
  expect(padTo('日本', 6)).toBe('日本  ');
  expect(padStartTo('日本', 6)).toBe('  日本');
  expect(padTo('abc', 2)).toBe('abc');
});

test.each([
  ['one two three', 7, ['one two', 'three']],
  ['one two three', 80, ['one two three']],
  ['see /a/long/path now', 6, ['see', '/a/long/path', 'now']],
  ['日本 語日 本', 5, ['日本', '語日', '本']],
  ['', 5, ['']],
])('%j in lines of %i columns is %j', (text, columns, expected) => {
  expect(wrapTo(text, columns)).toEqual(expected);
});

test('a line has no characters that cannot be seen, and no halves of characters', () => {
  expect(safeLine('a\u200bd\u00admin\u{e0041}\ufeff \ud83d x')).toBe('admin x');
  expect(safeLine('👩‍🔬')).toBe('👩‍🔬');
});
