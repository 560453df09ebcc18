// Says in Draft-07 what one schema of a newer draft, or of OpenAPI, says: a rewriting for each keyword.
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { isAnnotation } from './json-schema.ts';

/**
 * Rewrites newer keywords of one schema in Draft-07; what Draft-07 can't express stays unchanged. For `mapSchemas`, which
 * continues into what is held under its new name.
 */
export function inDraft07(schema: JsonObject): JsonObject {
  return REWRITINGS.reduce((rewritten, { keywords, rewrite }) => {
    const isThere = keywords.some((name) => rewritten[name] !== undefined);
    return isThere ? rewrite(rewritten) : rewritten;
  }, schema);
}

interface Rewriting {
  readonly keywords: readonly string[];
  readonly rewrite: (schema: JsonObject) => JsonObject;
}

/** In an order: what is unevaluated is told by keywords under their first names. */
const REWRITINGS: readonly Rewriting[] = [
  { keywords: ['unevaluatedProperties'], rewrite: closeProperties },
  { keywords: ['unevaluatedItems'], rewrite: closeItems },
  { keywords: ['prefixItems'], rewrite: nameTuple },
  { keywords: ['minContains', 'maxContains'], rewrite: countContained },
  { keywords: ['dependentRequired', 'dependentSchemas'], rewrite: joinDependencies },
  { keywords: ['exclusiveMinimum', 'exclusiveMaximum'], rewrite: excludeBounds },
  { keywords: ['nullable'], rewrite: admitNull },
  { keywords: ['$defs'], rewrite: nameDefinitions },
  { keywords: ['$ref'], rewrite: nameReference },
];

function nameDefinitions(schema: JsonObject): JsonObject {
  const { $defs, ...rest } = schema;
  const others = objectOf(rest['definitions']);
  const isAmbiguous = isJsonObject($defs) && Object.keys($defs).some((name) => Object.hasOwn(others, name));
  return isJsonObject($defs) && !isAmbiguous ? { ...rest, definitions: { ...others, ...$defs } } : schema;
}

function nameReference(schema: JsonObject): JsonObject {
  const { $ref } = schema;
  return typeof $ref === 'string' ? { ...schema, $ref: $ref.replaceAll('/$defs/', '/definitions/') } : schema;
}

function nameTuple(schema: JsonObject): JsonObject {
  const { prefixItems, items, ...rest } = schema;
  if (!Array.isArray(prefixItems)) return schema;
  return { ...rest, items: prefixItems, ...(items !== undefined && { additionalItems: items }) };
}

/** One item is what `contains` asks for by itself. */
function countContained(schema: JsonObject): JsonObject {
  const { minContains = 1, maxContains, contains, ...rest } = schema;
  if (contains === undefined) return rest;
  if (maxContains !== undefined) return schema;
  if (minContains === 0) return rest;
  return minContains === 1 ? { ...rest, contains } : schema;
}

function joinDependencies(schema: JsonObject): JsonObject {
  const { dependencies, dependentRequired, dependentSchemas, ...rest } = schema;
  const given = [dependencies, dependentRequired, dependentSchemas].filter((one) => one !== undefined);
  const parts = given.filter(isJsonObject);
  if (parts.length < given.length) return schema;
  const joined: JsonObject = Object.assign({}, ...parts);
  const names = parts.flatMap((part) => Object.keys(part));
  if (new Set(names).size === names.length) return { ...rest, dependencies: joined };
  return { ...rest, allOf: [...listOf(rest['allOf']), ...parts.map((part) => ({ dependencies: part }))] };
}

/** Where they are true and false, beside a bound, as OpenAPI 3.0 has them. */
function excludeBounds(schema: JsonObject): JsonObject {
  return ['Minimum', 'Maximum'].reduce((one, bound) => {
    const [exclusive, inclusive] = [`exclusive${bound}`, bound.toLowerCase()];
    const { [exclusive]: flag, [inclusive]: limit, ...rest } = one;
    if (flag === false) return limit === undefined ? rest : { ...rest, [inclusive]: limit };
    return flag === true && typeof limit === 'number' ? { ...rest, [exclusive]: limit } : one;
  }, schema);
}

/** Also where a list of values, or a reference, says all but that. */
function admitNull(schema: JsonObject): JsonObject {
  const { nullable, ...rest } = schema;
  if (nullable === false) return rest;
  if (nullable !== true) return schema;
  const { type, enum: values } = rest;
  if (type !== undefined && rest['const'] === undefined) {
    const types = [...new Set([...(Array.isArray(type) ? type : [type]), 'null'])];
    const all = Array.isArray(values) && !values.includes(null) ? { enum: [...values, null] } : {};
    return { ...rest, type: types, ...all };
  }
  const entries = Object.entries(rest);
  const stays = (name: string) =>
    isAnnotation(name) || name === '$defs' || name === 'definitions' || name === '$schema';
  const around = Object.fromEntries(entries.filter(([name]) => stays(name)));
  const inner = Object.fromEntries(entries.filter(([name]) => !stays(name)));
  return { ...around, anyOf: [inner, { type: 'null' }] };
}

/** What others of the same schema have looked at depends on them: on which of them fit. */
const CONDITIONAL = [
  '$ref',
  '$dynamicRef',
  '$recursiveRef',
  'anyOf',
  'oneOf',
  'if',
  'dependentSchemas',
  'dependencies',
];
const isConditional = (schema: JsonObject) => CONDITIONAL.some((name) => schema[name] !== undefined);
const isAnything = (schema: JsonValue) => schema === true || (isJsonObject(schema) && Object.keys(schema).length === 0);

function closeProperties(schema: JsonObject): JsonObject {
  const { unevaluatedProperties: others, ...rest } = schema;
  if (others === undefined || isAnything(others)) return rest;
  const known = evaluatedIn(rest);
  if (known === 'all') return rest;
  if (known === 'unknown') return schema;
  return { ...rest, ...known, additionalProperties: others };
}

interface Named {
  readonly properties?: JsonObject;
  readonly patternProperties?: JsonObject;
}

/** The properties that a schema looks at in any case, with those of schemas that always apply. */
function evaluatedIn(schema: JsonObject): Named | 'all' | 'unknown' {
  if (schema['additionalProperties'] !== undefined || schema['unevaluatedProperties'] !== undefined) return 'all';
  if (isConditional(schema)) return 'unknown';
  const found = listOf(schema['allOf']).filter(isJsonObject).map(evaluatedIn);
  if (found.includes('unknown')) return 'unknown';
  if (found.includes('all')) return 'all';
  const inner = found.filter((one) => typeof one !== 'string');
  const named = (keyword: keyof Named): Named => {
    const names = inner.flatMap((one) => Object.keys(one[keyword] ?? {}));
    const all = { ...Object.fromEntries(names.map((name) => [name, true])), ...objectOf(schema[keyword]) };
    return Object.keys(all).length === 0 ? {} : { [keyword]: all };
  };
  return { ...named('properties'), ...named('patternProperties') };
}

function closeItems(schema: JsonObject): JsonObject {
  const { unevaluatedItems: others, ...rest } = schema;
  const { items, prefixItems, additionalItems, contains, allOf } = rest;
  const isTuple = Array.isArray(items) && prefixItems === undefined;
  const hasRest = isTuple ? additionalItems !== undefined : items !== undefined;
  if (others === undefined || isAnything(others) || hasRest) return rest;
  if (isConditional(rest) || contains !== undefined || allOf !== undefined) return schema;
  return isTuple ? { ...rest, additionalItems: others } : { ...rest, items: others };
}

const objectOf = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {});
const listOf = (value: JsonValue | undefined): JsonValue[] => (Array.isArray(value) ? value : []);
