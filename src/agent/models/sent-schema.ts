// What a model server is sent of a schema. Errand checks with the whole schema; what a server leaves out costs a correction at most.
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts';
import { mapSchemas } from '../../domain/schema/json-schema.ts';

const COUNTS = ['maxLength', 'minLength', 'maxItems', 'minItems'] as const;
/** Servers whose grammar repeats a rule for each count refuse the call from 2,000 on: llama.cpp, LM Studio. */
const FIRST_LARGE_COUNT = 1_000;

/** A schema that a reply is kept to: without counts that a grammar can't express. */
export function sentReplySchema(schema: JsonObject): JsonObject {
  return mapAll(schema, withoutLargeCounts);
}

/**
 * The parameters of a tool: without large counts, and with patterns in words. A server that builds a grammar of all tools refuses
 * each call of a run for one pattern that it can't express, and without such a grammar patterns are words for the model anyway.
 */
export function sentToolSchema(schema: JsonObject): JsonObject {
  return mapAll(schema, (inner) => withPatternInWords(withoutLargeCounts(inner)));
}

/** Also the definitions of newer drafts, which schemas of MCP servers have. */
function mapAll(schema: JsonObject, change: (schema: JsonObject) => JsonObject): JsonObject {
  return mapSchemas(schema, (inner) => {
    const changed = change(inner);
    const { $defs } = changed;
    if (!isJsonObject($defs)) return changed;
    const defs = Object.entries($defs).map(([name, one]) => [name, isJsonObject(one) ? mapAll(one, change) : one]);
    return { ...changed, $defs: Object.fromEntries(defs) as JsonObject };
  });
}

function withoutLargeCounts(schema: JsonObject): JsonObject {
  const large = COUNTS.filter((name) => isLarge(schema[name]));
  if (large.length === 0) return schema;
  return Object.fromEntries(
    Object.entries(schema).filter(([name]) => !large.includes(name as (typeof COUNTS)[number])),
  );
}

function isLarge(value: JsonValue | undefined): boolean {
  return typeof value === 'number' && value >= FIRST_LARGE_COUNT;
}

function withPatternInWords(schema: JsonObject): JsonObject {
  const { pattern, description, ...rest } = schema;
  if (typeof pattern !== 'string') return schema;
  const words = `Matches the regular expression ${pattern}`;
  return { ...rest, description: typeof description === 'string' ? `${description} ${words}` : words };
}
