// Shapes: what they read, what they say about what they refuse, and that their JSON schemas say the same.
import { expect, test } from 'vitest';
import { ErrandError, unprocessable } from '../../../src/domain/errors.ts';
import type { JsonValue } from '../../../src/domain/json.ts';
import { base64 } from '../../../src/wire/shapes/base64.ts';
import {
  boolean,
  constant,
  integer,
  line,
  longString,
  matching,
  number,
  oneOf,
  string,
  text,
  time,
  uuid,
} from '../../../src/wire/shapes/scalars.ts';
import { array, json, object, readWhole, dictionary, tagged } from '../../../src/wire/shapes/composites.ts';
import {
  type AnyShape,
  anyOf,
  type Components,
  named,
  nullable,
  nullish,
  optional,
  refined,
  type Shape,
  type Static,
} from '../../../src/wire/shapes/shape.ts';
import { STAND_IN } from '../../../src/wire/shapes/stand-in.ts';
import { fitsSchema } from '../../support/http/fits-schema.ts';

/** What a shape makes of a value: what it reads, or its refusal. */
function outcome(shape: AnyShape, value: JsonValue | undefined, path = 'field'): unknown {
  try {
    return shape.read(value, path);
  } catch (error) {
    if (error instanceof ErrandError) return error.message;
    throw error;
  }
}

const REFUSED: readonly (readonly [string, AnyShape, JsonValue | undefined, string])[] = [
  ['no string', string, 1, 'field: must be a string'],
  ['a missing string', string, undefined, 'field: must be a string'],
  ['null for a string', string, null, 'field: must be a string'],
  ['a NUL', string, 'a\0b', 'field: must not contain a NUL character'],
  ['half a character', string, '\ud800', 'field: must not contain a lone surrogate'],
  ['a stand-in where no long string may be', string, `${STAND_IN}x:0`, 'field: is too long'],
  ['no text', text({ max: 3 }), '', 'field: must not be empty'],
  ['a long text', text({ max: 3 }), 'abcd', 'field: must be at most 3 characters'],
  ['a short text', text({ min: 3, max: 9 }), '\u{1F600}\u{1F600}', 'field: must be at least 3 characters'],
  ['a text of another pattern', matching(/^\p{L}+$/u, 'must be letters'), 'a1', 'field: must be letters'],
  ['two lines', line({ max: 9 }), 'a\nb', 'field: must not contain control characters'],
  ['no UUID', uuid, 'x', 'field: must be a UUID string'],
  ['a word for a boolean', boolean, 'true', 'field: must be true or false'],
  ['a word for a number', number(), '1', 'field: must be a number'],
  ['a number below 0', number({ from: 0 }), -0.1, 'field: must not be negative'],
  ['a fraction', integer(), 1.5, 'field: must be an integer'],
  ['an integer out of range', integer({ from: 1, to: 9, unit: 'seconds' }), 10, 'field: must be from 1 to 9 seconds'],
  ['another word', oneOf(['a', 'b']), 'c', 'field: must be one of a, b'],
  ['another constant', constant('list'), 'x', 'field: must be "list"'],
  ['no array', array(string), {}, 'field: must be an array'],
  ['no item', array(string, { min: 1 }), [], 'field: must not be empty'],
  ['too many items', array(string, { max: 1 }), ['a', 'b'], 'field: must have at most 1 items'],
  ['too many messages', array(string, { max: 0, words: 'must hold none' }), ['a'], 'field: must hold none'],
  ['an item of another kind', array(string), ['a', 1], 'field[1]: must be a string'],
  ['no object', object({}), [], 'field: must be an object'],
  ['a field of another kind', object({ a: object({ b: string }) }), { a: { b: 1 } }, 'field.a.b: must be a string'],
  ['a missing field', object({ a: string }), {}, 'field.a: must be a string'],
  ['null for an optional field', object({ a: optional(string) }), { a: null }, 'field.a: must be a string'],
  [
    'an object without any field',
    object({ a: nullish(string) }, { atLeastOne: true }),
    {},
    'field: must name at least one field to change',
  ],
  ['an unknown field', object({ a: nullish(string) }, { closed: true }), { b: 1 }, 'field.b: must be one of a'],
  ['a member of another kind', dictionary(integer()), { a: 'x' }, 'field.a: must be an integer'],
  ['nothing where anything may be', json, undefined, 'field: is required'],
  [
    'no alternative',
    anyOf('must be a string or an array', string, array(string)),
    1,
    'field: must be a string or an array',
  ],
  ['a fault in an alternative', anyOf('must be either', string, array(string)), [1], 'field[0]: must be a string'],
  ['an unknown tag', tagged('type', { a: {}, b: {} }), { type: 'c' }, 'field.type: must be one of a, b'],
  ['a fault behind a tag', tagged('type', { a: { n: integer() } }), { type: 'a' }, 'field.n: must be an integer'],
  ['Base64 with line breaks', base64({ max: 99 }), 'YWJj\n', 'field: must be standard Base64'],
  ['long Base64', base64({ max: 3 }), 'YWJj', 'field: must be at most 3 characters'],
];

test.each(REFUSED)('%s is refused by path', { tags: ['A4-types'] }, (_what, shape, value, words) => {
  expect(outcome(shape, value)).toBe(words);
});

const SIZED = object({
  name: line({ max: 5 }),
  size: nullable(integer({ from: 0 })),
  note: optional(text({ max: 5, min: 0 })),
});
const TREE: Shape<Tree> = named('Tree', () => object({ name: string, children: array(TREE) }));
interface Tree {
  readonly name: string;
  readonly children: readonly Tree[];
}

const FITS: readonly (readonly [string, AnyShape, JsonValue, unknown])[] = [
  ['a text as long as it may be, in characters', text({ max: 2 }), '🎈🎈', '🎈🎈'],
  ['a UUID in lower case', uuid, '0198A8D2-0000-7000-8000-00000000000A', '0198a8d2-0000-7000-8000-00000000000a'],
  ['an object without what it may lack', SIZED, { name: 'a', size: null }, { name: 'a', size: null }],
  ['an object without what it has no field for', SIZED, { name: 'a', size: 1, x: 2 }, { name: 'a', size: 1 }],
  ['null for what may be null', object({ a: nullish(oneOf(['x'])) }), { a: null }, { a: null }],
  ['null for a word of several', nullable(oneOf(['x', 'y'])), null, null],
  ['null for a named shape', nullable(TREE), null, null],
  [
    'a tree',
    TREE,
    { name: 'a', children: [{ name: 'b', children: [] }] },
    { name: 'a', children: [{ name: 'b', children: [] }] },
  ],
  ['either alternative', anyOf('must be either', string, array(string)), ['a'], ['a']],
  ['a tagged object', tagged('type', { a: { n: integer() }, b: {} }), { type: 'a', n: 1 }, { type: 'a', n: 1 }],
  ['a record', dictionary(integer()), { a: 1 }, { a: 1 }],
  ['a constant', constant(null), null, null],
  ['a point in time', time, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'],
  ['a text of the least length', text({ min: 3, max: 9 }), 'abc', 'abc'],
  ['a text of a pattern', matching(/^\p{L}+$/u, 'must be letters'), 'äb', 'äb'],
  ['Base64', base64({ max: 4 }), 'YWJj', 'YWJj'],
  ['what is read as something else', refined(string, (value) => value.length), 'abc', 3],
];

test.each(FITS)('%s is read', (_what, shape, value, read) => {
  expect(shape.read(value, '')).toEqual(read);
  expect(fitsSchema(shape, value)).toBe(true);
});

/** What JSON schema can't say: texts that can't be stored, and stand-ins. */
const BEYOND_SCHEMA = /NUL|surrogate|too long|UUID|Base64/;

test.each(REFUSED.filter(([, , value, words]) => value !== undefined && !BEYOND_SCHEMA.test(words)))(
  '%s does not fit the schema either',
  (_what, shape, value) => {
    expect(fitsSchema(shape, value!)).toBe(false);
  },
);

test('a long string may be a stand-in', () => {
  expect(longString.read(`${STAND_IN}secret:0`, 'text')).toBe(`${STAND_IN}secret:0`);
  expect(outcome(longString, 'a\0')).toBe('field: must not contain a NUL character');
});

test('a whole body has no path of its own', () => {
  expect(outcome(SIZED, { name: 1 }, '')).toBe('name: must be a string');
});

test.each(FITS)('%s is read as a whole body', (_what, shape, value, read) => {
  expect(readWhole(shape, value)).toEqual(read);
});

test('the first fault of a whole body is reported by path', () => {
  const body = object({ list: array(dictionary(SIZED)) });
  const value = { list: [{ a: { name: 'a', size: 1 } }, { b: { name: 'b', size: 'x' } }, null] };
  const read = () => readWhole(body, value);
  expect(read).toThrow(expect.objectContaining({ reason: 'unprocessable', details: { field: 'list[1].b.size' } }));
  expect(() => readWhole(body, undefined)).toThrow(/^: must be an object$/);
});

test('a violation of a custom rule is reported by path', () => {
  const even = refined(integer(), (value, path) => {
    if (value % 2 === 1) throw unprocessable(path, 'must be even');
    return value;
  });
  expect(outcome(array(even), [2, 3])).toBe('field[1]: must be even');
});

test('a named shape is described once', () => {
  const components: Components = new Map();
  object({ one: TREE, other: TREE }).describe(components);
  expect([...components.keys()]).toEqual(['Tree']);
});

test('two shapes of one name are a mistake', () => {
  const components: Components = new Map();
  TREE.describe(components);
  expect(() => named('Tree', string).describe(components)).toThrow('Two shapes are named Tree.');
});

test('the static type is that of the fields', () => {
  const sized: Static<typeof SIZED> = { name: 'a', size: 1 };
  // @ts-expect-error `size` is missing
  const lacking: Static<typeof SIZED> = { name: 'a' };
  // @ts-expect-error there is no field of that name
  const renamed: Static<typeof SIZED> = { name: 'a', size: 1, weight: 2 };
  expect([sized, lacking, renamed]).toHaveLength(3);
});
