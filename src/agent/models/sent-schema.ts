// What a model server is sent of a schema. Errand checks with the whole schema; what a server leaves out costs a correction at most.
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts';
import { listSchemas, mapSchemas } from '../../domain/schema/json-schema.ts';

/** llama.cpp and LM Studio repeat a rule of their grammar for each count, and refuse 2,000 of them. */
const FIRST_LARGE_COUNT = 1_000;
/** The same read bounds as integers of 64 bits. */
const FIRST_LARGE_BOUND = 2 ** 63;
const COUNTS = ['maxLength', 'minLength', 'maxItems', 'minItems'];
const BOUNDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'];
/** Values from which on a keyword is left out. */
const FIRST_REFUSED: ReadonlyMap<string, number> = new Map([
  ...COUNTS.map((name): [string, number] => [name, FIRST_LARGE_COUNT]),
  ...BOUNDS.map((name): [string, number] => [name, FIRST_LARGE_BOUND]),
]);
/** Keywords whose schemas have to be objects: schemas and lists of them; maps of them. */
const SCHEMAS: ReadonlySet<string> = new Set(['items', 'prefixItems', 'anyOf', 'oneOf', 'allOf']);
const MAPS: ReadonlySet<string> = new Set(['properties', 'definitions', '$defs']);

/** A schema that a reply is kept to. */
export function sentReplySchema(schema: JsonObject): JsonObject {
  return mapAll(schema, accepted);
}

/** The value of `response_format`. Servers with a grammar of their own obey it with and without `strict`; OpenAI only with it. */
export function chatFormat(schema: JsonObject): JsonObject {
  return {
    type: 'json_schema',
    json_schema: { name: 'result', schema: sentReplySchema(schema), strict: isClosed(schema) },
  };
}

/** Whether each object has exactly the properties that it names: OpenAI refuses `strict` for other schemas. */
function isClosed(schema: JsonObject): boolean {
  if (schema['type'] !== 'object') return false;
  return listSchemas(schema).every(({ schema: inner }) => {
    const { type, properties, required, additionalProperties } = inner;
    const isObject = type === 'object' || (Array.isArray(type) && type.includes('object')) || properties !== undefined;
    if (!isObject) return true;
    const names = isJsonObject(properties) ? Object.keys(properties) : [];
    return additionalProperties === false && Array.isArray(required) && names.every((name) => required.includes(name));
  });
}

/**
 * The parameters of a tool, with patterns in words. A server that builds a grammar of all tools refuses each call of a run for one
 * pattern that it can't express, and without such a grammar patterns are words for the model anyway.
 */
export function sentToolSchema(schema: JsonObject): JsonObject {
  return mapAll(schema, (inner) => withPatternInWords(accepted(inner)));
}

/** Also the definitions of newer drafts, which schemas of MCP servers have. */
function mapAll(schema: JsonObject, change: (schema: JsonObject) => JsonObject): JsonObject {
  return mapSchemas(schema, (inner) => {
    const changed = change(inner);
    const { $defs } = changed;
    if (!isJsonObject($defs)) return changed;
    return { ...changed, $defs: mapValues($defs, (one) => (isJsonObject(one) ? mapAll(one, change) : one)) };
  });
}

/** Without what servers refuse in any schema. */
function accepted(schema: JsonObject): JsonObject {
  const kept = Object.entries(schema).filter(([name, value]) => !isBeyond(name, value));
  return Object.fromEntries(
    kept.map(([name, value]) => {
      if (MAPS.has(name) && isJsonObject(value)) return [name, mapValues(value, withoutBooleans)];
      return [name, SCHEMAS.has(name) ? withoutBooleans(value) : value];
    }),
  );
}

function isBeyond(name: string, value: JsonValue): boolean {
  return typeof value === 'number' && Math.abs(value) >= (FIRST_REFUSED.get(name) ?? Infinity);
}

/** `true` and `false` as schemas that say the same, one by one or in a list. */
function withoutBooleans(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutBooleans);
  return typeof value === 'boolean' ? (value ? {} : { not: {} }) : value;
}

function withPatternInWords(schema: JsonObject): JsonObject {
  const { pattern, description, ...rest } = schema;
  if (typeof pattern !== 'string') return schema;
  const words = `Matches the regular expression ${pattern}`;
  return { ...rest, description: typeof description === 'string' ? `${description} ${words}` : words };
}

function mapValues(map: JsonObject, change: (value: JsonValue) => JsonValue): JsonObject {
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, change(value)]));
}
