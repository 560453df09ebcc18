// Which schemas are rejected at once, and what is left of an accepted one.
import { describe, expect, test } from 'vitest';
import { ErrandError } from '../../../src/domain/errors.ts';
import type { JsonObject, JsonValue } from '../../../src/domain/json.ts';
import { readOutputSchema } from '../../../src/domain/schema/output-schema.ts';

const read = (schema: JsonValue) => readOutputSchema(schema, 'schema');
const many = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));
const named = (count: number, make: (i: number) => JsonValue): JsonObject =>
  Object.fromEntries(many(count, (i) => [`p${i}`, make(i)]));
const nested = (levels: number) => many(levels, () => 0).reduce<JsonObject>((items) => ({ items }), {});
const ref = (name: string): JsonObject => ({ $ref: `#/definitions/${name}` });

/** Two references a level: 2^30 schemas for one value. */
const doubling: JsonObject = {
  ...ref('p0'),
  definitions: { ...named(30, (i) => ({ allOf: [ref(`p${i + 1}`), ref(`p${i + 1}`)] })), p30: {} },
};

const REFUSED: readonly (readonly [name: string, schema: JsonValue, message: RegExp])[] = [
  ['no schema', 'string', /^schema: must be a JSON Schema/],
  ['a list', [], /^schema: must be a JSON Schema/],
  ['null', null, /^schema: must be a JSON Schema/],
  ['over 64 KB', { description: 'x'.repeat(65_536) }, /at most 64 KB/],
  ['over 64 KB in bytes only', { description: 'é'.repeat(40_000) }, /at most 64 KB/],
  ['a million values', { const: many(1_000_000, () => 0) }, /at most 64 KB/],
  ['schemas 33 deep', nested(33), /deeper than 32/],
  ['1,001 properties', { properties: named(1_001, () => true) }, /at most 1000 properties/],
  [
    '1,001 properties here and there',
    { properties: { ...named(500, () => true), more: { patternProperties: named(500, () => true) } } },
    /at most 1000 properties/,
  ],
  ['1,001 enum values', { enum: many(1_001, (i) => i) }, /at most 1000 enum values/],
  ['10,000 schemas', { items: many(10_000, () => ({})) }, /at most 5000 schemas/],
  ['long names around a schema', { properties: { ['x'.repeat(4_096)]: {} } }, /names that long/],
  ['1,001 schemas for one value', { anyOf: many(1_001, (i) => ({ const: i })) }, /more than 1000 schemas to one value/],
  ['references that double', doubling, /more than 1000 schemas to one value/],
  ['a reference to itself', { ...ref('a'), definitions: { a: ref('a') } }, /definitions\/a: must not refer to itself/],
  [
    'a reference to itself through a union',
    { ...ref('a'), definitions: { a: { anyOf: [{ type: 'null' }, { not: ref('a') }] } } },
    /must not refer to itself/,
  ],
  ['a remote reference', { $ref: 'https://example.org/schema.json' }, /^schema\/\$ref: must be local/],
  ['a reference to itself by a pointer', { properties: { a: { $ref: '#/properties/a' } } }, /must not refer to itself/],
  ['a reference to the root for the same value', { allOf: [{ $ref: '#' }] }, /must not refer to itself/],
  ['a reference to nothing', { items: ref('gone') }, /must name a schema that exists/],
  ['a reference to an inherited name', { items: ref('toString'), definitions: {} }, /must name a schema that exists/],
  [
    'a reference to something else than a schema',
    { items: ref('a/const'), definitions: { a: { const: {} } } },
    /must name a schema that exists/,
  ],
  ['a malformed reference', { items: { $ref: '#/definitions/%E0' } }, /well-formed/],
  ['a reference that is no text', { items: { $ref: 7 } }, /must be local/],
  [
    'an $id below the root, where # would begin anew',
    { items: { $id: 'x', not: ref('a') }, definitions: { a: {} } },
    /^schema\/items\/\$id/,
  ],
  ['an $id that is no text', { $id: 7 }, /^schema\/\$id/],
  ['another draft', { $schema: 'http://json-schema.org/draft-04/schema#' }, /^schema\/\$schema/],
  ['another draft below the root', { not: { $schema: 'http://json-schema.org/schema#' } }, /^schema\/not\/\$schema/],
  ['__proto__ as a property', JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'), /__proto__/],
  ['__proto__ in a value', JSON.parse('{"const":{"__proto__":1}}'), /__proto__/],
];

test.each(REFUSED)('refused: %s', { tags: ['§4.4-rule-2', '§9-draft-07', 'C14-schemas'] }, (_name, schema, message) => {
  expect(() => read(schema)).toThrow(expect.objectContaining({ reason: 'unprocessable' }) as ErrandError);
  expect(() => read(schema)).toThrow(message);
});

describe('keywords of other drafts', () => {
  /** In a form that Draft-07 has nothing for. */
  const KEYWORDS: readonly (readonly [name: string, schema: JsonObject])[] = [
    ['prefixItems', { prefixItems: true }],
    ['$dynamicRef', { $dynamicRef: '#node' }],
    ['$dynamicAnchor', { $dynamicAnchor: 'node' }],
    ['$recursiveRef', { $recursiveRef: '#' }],
    ['$anchor', { $anchor: 'node' }],
    ['$defs', { $defs: true }],
    ['unevaluatedProperties', { unevaluatedProperties: false, anyOf: [true] }],
    ['unevaluatedItems', { unevaluatedItems: false, contains: true }],
    ['dependentSchemas', { dependentSchemas: true }],
    ['dependentRequired', { dependentRequired: true }],
    ['minContains', { minContains: 2, contains: true }],
    ['maxContains', { maxContains: 1, contains: true }],
    ['nullable', { nullable: 'yes' }],
  ];
  const PLACES: readonly ((inner: JsonObject) => JsonObject)[] = [
    (inner) => inner,
    (inner) => ({ properties: { a: inner } }),
    (inner) => ({ definitions: { unused: inner } }),
    (inner) => ({ items: [true, inner] }),
    (inner) => ({ dependencies: { a: inner } }),
    (inner) => ({ if: inner }),
    (inner) => ({ allOf: [{ additionalProperties: { propertyNames: inner } }] }),
  ];

  test.each(KEYWORDS)(
    '%s is refused at every position of a schema where Draft-07 has no equivalent',
    { tags: ['§4.4-rule-2', '§9-draft-07', 'C14-schemas', 'M4-schemas'] },
    (keyword, inner) => {
      for (const place of PLACES) expect(() => read(place(inner))).toThrow(`/${keyword}: has no equivalent`);
    },
  );

  test.each(KEYWORDS)(
    '%s is a fine name of a property, a definition and a constant',
    { tags: ['C14-schemas'] },
    (keyword) => {
      const schema: JsonObject = {
        properties: { [keyword]: { const: { [keyword]: 1 } } },
        definitions: { [keyword]: {} },
        dependencies: { [keyword]: ['a'] },
        default: { [keyword]: 1 },
      };
      expect(read(schema)).toEqual(schema);
    },
  );
});

test("keywords of the validator's own are removed; the caller's schema is not modified", () => {
  const schema: JsonObject = {
    $id: 'https://example.org/tide',
    $schema: 'http://json-schema.org/draft-07/schema#',
    $async: true,
    id: 'x',
    discriminator: { propertyName: 'a' },
    type: 'object',
    title: 'Tide',
    properties: { $async: { type: 'boolean', $comment: 'kept as a name' } },
  };
  const before = structuredClone(schema);
  expect(read(schema)).toEqual({ type: 'object', title: 'Tide', properties: { $async: { type: 'boolean' } } });
  expect(schema).toEqual(before);
});

test('recursion that goes down into the value is taken', () => {
  const tree: JsonObject = {
    ...ref('node'),
    definitions: { node: { properties: { children: { items: ref('node') }, next: { anyOf: [ref('node'), {}] } } } },
  };
  expect(read(tree)).toEqual(tree);
});

test('the limits themselves are allowed', { tags: ['C14-schemas'] }, () => {
  read(nested(32));
  read({ properties: named(1_000, () => true) });
  read({ enum: many(1_000, (i) => i) });
  read({ description: 'x'.repeat(65_536 - '{"description":""}'.length) });
});

test('true takes any value and false none', () => {
  expect([read(true), read(false)]).toEqual([{}, { not: {} }]);
});

test('names with slashes, tildes and other letters can be referred to', () => {
  const definitions = { 'größe x/~y': { type: 'string' }, yes: true };
  for (const $ref of ['#/definitions/größe x~1~0y', '#/definitions/gr%C3%B6%C3%9Fe%20x~1~0y', '#/definitions/yes'])
    expect(read({ items: { $ref }, definitions })).toEqual({ items: { $ref }, definitions });
});
