import { expect, test } from 'vitest';
import { safeLine, safeText } from '../../../src/browser/page/safe-text.ts';

test.each([
  ['\u001b[31mred\u001b[0m', 'red'],
  ['\u001b]0;a title\u0007after', 'after'],
  ['\u001b]8;;https://evil.example\u001b\\link\u001b]8;;\u001b\\', 'link'],
  ['a\u0000b\u0007c\u009b1md', 'abcd'],
  ['report \u202egpj.exe', 'report gpj.exe'],
  ['two\r\n\tlines', 'two lines'],
])('%j is %j', (text, safe) => {
  expect(safeLine(text)).toBe(safe);
});

test('lines and blanks of a text stay, and each line ends in the same way', () => {
  expect(safeText('a\u2028b\u2029c\r\nd')).toBe('a\nb\nc\nd');
  expect(safeText('a\r\n\tb  c')).toBe('a\n\tb  c');
});

test('a long text is cut, and no character in half', () => {
  expect(safeLine('x'.repeat(10_000))).toHaveLength(401);
  expect(safeText('😀😀', 3)).toBe('😀\ufffd… and 1 more characters');
  expect(safeText('x'.repeat(101_234))).toMatch(/x… and 1,234 more characters$/);
});

test('a hundred thousand escapes are taken in a moment', () => {
  expect(safeText('\u001b]'.repeat(50_000))).toBe('');
});
