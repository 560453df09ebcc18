import { expect, test } from 'vitest';
import { excerptOf, firstBytes } from '../../src/domain/excerpt.ts';
import type { JsonObject } from '../../src/domain/json.ts';

test.each([
  ['abc', 3, 'abc'],
  ['abcd', 3, 'abc'],
  ['äöü', 4, 'äö'],
  ['äöü', 5, 'äö'],
  ['a😀b', 4, 'a'],
  ['a😀b', 5, 'a😀'],
  ['😀', 3, ''],
  ['', 0, ''],
  ['a\ud83d', 9, 'a\ufffd'],
])('%j within %i bytes is %j', (text, bytes, start) => {
  expect(firstBytes(text, bytes)).toBe(start);
});

const sizeOf = (value: object) => Buffer.byteLength(JSON.stringify(value));

test('an object that fits to the byte is left as it is, one byte less cuts it', () => {
  const object: JsonObject = { path: 'x.md', lines: [1, 22, true, null, 'ä'], deep: { '"': '\n', e: {}, l: [] } };
  const size = sizeOf(object);
  expect(excerptOf(object, size)).toEqual({ value: object, isCut: false });
  const { value, isCut } = excerptOf(object, size - 1);
  expect([isCut, value]).toEqual([true, { path: 'x.md', lines: [1, 22, true, null, 'ä'], deep: { '"': '\n', e: {} } }]);
});

test.each<[string, JsonObject, JsonObject]>([
  ['a long text', { path: 'a', content: 'x'.repeat(99), last: 1 }, { path: 'a', content: 'x'.repeat(15) }],
  ['text that is escaped', { t: '\u0001'.repeat(50) }, { t: '\u0001'.repeat(5) }],
  ['wide characters', { t: '😀'.repeat(50) }, { t: '😀'.repeat(8) }],
  [
    'many members',
    { list: Array.from({ length: 99 }, (_, at) => at) },
    { list: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] },
  ],
  ['a long name', { ['n'.repeat(99)]: 1 }, {}],
])('%s is cut to its start', (_what, object, start) => {
  const { value, isCut } = excerptOf(object, 40);
  expect([isCut, value]).toEqual([true, start]);
  expect(sizeOf(value)).toBeLessThanOrEqual(40);
});
