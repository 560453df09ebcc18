// Pieces of long texts.
import { expect, test } from 'vitest';
import { countOf, piecesOfText, replaceEach, squeezedText, storableText } from '../../src/domain/text-pieces.ts';

test.each([
  ['', []],
  ['abc', ['abc']],
  ['abcd', ['abcd']],
  ['abcde', ['abcd', 'e']],
  ['abc😀e', ['abc', '😀e']],
  ['😀😀😀', ['😀😀', '😀']],
  ['\ud83dbcdef', ['\ud83dbcd', 'ef']],
  ['abc\ud83d', ['abc', '\ud83d']],
])('%j', (text, pieces) => {
  expect([...piecesOfText(text, 4)]).toEqual(pieces);
});

test('a text that can be stored has neither NULs nor halves of characters, wherever they are', () => {
  expect(storableText('a\ud83d')).toBe('a\ufffd');
  for (const length of [1, 65_534, 65_535, 65_536, 65_537]) {
    const text = 'x'.repeat(length);
    expect(storableText(`${text}\u0000😀\ud83d\u0000`) === `${text}\ufffd😀\ufffd\ufffd`).toBe(true);
  }
});

test('white space is squeezed, also where it is long', () => {
  expect(squeezedText(' a\r\n\t b\u00a0 c ')).toBe('a b c');
  expect(squeezedText(`a${' \n'.repeat(100_000)}b`)).toBe('a b');
});

test.each([
  ['aaaaa', 'aa', 'b', [2, 'bba']],
  ['xax', 'a', '', [1, 'xx']],
  ['xax', 'b', 'c', [0, 'xax']],
  ["a.a'", 'a', "$&$'", [2, "$&$'.$&$''"]],
])('in %j each %j becomes %j', (text, part, replacement, expected) => {
  expect([countOf(part, text), replaceEach(part, text, replacement)]).toEqual(expected);
});

test('many occurrences are replaced', () => {
  const many = 'ab-'.repeat(50_000);
  expect(countOf('ab', many)).toBe(50_000);
  expect(replaceEach('ab', many, 'cde') === many.replaceAll('ab', 'cde')).toBe(true);
});
