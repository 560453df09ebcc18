// The start of a text, for lists and titles.
import { expect, test } from 'vitest';
import { previewOf, titleOf } from '../../../src/domain/sessions/content.ts';

test.each([
  ['short', 'A plain text.', 'A plain text.'],
  ['blanks of all kinds', '  a \t\n b\u00a0c\n\nd  e ', 'a b c d e'],
  ['nothing but blanks', ' \n\t ', ''],
  ['too long', 'x'.repeat(300), 'x'.repeat(80)],
  ['characters of two units', '🌊'.repeat(100), '🌊'.repeat(80)],
  ['a blank where it is cut', `${'x'.repeat(79)} y`, 'x'.repeat(79)],
  ['half of a character', `${'x'.repeat(79)}\ud83dy`, `${'x'.repeat(79)}\ud83d`],
])('a title of %s', { tags: ['E1-title'] }, (_what, text, title) => {
  expect(titleOf(text)).toBe(title);
});

test('a preview has at most 200 characters, counted after blanks were joined', () => {
  expect(previewOf('a  '.repeat(400))).toBe('a '.repeat(100).trimEnd());
});
