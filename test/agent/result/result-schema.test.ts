// Results against schemas: Draft-07 as specified, and hostile schemas.
import { describe, expect, test } from 'vitest';
import { compileResultCheck, findSchemaFault } from '../../../src/agent/result/result-schema.ts';
import type { JsonValue } from '../../../src/domain/json.ts';
import { readOutputSchema } from '../../../src/domain/schema/output-schema.ts';
import { quietCpuMsOf } from '../../support/time/machine-speed.ts';

const read = (schema: JsonValue) => readOutputSchema(schema, 'schema');
const checkOf = (schema: JsonValue) => compileResultCheck(read(schema));

/** A condition. Spelled out, the object would look like a promise to the linter. */
function choose(condition: JsonValue | undefined, yes: JsonValue, no?: JsonValue): JsonValue {
  const parts = [['if', condition] as const, ['then', yes] as const, ['else', no] as const];
  return Object.fromEntries(parts.filter(([, part]) => part !== undefined)) as JsonValue;
}

interface DraftCase {
  readonly schema: JsonValue;
  readonly fit: readonly JsonValue[];
  readonly unfit: readonly JsonValue[];
}

const list = {
  $ref: '#/definitions/list',
  definitions: {
    list: { type: ['object', 'null'], required: ['next'], properties: { next: { $ref: '#/definitions/list' } } },
  },
};

const DRAFT_07: readonly DraftCase[] = [
  { schema: true, fit: [null, 1, {}, []], unfit: [] },
  { schema: false, fit: [], unfit: [null, 1, {}, []] },
  { schema: { type: 'integer' }, fit: [0, -1, 1.0], unfit: [1.5, '1', null, true, []] },
  { schema: { type: 'number' }, fit: [0, 1.5], unfit: ['1.5', null] },
  { schema: { type: 'null' }, fit: [null], unfit: [0, '', false, {}] },
  { schema: { type: 'boolean' }, fit: [true, false], unfit: [0, 'true', null] },
  { schema: { type: ['string', 'null'] }, fit: ['', null], unfit: [0, []] },
  { schema: { type: 'object' }, fit: [{}], unfit: [[], null] },
  { schema: { type: 'array' }, fit: [[]], unfit: [{}, null] },
  { schema: { enum: [1, 'a', null, { b: [2] }] }, fit: [1, 'a', null, { b: [2] }], unfit: ['1', { b: [3] }, false] },
  { schema: { const: { a: 1, b: 2 } }, fit: [{ b: 2, a: 1 }], unfit: [{ a: 1 }, null] },
  { schema: { const: 0 }, fit: [0], unfit: [false, '0', null] },
  { schema: { const: null }, fit: [null], unfit: [0, {}] },
  { schema: { minimum: 1, exclusiveMaximum: 3 }, fit: [1, 2.9, 'x'], unfit: [0.9, 3] },
  { schema: { multipleOf: 0.5 }, fit: [1.5, 0], unfit: [1.2] },
  { schema: { multipleOf: 0.01 }, fit: [19.99, 0.07, 1.1, 1e21, 4.35, -19.99], unfit: [19.995, 1e-7] },
  { schema: { multipleOf: 1e-8 }, fit: [12.3456e-4, 1e300], unfit: [1e-9, 5e-324] },
  { schema: { multipleOf: 3 }, fit: [9007199254740993e3, 1e3 - 1], unfit: [1e21, 0.3] },
  { schema: { minLength: 2, maxLength: 2 }, fit: ['ab', '😀😀', 1], unfit: ['a', '😀'] },
  { schema: { pattern: '^a+$' }, fit: ['aa', 1], unfit: ['b', ''] },
  { schema: { format: 'date-time', contentEncoding: 'base64' }, fit: ['not a date', 1], unfit: [] },
  { schema: { items: { type: 'string' }, minItems: 1 }, fit: [['a'], {}], unfit: [[], [1]] },
  { schema: { items: [{ type: 'string' }], additionalItems: false }, fit: [[], ['a']], unfit: [[1], ['a', 1]] },
  { schema: { additionalItems: false }, fit: [[1, 2]], unfit: [] },
  { schema: { contains: { const: 1 } }, fit: [[0, 1]], unfit: [[], [0]] },
  {
    schema: { uniqueItems: true },
    fit: [
      [1, true],
      [{ a: 1 }, { a: 2 }],
    ],
    unfit: [
      [1, 1],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    ],
  },
  { schema: { required: ['a'] }, fit: [{ a: null }, []], unfit: [{}, { b: 1 }] },
  { schema: { required: ['toString', 'constructor'] }, fit: [{ toString: 1, constructor: 2 }], unfit: [{}] },
  { schema: { properties: { toString: { type: 'string' } } }, fit: [{}, { toString: 'x' }], unfit: [{ toString: 1 }] },
  { schema: { properties: { a: false } }, fit: [{}], unfit: [{ a: 1 }] },
  {
    schema: { properties: { a: {} }, additionalProperties: false },
    fit: [{ a: 1 }],
    unfit: [{ b: 1 }, JSON.parse('{"__proto__":1}')],
  },
  {
    schema: { patternProperties: { '^n': { type: 'number' } }, additionalProperties: { type: 'string' } },
    fit: [{ n1: 1, x: 'y' }],
    unfit: [{ n1: 'a' }, { x: 1 }],
  },
  { schema: { propertyNames: { maxLength: 2 } }, fit: [{ ab: 1 }], unfit: [{ abc: 1 }] },
  { schema: { minProperties: 1, maxProperties: 1 }, fit: [{ a: 1 }], unfit: [{}, { a: 1, b: 2 }] },
  {
    schema: { dependencies: { a: ['b'], c: { required: ['d'] } } },
    fit: [{}, { a: 1, b: 1 }],
    unfit: [{ a: 1 }, { c: 1 }],
  },
  { schema: { allOf: [{ minimum: 1 }, { maximum: 2 }] }, fit: [1.5], unfit: [0, 3] },
  { schema: { anyOf: [{ type: 'string' }, { minimum: 5 }] }, fit: ['a', 5], unfit: [4] },
  { schema: { oneOf: [{ type: 'integer' }, { minimum: 2 }] }, fit: [1, 2.5], unfit: [3] },
  { schema: { not: { type: 'string' } }, fit: [1], unfit: ['a'] },
  { schema: choose({ type: 'string' }, { minLength: 1 }, { minimum: 1 }), fit: ['a', 1], unfit: ['', 0] },
  { schema: choose(undefined, { const: 1 }), fit: [2], unfit: [] },
  {
    schema: { properties: { a: { $ref: '#/definitions/t', maxItems: 0 } }, definitions: { t: { type: 'array' } } },
    fit: [{ a: [1] }],
    unfit: [{ a: 1 }],
  },
  {
    schema: { items: { $ref: '#/definitions/a~1b%25' }, definitions: { 'a/b%': { const: 1 } } },
    fit: [[1]],
    unfit: [[2]],
  },
  { schema: list, fit: [null, { next: { next: null } }], unfit: [{}, { next: { next: 1 } }] },
  {
    schema: { type: 'object', default: { a: 1 }, properties: { a: { default: 7 } }, required: ['a'] },
    fit: [{ a: 1 }],
    unfit: [{}],
  },
];

test.each(DRAFT_07)('$schema', { tags: ['§4.4-rule-2'] }, ({ schema, fit, unfit }) => {
  expect(findSchemaFault(read(schema))).toBeNull();
  const check = checkOf(schema);
  for (const value of fit) expect(check(value)).toEqual([]);
  for (const value of unfit) expect(check(value)).not.toEqual([]);
});

test('every price of two decimals is a multiple of 0.01, and no other', () => {
  const check = checkOf({ items: { multipleOf: 0.01 } });
  const prices = Array.from({ length: 10_000 }, (_, cents) => `${Math.floor(cents / 100)}.${cents % 100}`);
  expect(check(prices.map((price) => Number(price)))).toEqual([]);
  expect(check([19.999])).toEqual(['result/0 must be multiple of 0.01']);
  expect(check(prices.map((price) => Number(`${price}001`)))).toHaveLength(11);
});

test('a value is not changed by its check: nothing is coerced, filled in or removed', { tags: ['C14-results'] }, () => {
  const check = checkOf({ properties: { a: { type: 'integer', default: 1 } }, additionalProperties: false });
  const value = { a: '1', b: 2 };
  expect(check(value)).toEqual(
    ['result/a must be integer', 'result must NOT have additional properties ("b")'].toSorted((a) =>
      a.includes('additional') ? -1 : 1,
    ),
  );
  expect(value).toEqual({ a: '1', b: 2 });
});

test('faults name their paths, and there are not too many of them', () => {
  const check = checkOf({ items: { type: 'integer' } });
  const faults = check(Array.from({ length: 500 }, () => 'x'));
  expect(faults[0]).toBe('result/0 must be integer');
  expect(faults).toHaveLength(11);
  expect(faults.at(-1)).toBe('and 490 more');
});

test.each([
  [{ type: 'strin' }, '/type'],
  [{ properties: 7 }, '/properties'],
  [{ properties: { a: { minLength: -1 } } }, '/properties/a/minLength'],
  [{ required: 'a' }, '/required'],
  [{ exclusiveMinimum: true }, '/exclusiveMinimum'],
  [{ items: { pattern: '(' } }, '/items/pattern'],
  [{ not: { pattern: '(a)\\1' } }, '/not/pattern'],
  [{ patternProperties: { '(?=a)': {} } }, '/patternProperties'],
  [{ multipleOf: 0 }, '/multipleOf'],
] satisfies [JsonValue, string][])('%j is refused as a schema, with the place of the fault', (schema, pointer) => {
  expect(findSchemaFault(read(schema))?.pointer).toBe(pointer);
});

test('a schema with no possible compilation has a fault, not an exception', () => {
  expect(findSchemaFault(read({ enum: [] }))).toMatchObject({ mustBe: expect.any(String) });
});

describe('schemas that mean harm', () => {
  test('a keyword that would make the check a promise has no power', () => {
    expect(checkOf({ $async: true, type: 'string' })(7)).not.toEqual([]);
  });

  test('a check that doubles at each level of the value is refused within its time limit', () => {
    const twice = { items: { $ref: '#/definitions/a' } };
    const check = checkOf({ $ref: '#/definitions/a', definitions: { a: { allOf: [twice, twice] } } });
    const value = JSON.parse(`${'['.repeat(60)}${']'.repeat(60)}`);
    const spentMs = quietCpuMsOf(() => expect(check(value)).toEqual([expect.stringContaining('too large')]));
    expect(spentMs).toBeLessThan(5_000);
    expect(check(1)).toEqual([]);
  });

  test('faults of many items, each against many schemas, are not all collected', () => {
    const wrong = { anyOf: Array.from({ length: 450 }, () => ({ type: 'string' })) };
    const value = Array.from({ length: 20_000 }, () => 1);
    expect(checkOf({ items: wrong })(value).at(-1)).toBe('and 441 more');
    expect(checkOf({ contains: wrong })(value)).toEqual(['result must contain at least 1 valid item']);
  });

  test('a value nested deeper than the stack is a refusal', () => {
    const check = checkOf(list);
    let value: JsonValue = null;
    for (let i = 0; i < 200_000; i += 1) value = { next: value };
    expect(check(value)).toEqual([expect.stringContaining('too deep')]);
  });
});
