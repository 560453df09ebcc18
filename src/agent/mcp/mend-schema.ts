// Mends input schemas as MCP servers really send them: what their libraries leave out, set to null, or spell as other dialects do.
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts';
import { type Holds, heldBy } from '../../domain/schema/json-schema.ts';
import { isLinearPattern } from '../result/linear-pattern.ts';

/** Keywords of newer drafts that hold schemas. */
const NEWER: Readonly<Record<string, Holds>> = {
  $defs: 'map',
  dependentSchemas: 'map',
  prefixItems: 'list',
  unevaluatedItems: 'schema',
  unevaluatedProperties: 'schema',
};

/** What type libraries and older dialects call the types of JSON Schema. */
const TYPES: Readonly<Record<string, string>> = {
  str: 'string',
  text: 'string',
  bool: 'boolean',
  int: 'integer',
  int32: 'integer',
  int64: 'integer',
  long: 'integer',
  float: 'number',
  double: 'number',
  decimal: 'number',
  dict: 'object',
  map: 'object',
  struct: 'object',
  list: 'array',
  tuple: 'array',
  none: 'null',
};
const ANY_TYPE = new Set(['any', 'mixed', 'unknown', '']);

const isText = (value: JsonValue) => typeof value === 'string';
const isNumber = (value: JsonValue) => typeof value === 'number' && Number.isFinite(value);
const isCount = (value: JsonValue) => Number.isSafeInteger(value) && Number(value) >= 0;
const isFlag = (value: JsonValue) => typeof value === 'boolean';

/** What a keyword's value has to be; one that is not is left out. */
const FITS: Readonly<Record<string, (value: JsonValue) => boolean>> = {
  ...every(['title', 'description', 'format', '$comment', 'contentMediaType', 'contentEncoding'], isText),
  ...every(['maximum', 'minimum', 'exclusiveMaximum', 'exclusiveMinimum'], isNumber),
  ...every(['maxLength', 'minLength', 'maxItems', 'minItems', 'maxProperties', 'minProperties'], isCount),
  ...every(['uniqueItems', 'readOnly', 'writeOnly'], isFlag),
  multipleOf: (value) => isNumber(value) && Number(value) > 0,
  pattern: (value) => typeof value === 'string' && isLinearPattern(value),
  enum: (value) => Array.isArray(value) && value.length > 0,
  examples: Array.isArray,
};

function every<T>(names: readonly string[], fits: T): Record<string, T> {
  return Object.fromEntries(names.map((name) => [name, fits]));
}

/** What these mean is their value, null too. */
const VALUES = new Set(['default', 'const', 'example']);

/** Mends one keyword's value; undefined leaves the keyword out. */
const MENDED: Readonly<Record<string, (value: JsonValue) => JsonValue | undefined>> = {
  type: typeOf,
  required: namesIn,
  enum: (value) => (Array.isArray(value) ? distinct(value) : value),
};

function typeOf(value: JsonValue): JsonValue | undefined {
  if (Array.isArray(value)) {
    const types = distinct(value.map(typeOf).filter((type) => type !== undefined));
    return types.length < value.length && types.length === 0 ? undefined : types.length === 1 ? types[0] : types;
  }
  if (typeof value !== 'string') return value;
  const name = value.toLowerCase();
  return ANY_TYPE.has(name) ? undefined : (TYPES[name] ?? name);
}

function namesIn(value: JsonValue): JsonValue | undefined {
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? distinct(value.filter(isText)) : undefined;
}

const distinct = <T extends JsonValue>(values: readonly T[]): T[] => [
  ...new Map(values.map((value) => [JSON.stringify(value), value])).values(),
];

/**
 * The same schema with each fault mended that leaves its meaning clear, or else without the keyword at fault, so that it says less than
 * its server checks. `refer` says how a reference is written; one that it has nothing for becomes a schema of any value. What stays
 * wrong is for the validator to find. The value must not be nested so deeply that a recursion fails.
 */
export function mendSchema(root: JsonObject, refer: (ref: string) => string | undefined): JsonObject {
  const mendOne = (given: JsonObject): JsonObject => {
    const entries = Object.entries(inOneDialect(given)).flatMap(([name, value]): [string, JsonValue][] => {
      const holds = heldBy(name) ?? NEWER[name];
      if (VALUES.has(name) || holds === undefined) return [[name, value]];
      if (name === '$ref') {
        const ref = typeof value === 'string' ? refer(value) : undefined;
        return ref === undefined ? [] : [[name, ref]];
      }
      const mended = holds === 'nothing' ? mendValue(name, value) : mendHeld(holds, value, mendOne);
      return mended === undefined ? [] : [[name, mended]];
    });
    return withRequired(given, Object.fromEntries(entries));
  };
  return mendOne(root);
}

type MendOne = (schema: JsonObject) => JsonObject;

function mendValue(name: string, value: JsonValue): JsonValue | undefined {
  const mended = value === null ? undefined : (MENDED[name]?.(value) ?? (name in MENDED ? undefined : value));
  return mended === undefined || FITS[name]?.(mended) === false ? undefined : mended;
}

/** Draft 4 and OpenAPI have flags instead of limits, and positions under `items`. */
function inOneDialect(schema: JsonObject): JsonObject {
  const { exclusiveMinimum, exclusiveMaximum, items, additionalItems, ...rest } = schema;
  const limits = [
    ['exclusiveMinimum', exclusiveMinimum, 'minimum'],
    ['exclusiveMaximum', exclusiveMaximum, 'maximum'],
  ] as const;
  for (const [name, value, limit] of limits) {
    if (value === true && rest[limit] !== undefined) {
      rest[name] = rest[limit];
      delete rest[limit];
    } else if (value !== undefined) rest[name] = value;
  }
  if (Array.isArray(items) && rest['prefixItems'] === undefined) {
    if (items.length > 0) rest['prefixItems'] = items;
    if (additionalItems !== undefined) rest['items'] = additionalItems;
    return rest;
  }
  if (items !== undefined) rest['items'] = items;
  if (additionalItems !== undefined) rest['additionalItems'] = additionalItems;
  return rest;
}

function mendHeld(holds: Holds, value: JsonValue, mendOne: MendOne): JsonValue | undefined {
  if (Array.isArray(value)) {
    const list = value.flatMap((one) => mendInner(one, mendOne) ?? []);
    return (holds === 'list' || holds === 'schema or list') && list.length > 0 ? list : undefined;
  }
  // Languages without maps send an empty list for an empty one.
  if (holds === 'list' || value === null) return undefined;
  if (holds !== 'map') return mendInner(value, mendOne);
  if (!isJsonObject(value)) return undefined;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      Array.isArray(inner) ? inner : (mendInner(inner, mendOne) ?? {}),
    ]),
  );
}

/** A schema, or what stands for one; undefined for what says nothing. */
function mendInner(value: JsonValue, mendOne: MendOne): JsonValue | undefined {
  if (isJsonObject(value)) return mendOne(value);
  if (typeof value === 'boolean') return value;
  return typeof value === 'string' && typeOf(value) !== undefined ? { type: typeOf(value)! } : undefined;
}

/** Draft 3 says of each property whether it is required. Patterns that can't be matched say nothing of names. */
function withRequired(given: JsonObject, mended: JsonObject): JsonObject {
  const properties = isJsonObject(given['properties']) ? given['properties'] : {};
  const marked = Object.entries(properties).flatMap(([name, one]) =>
    isJsonObject(one) && one['required'] === true ? [name] : [],
  );
  const listed = Array.isArray(mended['required']) ? mended['required'] : [];
  const required = marked.length === 0 ? {} : { required: distinct([...listed, ...marked]) };
  const patterns = mended['patternProperties'];
  if (!isJsonObject(patterns) || Object.keys(patterns).every(isLinearPattern)) return { ...mended, ...required };
  const { additionalProperties: _others, ...rest } = mended;
  const usable = Object.entries(patterns).filter(([pattern]) => isLinearPattern(pattern));
  return { ...rest, ...required, patternProperties: Object.fromEntries(usable) };
}
