// The offline engine's values fit their schemas, as the validator says.
import { expect, test } from 'vitest';
import { compileResultCheck, makeFits } from '../../../src/agent/result/result-schema.ts';
import { smallestValue } from '../../../src/agent/result/smallest-value.ts';
import { parametersOf } from '../../../src/agent/result/structured-result.ts';
import { isJsonObject, type JsonValue } from '../../../src/domain/json.ts';
import { readOutputSchema } from '../../../src/domain/schema/output-schema.ts';
import { cpuMsOf } from '../../support/time/cpu-time.ts';

const person = {
  type: 'object',
  required: ['name', 'age', 'tags', 'kind'],
  additionalProperties: false,
  properties: {
    name: { type: 'string', minLength: 3 },
    age: { type: 'integer', minimum: 18, maximum: 19 },
    tags: { type: 'array', items: { $ref: '#/definitions/tag' }, minItems: 2, uniqueItems: true },
    kind: { enum: ['a', 'b'] },
    note: { type: 'string' },
  },
};

const SCHEMAS: readonly JsonValue[] = [
  {},
  true,
  { type: 'null' },
  { type: 'boolean' },
  { type: 'integer' },
  { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
  { type: 'number', minimum: 0.2, maximum: 0.3 },
  { type: 'integer', minimum: 7, multipleOf: 5 },
  { type: 'number', exclusiveMinimum: 0.21, maximum: 0.35, multipleOf: 0.1 },
  { type: 'integer', maximum: -3 },
  { exclusiveMinimum: 4, type: 'integer' },
  { type: 'string' },
  { type: 'string', minLength: 4, maxLength: 4 },
  { type: 'string', pattern: '^[A-Z]{2}-\\d{3,}$' },
  { type: 'string', pattern: '^😀x?$' },
  { type: 'string', pattern: '\\.json$', minLength: 9 },
  { minLength: 2, not: { type: ['null', 'boolean', 'integer', 'array', 'object'] } },
  { type: ['string', 'null'] },
  { type: ['object', 'null'], required: ['a'] },
  { enum: [{ a: 1 }, 2] },
  { enum: ['aa', 'bbb'], minLength: 3 },
  { const: { deep: [1, null] } },
  { const: null },
  { anyOf: [{ type: 'integer', minimum: 3, maximum: 2 }, { type: 'string' }] },
  { oneOf: [{ type: 'integer' }, { type: 'number', multipleOf: 0.5 }] },
  { type: 'object', properties: { a: { type: 'string' } }, oneOf: [{ required: ['a'] }, { required: ['b'] }] },
  {
    allOf: [
      { type: 'object', required: ['a'] },
      { properties: { a: { minimum: 2, type: 'integer' } } },
      { required: ['b'] },
    ],
  },
  {
    allOf: [{ $ref: '#/definitions/p' }, { required: ['extra'] }],
    definitions: { p: { type: 'object', required: ['x'], properties: { x: { const: 4 } } } },
  },
  { type: 'array', minItems: 3 },
  { type: 'array', items: [{ const: 1 }, { type: 'string' }], minItems: 3, additionalItems: { type: 'boolean' } },
  { type: 'array', contains: { const: 7 }, minItems: 2 },
  { type: 'array', items: { type: 'integer' }, minItems: 4, uniqueItems: true },
  { type: 'object', minProperties: 2 },
  { type: 'object', minProperties: 1, properties: { only: { type: 'integer' } }, additionalProperties: false },
  { type: 'object', required: ['n1'], patternProperties: { '^n': { type: 'number' } }, additionalProperties: false },
  { type: 'object', required: ['any'], additionalProperties: { type: 'string' } },
  { ...person, definitions: { tag: { type: 'string', minLength: 1, maxLength: 8 } } },
  {
    $ref: '#/definitions/tree',
    definitions: {
      tree: {
        type: 'object',
        required: ['left'],
        properties: { left: { anyOf: [{ $ref: '#/definitions/tree' }, { type: 'null' }] } },
      },
    },
  },
  {
    type: 'object',
    required: ['list'],
    properties: { list: { type: 'array', items: { $ref: '#/definitions/a~1b' } } },
    definitions: { 'a/b': { type: 'string' } },
  },
  { type: 'object', required: ['if'], properties: { if: { const: 1 } }, if: { required: ['if'] }, else: false },
];

test.each(SCHEMAS)('%j', (raw) => {
  const schema = readOutputSchema(raw, 'schema');
  const parameters = parametersOf(schema);
  const moved = isJsonObject(parameters['properties']) ? parameters['properties']['result'] : undefined;
  if (!isJsonObject(moved)) throw new Error('The parameters hold no schema.');
  const value = smallestValue(moved, parameters, makeFits(parameters));
  expect(value).not.toBeUndefined();
  expect(compileResultCheck(schema)(value!)).toEqual([]);
});

test('a schema that nothing fits gives nothing, and does not take long about it', () => {
  const parameters = parametersOf(readOutputSchema({ type: 'object', required: ['a'], properties: { a: false } }, 's'));
  const { result } = parameters['properties'] as { result: Record<string, JsonValue> };
  const search = () => expect(smallestValue(result, parameters, makeFits(parameters))).toBeUndefined();
  expect(cpuMsOf(search)).toBeLessThan(1_000);
});
