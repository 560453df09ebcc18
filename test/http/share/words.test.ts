// Sizes and types as people read them.
import { expect, test } from 'vitest';
import { shortened, sizeInWords, typeInWords } from '../../../src/http/share/words.ts';

test.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [999, '999 bytes'],
  [1_000, '1.0 KB'],
  [9_949, '9.9 KB'],
  [9_950, '10 KB'],
  [999_499, '999 KB'],
  [999_500, '1.0 MB'],
  [3_449_000, '3.4 MB'],
  [512_000_000, '512 MB'],
  [1_500_000_000_000_000, '1500 TB'],
])('%d bytes are %s', (bytes, words) => {
  expect(sizeInWords(bytes)).toBe(words);
});

test.each([
  ['a.PDF', 'application/pdf', 'PDF document'],
  ['a.png', 'image/png', 'PNG image'],
  ['a.opus', 'audio/ogg', 'OPUS audio'],
  ['a.md', 'text/markdown', 'Document'],
  ['a.xyz', null, 'XYZ file'],
  ['README', null, 'File'],
  ['a.constructor', null, 'CONSTRUCTOR file'],
])('%s is a %s', (name, mediaType, words) => {
  expect(typeInWords(name, mediaType)).toBe(words);
});

test('a text is shortened to its limit, on one line and between characters', () => {
  expect(shortened(' a\n b ', 10)).toBe('a b');
  expect(shortened('abcdef', 6)).toBe('abcdef');
  expect(shortened('abcdefg', 6)).toBe('abcde…');
  expect(shortened('abcd🌊fg', 6).isWellFormed()).toBe(true);
});
