// pydantic's patterns of a Decimal, as `model_json_schema()` of 2.13 writes them, in words of a linear search.
import { expect, test } from 'vitest';
import { findSchemaFault } from '../../../src/agent/result/result-schema.ts';
import { decimalPattern } from '../../../src/domain/schema/decimal-patterns.ts';
import { readOutputSchema } from '../../../src/domain/schema/output-schema.ts';

const PATTERNS: readonly (readonly [of: string, pattern: string])[] = [
  ['Decimal', String.raw`^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$`],
  ['decimal_places=2', String.raw`^(?!^[-+.]*$)[+-]?0*\d*\.?\d{0,2}0*$`],
  ['decimal_places=0', String.raw`^(?!^[-+.]*$)[+-]?0*\d*\.?\d{0,0}0*$`],
  ['max_digits=4, decimal_places=2', String.raw`^(?!^[-+.]*$)[+-]?0*(?:\d{0,2}|(?=[\d.]{1,5}0*$)\d{0,2}\.\d{0,2}0*$)`],
  ['max_digits=2, decimal_places=2', String.raw`^(?!^[-+.]*$)[+-]?0*(?:\d{0,0}|(?=[\d.]{1,3}0*$)\d{0,0}\.\d{0,2}0*$)`],
  ['max_digits=3, decimal_places=0', String.raw`^(?!^[-+.]*$)[+-]?0*(?:\d{0,3}|(?=[\d.]{1,4}0*$)\d{0,3}\.\d{0,0}0*$)`],
];

/** Every text of up to so many of these characters. */
function* textsOf(characters: string, most: number, begin = ''): Generator<string> {
  yield begin;
  if (begin.length < most) for (const next of characters) yield* textsOf(characters, most, begin + next);
}

test.each(PATTERNS)('of %s takes the same texts, all of each text', { tags: ['M4-schemas'] }, (_of, pattern) => {
  const same = decimalPattern(pattern)!;
  const [before, after] = [new RegExp(`${pattern}$`), new RegExp(same)];
  expect([...textsOf('-.01x', 6)].filter((text) => before.test(text) !== after.test(text))).toEqual([]);
});

test('a schema with amounts of money is read', { tags: ['M4-schemas'] }, () => {
  const amount = (pattern: string) => ({ anyOf: [{ type: 'number' }, { pattern, type: 'string' }] });
  const properties = Object.fromEntries(PATTERNS.map(([of, pattern]) => [of, amount(pattern)]));
  const schema = { type: 'object', properties, required: Object.keys(properties), title: 'Bill' };
  expect(findSchemaFault(readOutputSchema(schema, 'schema'))).toBeNull();
});

test('what means something else stays', () => {
  const others = [
    String.raw`^(?!^[-+.]*$)[+-]?0*(?:\d{0,8}|(?=[\d.]{1,9}0*$)\d*\.\d*0*$)`,
    String.raw`^(?!^[-+.]*$)[+-]?0*(?:\d{0,6}|(?=[\d.]{1,5}0*$)\d{0,6}\.\d{0,2}0*$)`,
    '^(?!x)y$',
  ];
  for (const pattern of others) expect(decimalPattern(pattern)).toBeUndefined();
});
