// Converts JSON Schema of newer drafts and of OpenAPI to Draft-07.
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { listSchemas, mapSchemas } from './json-schema.ts';

/**
 * Rewrites newer keywords of one schema in Draft-07; what Draft-07 can't express stays unchanged. For `mapSchemas`, which
 * continues into what is held under its new name.
 */
export function inDraft07(schema: JsonObject): JsonObject {
  const { $defs, prefixItems, nullable, ...rest } = schema;
  if (isJsonObject($defs)) rest['definitions'] = { ...objectOf(rest['definitions']), ...$defs };
  if (Array.isArray(prefixItems)) {
    if (rest['items'] !== undefined) rest['additionalItems'] = rest['items'];
    rest['items'] = prefixItems;
  }
  if (nullable === true && typeof rest['type'] === 'string') rest['type'] = [rest['type'], 'null'];
  const ref = rest['$ref'];
  if (typeof ref === 'string') rest['$ref'] = ref.replaceAll('/$defs/', '/definitions/');
  return rest;
}

const NEWER_DIALECTS = /^https?:\/\/json-schema\.org\/draft\/20(?:19-09|20-12)\/schema#?$/;
/** A look-around: what the spelling of an e-mail address in schema libraries has. */
const LOOK_AROUND = /\(\?<?[=!]/;

/**
 * A schema as libraries of clients make it from types: newer words are rewritten, and a root that refers to itself (`#`)
 * becomes a definition. A pattern that can't be matched in linear time is left out where a `format` says the same;
 * elsewhere it is left to be refused.
 */
export function fromClientLibrary(schema: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonObject(schema)) return schema;
  const { $schema, ...rest } = schema;
  const isNewer = typeof $schema === 'string' && NEWER_DIALECTS.test($schema);
  const root = $schema === undefined || isNewer ? rest : schema;
  return withNamedRoot(mapSchemas(root, (one) => withoutSpelling(inDraft07(one))));
}

/** The same schema with its root among the definitions, when something in it refers to the root. */
function withNamedRoot(schema: JsonObject): JsonObject {
  if (!listSchemas(schema).some((one) => one.schema['$ref'] === '#')) return schema;
  const { definitions, ...root } = schema;
  const others = objectOf(definitions);
  let name = 'root';
  while (Object.hasOwn(others, name)) name += '_';
  const $ref = `#/definitions/${name}`;
  const whole = { $ref, definitions: { ...others, [name]: root } };
  return mapSchemas(whole, (one) => (one['$ref'] === '#' ? { ...one, $ref } : one));
}

function withoutSpelling(schema: JsonObject): JsonObject {
  const { pattern, ...rest } = schema;
  const isSpelling = typeof rest['format'] === 'string' && typeof pattern === 'string' && LOOK_AROUND.test(pattern);
  return isSpelling ? rest : schema;
}

const objectOf = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {});
