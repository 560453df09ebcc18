// Checks a value against the schema of a configuration file. A validator that compiles schemas would take longer than the rest of a start.
import { isDeepStrictEqual } from 'node:util';
import { didYouMean } from './nearest-name.ts';
import type { Schema, TypeName } from './schema.ts';

/** One way in which a value does not match. `place` says whether its key or its value is wrong. */
export interface Misfit {
  readonly path: readonly string[];
  readonly place: 'key' | 'value';
  readonly message: string;
}

type Path = readonly string[];
type YamlMap = Readonly<Record<string, unknown>>;

const isMap = (value: unknown): value is YamlMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const IS_TYPE: Readonly<Record<TypeName, (value: unknown) => boolean>> = {
  null: (value) => value === null,
  boolean: (value) => typeof value === 'boolean',
  integer: Number.isInteger,
  number: Number.isFinite,
  string: (value) => typeof value === 'string',
  array: Array.isArray,
  object: isMap,
};

/** Every way in which a value does not match a schema; at most one for each key. Values are not coerced or filled in. */
export function misfits(schema: Schema, value: unknown): readonly Misfit[] {
  const found = new Map<string, Misfit>();
  for (const misfit of misfitsOf(schema, value, [])) {
    const key = JSON.stringify(misfit.path);
    if (!found.has(key)) found.set(key, misfit);
  }
  return [...found.values()];
}

function* misfitsOf(schema: Schema, value: unknown, path: Path): Generator<Misfit> {
  const isOfType = [schema.type].flat().some((type) => IS_TYPE[type](value));
  if (!isOfType) yield { path, place: 'value', message: schema.mustBe + otherType(schema, value) };
  else {
    if (!fits(schema, value)) yield { path, place: 'value', message: schema.whyNot?.(value as never) ?? schema.mustBe };
    if (Array.isArray(value)) yield* misfitsOfItems(schema, value, path);
    else if (isMap(value)) yield* misfitsOfKeys(schema, value, path);
  }
}

/** Completes a message. The value is not repeated: it may be a secret in the wrong place. */
function otherType(schema: Schema, value: unknown): string {
  const isFraction = typeof value === 'number' && schema.type === 'integer';
  return isFraction ? '' : `, not ${typeName(value)}`;
}

/** Whether a value of the right type fits, apart from what is in it. */
function fits(schema: Schema, value: unknown): boolean {
  if (schema.enum !== undefined && !schema.enum.some((allowed) => allowed === value)) return false;
  if (typeof value === 'number') return value >= (schema.minimum ?? -Infinity) && value <= (schema.maximum ?? Infinity);
  if (Array.isArray(value)) {
    const hasRoom = value.length >= (schema.minItems ?? 0) && value.length <= (schema.maxItems ?? Infinity);
    // In this order: comparing all with all takes too long where there are too many.
    return hasRoom && !(schema.uniqueItems === true && hasDuplicates(value));
  }
  if (isMap(value) && Object.keys(value).length > (schema.maxProperties ?? Infinity)) return false;
  return (typeof value !== 'string' && !isMap(value)) || schema.passes === undefined || schema.passes(value as never);
}

function hasDuplicates(values: readonly unknown[]): boolean {
  return values.some((one, at) => values.slice(0, at).some((other) => isDeepStrictEqual(one, other)));
}

function* misfitsOfItems({ items }: Schema, values: readonly unknown[], path: Path): Generator<Misfit> {
  if (items === undefined) return;
  for (const [at, value] of values.entries()) yield* misfitsOf(items, value, [...path, String(at)]);
}

function* misfitsOfKeys(schema: Schema, map: YamlMap, path: Path): Generator<Misfit> {
  const { properties = {}, required = [], propertyNames, additionalProperties } = schema;
  for (const key of required) {
    if (!Object.hasOwn(map, key)) yield { path: [...path, key], place: 'key', message: 'is missing' };
  }
  for (const [key, value] of Object.entries(map)) {
    const at = [...path, key];
    if (propertyNames !== undefined && !patternOf(propertyNames.pattern).test(key)) {
      yield { path: at, place: 'key', message: propertyNames.mustBe };
    }
    const inner = Object.hasOwn(properties, key) ? properties[key] : additionalProperties;
    if (inner === false) {
      const message = `is not a known key${didYouMean(key, Object.keys(properties))}`;
      yield { path: at, place: 'key', message };
    } else if (inner !== undefined) yield* misfitsOf(inner, value, at);
  }
}

/** The patterns of names, each compiled once: there are few, and all are constants. */
const patterns = new Map<string, RegExp>();

function patternOf(source: string): RegExp {
  const pattern = patterns.get(source) ?? new RegExp(source, 'u');
  patterns.set(source, pattern);
  return pattern;
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  const names: Readonly<Record<string, string>> = { string: 'text', object: 'a map', boolean: 'true or false' };
  return names[typeof value] ?? `a ${typeof value}`;
}
