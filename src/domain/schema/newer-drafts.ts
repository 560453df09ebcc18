// A whole schema of a newer draft, of OpenAPI, or as libraries make it from types, in Draft-07.
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { decimalPattern } from './decimal-patterns.ts';
import { inDraft07 } from './draft-07.ts';
import { isAnnotation, isKeyword, listSchemas, mapSchemas } from './json-schema.ts';
import { pointerInDraft07 } from './pointers.ts';

const NEWER_DIALECTS =
  /^https?:\/\/(?:json-schema\.org\/draft\/20(?:19-09|20-12)\/schema|spec\.openapis\.org\/oas\/3\.[01]\/.*)#?$/;
/** A look-around: what the spelling of an e-mail address in schema libraries has. */
const LOOK_AROUND = /\(\?<?[=!]/;

/**
 * The same schema in the words of Draft-07: newer ones are rewritten where they mean the same, and left to be refused where they don't.
 * A pattern that can't be matched in linear time is left out where a `format` says the same, and rewritten where it is a decimal's.
 */
export function inWordsOfDraft07(sent: JsonObject): JsonObject {
  const { $schema, ...rest } = sent;
  const isNewer = typeof $schema === 'string' && NEWER_DIALECTS.test($schema);
  const root = isNewer ? rest : sent;
  // Elsewhere, what is beside a reference is ignored.
  const heedsSiblings = isNewer || sent['$defs'] !== undefined;
  const words = (schema: JsonObject): JsonObject => {
    const moved = withMovedReference(root, schema);
    return withoutSpelling(inDraft07(heedsSiblings ? withSiblings(moved) : moved));
  };
  return mapSchemas(root, words);
}

/** References that name a schema by its `$id` as pointers, and a root that is referred to (`#`) as a definition. */
export function withPointers(schema: JsonObject): JsonObject {
  const schemas = listSchemas(schema);
  const hasIds = schemas.some((one) => one.schema['$id'] !== undefined);
  const refs = schemas.flatMap((one) => one.schema['$ref'] ?? []);
  // Below an `$id`, what begins with `#` would be meant from there on.
  const local = hasIds && !refs.some(isFragment) ? withoutIds(schema, schemas) : schema;
  return hasIds || refs.includes('#') ? withNamedRoot(local) : local;
}

function withMovedReference(root: JsonObject, schema: JsonObject): JsonObject {
  const { $ref } = schema;
  if (typeof $ref !== 'string' || !$ref.startsWith('#/')) return schema;
  return { ...schema, $ref: `#${pointerInDraft07(root, $ref.slice(1))}` };
}

/** A reference among the schemas that apply with what is beside it. */
function withSiblings(schema: JsonObject): JsonObject {
  const { $ref, allOf, ...rest } = schema;
  const isSaid = (name: string) => isKeyword(name) && !isAnnotation(name) && name !== 'definitions';
  if (typeof $ref !== 'string' || !(Object.keys(rest).some(isSaid) || Array.isArray(allOf))) return schema;
  return { ...rest, allOf: [...(Array.isArray(allOf) ? allOf : []), { $ref }] };
}

/** References by the `$id` of a schema in the document as pointers, and schemas without those ids. Others stay to be refused. */
function withoutIds(root: JsonObject, schemas: ReturnType<typeof listSchemas>): JsonObject {
  const pointers = new Map<string, string>();
  for (const { schema, pointer } of schemas) {
    const { $id } = schema;
    if (typeof $id === 'string' && !$id.startsWith('#') && !pointers.has($id)) pointers.set($id, pointer);
  }
  return mapSchemas(root, (schema, { pointer }) => {
    const { $id, ...rest } = schema;
    const isKnown = pointer !== '' && typeof $id === 'string' && pointers.get($id) === pointer;
    const { $ref } = schema;
    const target = typeof $ref === 'string' ? pointers.get($ref.replace(/#$/, '')) : undefined;
    const kept = isKnown ? rest : schema;
    return target === undefined ? kept : { ...kept, $ref: `#${target}` };
  });
}

const isFragment = (ref: JsonValue) => typeof ref === 'string' && ref.startsWith('#');

/** The same schema with its root among the definitions, when something in it refers to the root, which model servers don't know. */
function withNamedRoot(schema: JsonObject): JsonObject {
  if (!listSchemas(schema).some((one) => one.schema['$ref'] === '#')) return schema;
  const { definitions, $schema, $id, title, description, ...root } = schema;
  const others = isJsonObject(definitions) ? definitions : {};
  let name = 'root';
  while (Object.hasOwn(others, name)) name += '_';
  const $ref = `#/definitions/${name}`;
  const head = Object.entries({ $schema, $id, title, description }).filter(([, value]) => value !== undefined);
  const whole: JsonObject = {
    ...(Object.fromEntries(head) as JsonObject),
    $ref,
    definitions: { ...others, [name]: root },
  };
  return mapSchemas(whole, (one) => {
    const ref = one['$ref'];
    if (typeof ref !== 'string' || !ref.startsWith('#') || ref.startsWith('#/definitions/')) return one;
    return { ...one, $ref: $ref + ref.slice(1) };
  });
}

function withoutSpelling(schema: JsonObject): JsonObject {
  const { pattern, ...rest } = schema;
  if (typeof pattern !== 'string' || !LOOK_AROUND.test(pattern)) return schema;
  if (typeof rest['format'] === 'string') return rest;
  const same = decimalPattern(pattern);
  return same === undefined ? schema : { ...schema, pattern: same };
}
