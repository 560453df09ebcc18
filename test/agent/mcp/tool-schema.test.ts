import { expect, test } from 'vitest';
import { readToolSchema } from '../../../src/agent/mcp/tool-schema.ts';
import type { JsonObject, JsonValue } from '../../../src/domain/json.ts';
import { quietCpuMsOf } from '../../support/time/machine-speed.ts';

function checkOf(schema: JsonObject) {
  const read = readToolSchema({ type: 'object', ...schema });
  if (!read.ok) throw new Error(read.why);
  return read.check;
}
const whyOf = (schema: JsonValue) => {
  const read = readToolSchema(schema);
  return read.ok ? null : read.why;
};

test.each<[string, JsonObject, JsonObject, JsonObject]>([
  ['$defs', { $defs: { a: { type: 'string' } }, properties: { x: { $ref: '#/$defs/a' } } }, { x: 'a' }, { x: 1 }],
  ['a reference to itself', { properties: { x: { $ref: '#' } }, required: [] }, { x: { x: {} } }, { x: 1 }],
  [
    'prefixItems',
    { properties: { x: { prefixItems: [{ type: 'string' }], items: { type: 'number' } } } },
    { x: ['a', 1] },
    { x: [1] },
  ],
  ['nullable', { properties: { x: { type: 'string', nullable: true } } }, { x: null }, { x: 1 }],
  [
    'a property named like a keyword',
    { properties: { $defs: { type: 'string' }, items: { type: 'number' } } },
    { $defs: 'a', items: 1 },
    { $defs: 1 },
  ],
  ['names of every object', { required: ['toString'] }, { toString: 'a' }, {}],
])('%s means what it says', (_name, schema, good, bad) => {
  const check = checkOf(schema);
  expect(check(good)).toEqual([]);
  expect(check(bad)).not.toEqual([]);
});

test('what models see keeps the words of the server, without its identity', () => {
  const modelSchema = { type: 'object', properties: { x: { $ref: '#/$defs/a' } }, $defs: { a: { type: 'string' } } };
  expect(
    readToolSchema({ ...modelSchema, $schema: 'https://json-schema.org/draft/2020-12/schema', $id: 'x' }),
  ).toMatchObject({
    ok: true,
    modelSchema,
  });
});

test.each<[string, JsonValue]>([
  ['its type is not object', 'x'],
  ['its type is not object', { type: 'array' }],
  ['its type is not object', { type: ['string', 'null'] }],
  ['its type is not object', { anyOf: [{ type: 'string' }, { type: 'null' }] }],
  ['its type is not object', { $ref: '#' }],
  ['it is not a valid JSON Schema', { type: 'object', properties: { a: { type: 'spaceship' } } }],
  ['it uses "__proto__" as a name', JSON.parse('{"properties":{"__proto__":{}}}') as JsonObject],
  [
    'it contains more than 2000 schemas',
    { type: 'object', properties: Object.fromEntries(Array.from({ length: 2_001 }, (_, i) => [`p${i}`, {}])) },
  ],
])('%s', (why, schema) => {
  expect(whyOf(schema)).toBe(why);
});

test('a schema that would keep the validator busy forever gets a reply in time', () => {
  // Each level is checked twice by the one above.
  const definitions: JsonObject = { n0: { type: 'string' } };
  for (let i = 1; i <= 40; i += 1) {
    const ref = { $ref: `#/definitions/n${i - 1}` };
    definitions[`n${i}`] = { anyOf: [{ allOf: [ref, ref] }, ref] };
  }
  const check = checkOf({ properties: { x: { $ref: '#/definitions/n40' } }, definitions });
  expect(quietCpuMsOf(() => expect(check({ x: 1 })).not.toEqual([]))).toBeLessThan(6_000);
});

const STRING = { type: 'string' } as const;
const POINT = { type: 'object', properties: { x: { type: 'number' } } } as const;

test.each<[string, JsonValue | undefined, JsonObject]>([
  ['nothing at all', undefined, { properties: {} }],
  ['null', null, { properties: {} }],
  ['no type', { properties: { a: STRING } }, { properties: { a: STRING } }],
  ['a type of several', { type: ['object', 'null'], properties: null }, { properties: {} }],
  ['a list for an empty map', { properties: [], $defs: [], required: [] }, { properties: {} }],
  [
    'nulls',
    { properties: { a: { ...STRING, enum: null, title: null, default: null } } },
    { properties: { a: { ...STRING, default: null } } },
  ],
  [
    'a property named like a keyword',
    { properties: { required: STRING, type: STRING, $ref: STRING } },
    { properties: { required: STRING, type: STRING, $ref: STRING } },
  ],
  [
    'names that are none',
    { properties: { a: STRING }, required: ['a', 1, null, 'a'] },
    { properties: { a: STRING }, required: ['a'] },
  ],
  ['a single name', { properties: { a: STRING }, required: 'a' }, { properties: { a: STRING }, required: ['a'] }],
  [
    'what each property requires',
    { properties: { a: { ...STRING, required: true }, b: { ...STRING, required: false } } },
    { properties: { a: STRING, b: STRING }, required: ['a'] },
  ],
  [
    'a reference elsewhere',
    { properties: { a: { $ref: 'other.json', description: 'A' } } },
    { properties: { a: { description: 'A' } } },
  ],
  ['a reference that is no pointer', { properties: { a: { $ref: '#/%E0%A4%A' } } }, { properties: { a: {} } }],
  [
    'a reference to what every object has',
    { properties: { a: { $ref: '#/properties/toString' } } },
    { properties: { a: {} } },
  ],
  [
    'no reference, but a default',
    { properties: { a: { default: { $ref: 'x' } } } },
    { properties: { a: { default: { $ref: 'x' } } } },
  ],
  [
    'a pattern with a look-around',
    { properties: { a: { ...STRING, pattern: '(?=a)' } } },
    { properties: { a: STRING } },
  ],
  [
    'a name pattern with one',
    { patternProperties: { '(?=a)': STRING, '^b': STRING }, additionalProperties: false },
    { properties: {}, patternProperties: { '^b': STRING } },
  ],
  [
    'flags for limits',
    { properties: { a: { minimum: 1, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false } } },
    { properties: { a: { exclusiveMinimum: 1, maximum: 9 } } },
  ],
  [
    'positions of older drafts',
    { properties: { a: { items: [STRING], additionalItems: false } } },
    { properties: { a: { prefixItems: [STRING], items: false } } },
  ],
  [
    'types of other languages',
    { properties: { a: { type: 'INTEGER' }, b: { type: 'str' }, c: { type: 'any' }, d: 'bool' } },
    { properties: { a: { type: 'integer' }, b: STRING, c: {}, d: { type: 'boolean' } } },
  ],
  [
    'a reference at the root',
    { $ref: '#/$defs/A', $defs: { A: { properties: { a: STRING }, required: ['a'] } } },
    { properties: { a: STRING }, required: ['a'], $defs: { A: { properties: { a: STRING }, required: ['a'] } } },
  ],
  [
    'parts at the root',
    {
      allOf: [
        { properties: { a: STRING }, required: ['a'] },
        { properties: { b: STRING }, required: ['b'] },
      ],
    },
    { properties: { a: STRING, b: STRING }, required: ['a', 'b'] },
  ],
  [
    'what one of two requires',
    { properties: { a: STRING, b: STRING }, oneOf: [{ required: ['a'] }, { required: ['b'] }] },
    { properties: { a: STRING, b: STRING } },
  ],
  [
    'alternatives at the root',
    {
      anyOf: [
        { properties: { k: { const: 1 }, a: STRING, c: STRING }, required: ['k', 'a'], additionalProperties: false },
        {
          properties: { k: { const: 2 }, b: STRING, c: { type: 'null' } },
          required: ['k', 'b'],
          additionalProperties: false,
        },
      ],
    },
    {
      properties: { k: { enum: [1, 2] }, a: STRING, c: { anyOf: [STRING, { type: 'null' }] }, b: STRING },
      required: ['k'],
    },
  ],
  [
    'a reference into positions that have moved',
    { properties: { line: { items: [POINT, { $ref: '#/properties/line/items/0' }] } } },
    {
      properties: { line: { prefixItems: [POINT, { $ref: '#/$defs/shared1' }] } },
      $defs: { shared1: POINT },
    },
  ],
  [
    'a reference into positions of newer drafts',
    { properties: { line: { prefixItems: [POINT, { $ref: '#/properties/line/prefixItems/0' }] } } },
    { properties: { line: { prefixItems: [POINT, { $ref: '#/properties/line/prefixItems/0' }] } } },
  ],
  [
    'references into alternatives that are not shown, one of them to itself',
    {
      anyOf: [
        { properties: { tree: { properties: { inner: { $ref: '#/anyOf/0/properties/tree' } } } } },
        { properties: { first: { $ref: '#/anyOf/0/properties/tree' }, all: { $ref: '#/anyOf/0' } } },
      ],
      $defs: { shared1: STRING },
    },
    {
      properties: {
        tree: { properties: { inner: { $ref: '#/$defs/shared1_' } } },
        first: { $ref: '#/$defs/shared1_' },
        all: { $ref: '#/$defs/shared2' },
      },
      $defs: {
        shared1: STRING,
        shared1_: { properties: { inner: { $ref: '#/$defs/shared1_' } } },
        shared2: { properties: { tree: { properties: { inner: { $ref: '#/$defs/shared1_' } } } } },
      },
    },
  ],
])('%s: what a model is shown', (_name, given, shown) => {
  const read = readToolSchema(given);
  expect(read).toMatchObject({ ok: true });
  expect(read.ok && read.modelSchema).toEqual({ type: 'object', ...shown });
});

test('alternatives at the root are checked, although a model is not shown them', () => {
  const check = checkOf({
    oneOf: [
      { properties: { a: STRING }, required: ['a'] },
      { properties: { b: STRING }, required: ['b'] },
    ],
  });
  expect(check({ a: 'x' })).toEqual([]);
  expect(check({})).not.toEqual([]);
});

test('a reference into positions is checked', () => {
  for (const words of ['items', 'prefixItems']) {
    const line = { [words]: [POINT, { $ref: `#/properties/line/${words}/0` }] };
    const check = checkOf({ properties: { line } });
    expect(check({ line: [{ x: 1 }, { x: 2 }] })).toEqual([]);
    expect(check({ line: [{ x: 1 }, { x: 'a' }] })).not.toEqual([]);
  }
});

test('references that would make a schema too large are not followed to the end', () => {
  const wide: JsonObject = { description: 'w'.repeat(10_000) };
  // Each of them leads to all that is within it.
  const nested = Array.from({ length: 20 }, (_, depth) => `#/anyOf/1${'/items'.repeat(depth)}`);
  const inner = nested.reduce<JsonObject>((items) => ({ ...STRING, items }), wide);
  const schema = { anyOf: [{ properties: Object.fromEntries(nested.map(($ref) => [$ref, { $ref }])) }, inner] };
  expect(whyOf(schema)).toBe('it is larger than 64 KB');
});

/** Alternatives of alternatives, so many levels deep. */
function alternatives(levels: number): JsonObject {
  return levels === 0 ? { properties: {} } : { anyOf: [alternatives(levels - 1), alternatives(levels - 1)] };
}

test('alternatives of alternatives without end are read so far and no further', () => {
  expect(quietCpuMsOf(() => expect(readToolSchema(alternatives(9)).ok).toBe(true))).toBeLessThan(1_000);
});
