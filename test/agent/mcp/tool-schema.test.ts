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
  ['its type is not object', { properties: {} }],
  ['it is not a valid JSON Schema', { type: 'object', required: 'a' }],
  ['it has a reference that does not resolve', { type: 'object', properties: { x: { $ref: 'other.json' } } }],
  ['it has a reference that does not resolve', { type: 'object', properties: { x: { $ref: '#/%E0%A4%A' } } }],
  [
    'it has a reference that does not resolve',
    { type: 'object', properties: { x: { $ref: '#/properties/toString' } } },
  ],
  [
    'it has a pattern that cannot be matched in linear time',
    { type: 'object', patternProperties: { '(?=a)': { type: 'string' } } },
  ],
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
