// Schemas of newer drafts, as libraries emit them: in Draft-07 they take and refuse the same values, as a validator of their draft says.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { compileResultCheck, findSchemaFault } from '../../../src/agent/result/result-schema.ts';
import type { JsonObject, JsonValue } from '../../../src/domain/json.ts';
import { readOutputSchema } from '../../../src/domain/schema/output-schema.ts';

const DRAFT = 'https://json-schema.org/draft/2020-12/schema';

function checkOf(schema: JsonObject): (value: JsonValue) => boolean {
  const read = readOutputSchema(schema, 'schema');
  expect(findSchemaFault(read)).toBeNull();
  const check = compileResultCheck(read);
  return (value) => check(value).length === 0;
}

/** Values of every kind, some of which each schema of the tests takes. */
const VALUES: readonly JsonValue[] = [
  null,
  true,
  0,
  5,
  'a',
  [],
  [1],
  [1, 'a'],
  ['a', 1],
  ['a', 1, 2],
  ['a', 1, 'b'],
  ['a', 'b'],
  {},
  { a: 1 },
  { a: 'x' },
  { a: 1, b: 2 },
  { b: 2 },
  { a: 1, b: 'x' },
  { a: 1, c: 3 },
  { b: 2, c: 3 },
  { a: 1, b: 2, c: 3 },
  { x1: 1 },
  { a: null },
  { a: { a: { a: null } } },
  { a: { a: { b: 1 } } },
  { a: [{ a: [] }] },
  { a: [{ a: 1 }] },
];

const STRING_NUMBER = [{ type: 'string' }, { type: 'number' }];
const NODE: JsonObject = { type: 'object', properties: { a: { anyOf: [{ $ref: '#' }, { type: 'null' }] } } };

/** What Draft 2020-12 says. */
const SCHEMAS: readonly (readonly [name: string, schema: JsonObject])[] = [
  ['a tuple', { prefixItems: STRING_NUMBER }],
  ['a closed tuple', { type: 'array', prefixItems: STRING_NUMBER, items: false, minItems: 2 }],
  ['a tuple with a rest', { prefixItems: STRING_NUMBER, items: { type: 'number' } }],
  ['a tuple without unevaluated items', { prefixItems: STRING_NUMBER, unevaluatedItems: false }],
  ['items that are evaluated anyway', { items: { type: 'number' }, unevaluatedItems: false }],
  ['items that none evaluates', { unevaluatedItems: { type: 'number' } }],
  ['a constant', { const: { a: 1 } }],
  ['a root that refers to itself', { ...NODE, unevaluatedProperties: false }],
  [
    'a reference below a root that refers to itself',
    { ...NODE, required: ['b'], properties: { a: { items: { $ref: '#' } }, b: { $ref: '#/properties/a' } } },
  ],
  ['definitions', { $ref: '#/$defs/one', $defs: { one: { type: 'object', required: ['a'] } } }],
  ['words beside a reference', { $ref: '#/$defs/one', required: ['a'], $defs: { one: { required: ['b'] } } }],
  [
    'a reference into a tuple',
    { properties: { a: { $ref: '#/$defs/p/prefixItems/1' } }, $defs: { p: { prefixItems: STRING_NUMBER } } },
  ],
  [
    'a reference behind a tuple',
    { properties: { a: { $ref: '#/$defs/p/items' } }, $defs: { p: { prefixItems: [true], items: STRING_NUMBER[1]! } } },
  ],
  ['a reference to a property', { properties: { a: { type: 'number' }, b: { $ref: '#/properties/a' } } }],
  [
    'a property named like a keyword',
    {
      properties: {
        $defs: { type: 'number' },
        a: { $ref: '#/properties/prefixItems' },
        prefixItems: { type: 'string' },
      },
    },
  ],
  ['closed properties', { properties: { a: true }, unevaluatedProperties: false }],
  ['open properties', { properties: { a: true }, unevaluatedProperties: true }],
  ['typed properties', { properties: { a: true }, unevaluatedProperties: { type: 'string' } }],
  ['properties that are evaluated anyway', { additionalProperties: { type: 'number' }, unevaluatedProperties: false }],
  [
    'an intersection that is closed',
    {
      allOf: [
        { properties: { a: { type: 'number' } } },
        { patternProperties: { '^x': true }, allOf: [{ properties: { b: true } }] },
      ],
      unevaluatedProperties: false,
    },
  ],
  [
    'an intersection with an open part',
    { allOf: [{ additionalProperties: { type: 'number' } }], unevaluatedProperties: false },
  ],
  ['required with another', { dependentRequired: { a: ['b'] } }],
  ['a schema with another', { dependentSchemas: { a: { required: ['b'] } } }],
  ['both for one name', { dependentRequired: { a: ['b'] }, dependentSchemas: { a: { maxProperties: 2 } } }],
  ['one item', { contains: { type: 'number' }, minContains: 1 }],
  ['no item', { contains: { type: 'number' }, minContains: 0 }],
  ['counts of nothing', { minContains: 5, maxContains: 1 }],
  ['an id and a reference by it', { $id: 'Node', type: 'object', properties: { a: { items: { $ref: 'Node' } } } }],
];

describe.each(['said', 'unsaid'])('where the draft is %s', (said) => {
  test.each(SCHEMAS)('%s', { tags: ['M4-schemas'] }, (name, schema) => {
    const sent = said === 'said' ? { $schema: DRAFT, ...schema } : schema;
    const check = checkOf(sent);
    const expected = new Ajv2020({ strict: false }).compile(schema);
    const verdicts = VALUES.map((value) => [value, expected(value)]);
    expect(VALUES.map((value) => [value, check(value)])).toEqual(verdicts);
    // Otherwise it proves little.
    if (!/open|counts|no item/.test(name)) expect(new Set(verdicts.map(([, fits]) => fits)).size).toBe(2);
  });
});

const Sea = z.object({
  name: z.string(),
  get parts() {
    return z.array(Sea);
  },
});

/** As they are emitted, with values that they take, and that they refuse. */
const EMITTED: readonly (readonly [
  name: string,
  schema: JsonObject,
  fit: readonly JsonValue[],
  unfit: readonly JsonValue[],
])[] = [
  [
    'zod',
    z.toJSONSchema(
      z.object({
        kind: z.literal('tide'),
        pair: z.tuple([z.string(), z.number()]),
        mail: z.email().nullable(),
        get next() {
          return z.nullable(z.array(Sea)).optional();
        },
      }),
    ) as JsonObject,
    [{ kind: 'tide', pair: ['a', 1], mail: null, next: [{ name: 'North', parts: [{ name: 'Jade', parts: [] }] }] }],
    [
      { kind: 'tide', pair: ['a', 1], mail: null, next: [{ name: 'North', parts: [{ name: 1, parts: [] }] }] },
      { kind: 'ebb', pair: ['a', 1], mail: null },
    ],
  ],
  [
    'pydantic',
    {
      $defs: {
        Place: {
          properties: { name: { title: 'Name', type: 'string' } },
          required: ['name'],
          title: 'Place',
          type: 'object',
        },
        Kind: { enum: ['wood', 'stone'], title: 'Kind', type: 'string' },
      },
      properties: {
        place: { $ref: '#/$defs/Place', description: 'Where.' },
        kind: { anyOf: [{ $ref: '#/$defs/Kind' }, { type: 'null' }], default: null },
        size: {
          maxItems: 2,
          minItems: 2,
          prefixItems: [{ type: 'integer' }, { type: 'integer' }],
          title: 'Size',
          type: 'array',
        },
        depth: { exclusiveMinimum: 0, title: 'Depth', type: 'number' },
      },
      required: ['place', 'size', 'depth'],
      title: 'Harbour',
      type: 'object',
    },
    [{ place: { name: 'Husum' }, kind: null, size: [1, 2], depth: 0.5 }],
    [
      { place: { name: 'Husum' }, kind: 'sand', size: [1, 2], depth: 1 },
      { place: {}, size: [1, 2], depth: 1 },
      { place: { name: '' }, size: [1, 'a'], depth: 1 },
    ],
  ],
  [
    'TypeBox',
    {
      $id: 'T0',
      type: 'object',
      required: ['id', 'nodes', 'both'],
      properties: {
        id: { type: 'string' },
        nodes: { type: 'array', items: { $ref: 'T0' } },
        both: {
          type: 'object',
          allOf: [
            { type: 'object', required: ['a'], properties: { a: { const: 1, type: 'number' } } },
            { type: 'object', required: ['b'], properties: { b: { type: 'string' } } },
          ],
          unevaluatedProperties: false,
        },
      },
    },
    [{ id: 'x', nodes: [{ id: 'y', nodes: [], both: { a: 1, b: '' } }], both: { a: 1, b: '' } }],
    [
      { id: 'x', nodes: [{ id: 'y' }], both: { a: 1, b: '' } },
      { id: 'x', nodes: [], both: { a: 1, b: '', c: 1 } },
    ],
  ],
  [
    'TypeBox with an id inside',
    {
      type: 'object',
      properties: {
        tree: {
          $id: 'Tree',
          type: 'object',
          properties: { kids: { type: 'array', items: { $ref: 'Tree' } } },
          required: ['kids'],
        },
      },
      required: ['tree'],
    },
    [{ tree: { kids: [{ kids: [] }] } }],
    [{ tree: { kids: [{}] } }],
  ],
  [
    'OpenAPI 3.0',
    {
      type: 'object',
      properties: {
        kind: { type: 'string', enum: ['wood', 'stone'], nullable: true },
        depth: { type: 'number', minimum: 0, exclusiveMinimum: true, nullable: false },
        next: { nullable: true, allOf: [{ type: 'object', required: ['a'] }], description: 'The next one.' },
      },
      required: ['kind', 'depth', 'next'],
    },
    [
      { kind: null, depth: 1, next: null },
      { kind: 'wood', depth: 0.1, next: { a: 1 } },
    ],
    [
      { kind: 'sand', depth: 1, next: null },
      { kind: null, depth: 0, next: null },
      { kind: null, depth: 1, next: {} },
      { kind: null, depth: null, next: null },
    ],
  ],
  [
    'OpenAPI 3.1',
    {
      $schema: 'https://spec.openapis.org/oas/3.1/dialect/base',
      type: ['object', 'null'],
      properties: { a: { type: ['string', 'null'], example: 'x' } },
    },
    [null, { a: null }],
    [{ a: 1 }, 'a'],
  ],
];

test.each(EMITTED)('what %s emits takes what it took', { tags: ['M4-schemas'] }, (_name, schema, fit, unfit) => {
  const check = checkOf(schema);
  for (const value of fit) expect([value, check(value)]).toEqual([value, true]);
  for (const value of unfit) expect([value, check(value)]).toEqual([value, false]);
});

test.each<[place: string, schema: JsonObject]>([
  ['/$defs/a/unevaluatedItems', { $defs: { a: { unevaluatedItems: false, contains: true } } }],
  ['/properties/x/prefixItems/0/$anchor', { properties: { x: { prefixItems: [{ $anchor: 'a' }] } } }],
  ['/properties/x/items/$anchor', { properties: { x: { prefixItems: [true], items: { $anchor: 'a' } } } }],
  ['/properties/y/$anchor', { properties: { x: { items: { $ref: '#' } }, y: { $anchor: 'a' } } }],
  ['/$defs', { $defs: { a: true }, definitions: { a: false } }],
  ['/properties/x/$id', { properties: { x: { $id: 'x', items: { $ref: '#' } } } }],
  ['/properties/x/$ref', { properties: { x: { $ref: 'Other' } } }],
])('a refusal names %s, as it was sent', { tags: ['M4-schemas'] }, (place, schema) => {
  expect(() => readOutputSchema(schema, 'schema')).toThrow(`schema${place}: `);
});
