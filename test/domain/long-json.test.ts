// JSON of large values in pieces: the same text as at once, no piece of which is long.
import { expect, test } from 'vitest';
import { jsonPieces } from '../../src/domain/long-json.ts';

const list = (length: number) =>
  Array.from({ length }, (_, index) => ({ index, text: `"${index}"\n🌊`, none: undefined }));
const LONGEST_PIECE = 100_000;

test.each([
  ['a long list in an envelope', { code: 0, message: 'ok', data: { id: 'x', items: list(5_000), none: [] } }],
  ['data that is a list', { code: 0, message: 'ok', data: list(5_000) }],
  ['a list at the top', list(5_000)],
  ['absent fields', { first: undefined, items: list(3_000), last: undefined }],
  ['a list with holes', [...list(3_000), undefined, null]],
  ['a long text', { text: '\u0001"\\'.repeat(200_000) }],
  ['characters of two units, cut at any place', ['x', 'xx', 'xxx'].map((start) => start + '🌊'.repeat(50_000))],
  ['halves of characters', { text: `${'a'.repeat(16_383)}\ud83c${'b'.repeat(20_000)}\udf0a` }],
  ['what is short', { a: { b: [1, true, null, 'x'] } }],
])('%s is written as JSON.stringify writes it', (_, body) => {
  const pieces = [...jsonPieces(body)];
  expect(pieces.join('')).toBe(JSON.stringify(body));
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(LONGEST_PIECE);
});
