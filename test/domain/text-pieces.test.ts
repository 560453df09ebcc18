// Pieces of long texts.
import { expect, test } from 'vitest';
import { piecesOfText } from '../../src/domain/text-pieces.ts';

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
