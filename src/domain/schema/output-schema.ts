// The schema of a structured result: what is refused without compiling, and the resulting Draft-07 schema (C14).
import { KB } from '../byte-units.ts';
import { unprocessable } from '../errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { isKeyword, listSchemas, mapSchemas, type SchemaLocation } from './json-schema.ts';
import { inWordsOfDraft07, withPointers } from './newer-drafts.ts';
import { pointerAsSent } from './pointers.ts';

const MAX_BYTES = 64 * KB;
const MAX_DEPTH = 32;
const MAX_PROPERTIES = 1_000;
const MAX_ENUM_VALUES = 1_000;
const MAX_SCHEMAS = 5_000;
/** Longest JSON pointer: every schema has one, and long ones under a long name would cost more than the schema. */
const MAX_POINTER_LENGTH = 4_096;
/** Maximum of schemas that may apply to one value. */
const MAX_LOOKS = 1_000;

const REFUSED_KEYWORDS: ReadonlySet<string> = new Set([
  'prefixItems',
  '$dynamicRef',
  '$dynamicAnchor',
  '$recursiveRef',
  '$recursiveAnchor',
  '$anchor',
  '$defs',
  'unevaluatedProperties',
  'unevaluatedItems',
  'dependentSchemas',
  'dependentRequired',
  'minContains',
  'maxContains',
  'nullable',
]);
const DRAFT_07 = /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/;

/** The error for the caller of an unacceptable schema. `pointer` is the place in the schema. */
export type SchemaRefusal = (pointer: string, mustBe: string) => Error;

/** Makes refusals that name the place: `output_format.schema/properties/a: must …` */
export function schemaRefusal(field: string): SchemaRefusal {
  return (pointer, mustBe) => unprocessable(field + pointer, mustBe);
}

/**
 * The schema to work with: Draft-07 keywords only, without `$id`, `$schema` and `$comment`, of any schema that Draft-07 can express.
 * Everything that can be told without compiling is checked here, in time that grows with the schema's size alone. Throws
 * `unprocessable`, with the place in the schema as it was sent.
 */
export function readOutputSchema(value: JsonValue | undefined, field: string): JsonObject {
  const refuseAt = schemaRefusal(field);
  const sent = typeof value === 'boolean' ? booleanSchema(value) : value;
  if (!isJsonObject(sent)) throw refuseAt('', 'must be a JSON Schema: an object, true or false');
  const refuse: SchemaRefusal = (pointer, mustBe) => refuseAt(pointerAsSent(sent, pointer), mustBe);
  requireSize(sent, refuse);
  const worded = inWordsOfDraft07(sent);
  const counts = { schemas: 0, properties: 0, enumValues: 0 };
  mapSchemas(worded, (inner, place) => {
    requireLimits(inner, place, { counts, refuse });
    return inner;
  });
  const clean = mapSchemas(withPointers(worded), (inner, place) => cleanSchema(inner, place, refuse));
  requireRefs(clean, refuse);
  return clean;
}

function booleanSchema(value: boolean): JsonObject {
  return value ? {} : { not: {} };
}

function requireSize(schema: JsonObject, refuse: SchemaRefusal): void {
  // A lower bound first: a huge schema is refused before it is written out.
  const text = isLongerThan(schema, MAX_BYTES) ? null : JSON.stringify(schema);
  if (text === null || Buffer.byteLength(text) > MAX_BYTES) throw refuse('', `must be at most ${MAX_BYTES / KB} KB`);
  if (text.includes('"__proto__":')) throw refuse('', 'must not have "__proto__" as a name');
}

function isLongerThan(value: JsonValue, limit: number): boolean {
  let length = 0;
  const add = (inner: JsonValue): boolean => {
    length += typeof inner === 'string' ? inner.length + 2 : 1;
    if (length > limit) return true;
    if (Array.isArray(inner)) return inner.some(add);
    if (!isJsonObject(inner)) return false;
    for (const name in inner) {
      length += name.length + 3;
      if (add(inner[name]!)) return true;
    }
    return false;
  };
  return add(value);
}

interface Limits {
  readonly counts: { schemas: number; properties: number; enumValues: number };
  readonly refuse: SchemaRefusal;
}

function requireLimits(schema: JsonObject, { pointer, depth }: SchemaLocation, { counts, refuse }: Limits): void {
  if (depth > MAX_DEPTH) throw refuse('', `must not nest schemas deeper than ${MAX_DEPTH} levels`);
  if (pointer.length > MAX_POINTER_LENGTH) throw refuse('', 'must not have names that long around a schema');
  counts.schemas += 1;
  if (counts.schemas > MAX_SCHEMAS) throw refuse('', `must hold at most ${MAX_SCHEMAS} schemas in all`);
  for (const name of ['properties', 'patternProperties']) {
    const held = schema[name];
    if (isJsonObject(held)) counts.properties += Object.keys(held).length;
  }
  if (counts.properties > MAX_PROPERTIES) throw refuse('', `must have at most ${MAX_PROPERTIES} properties in all`);
  if (Array.isArray(schema['enum'])) counts.enumValues += schema['enum'].length;
  if (counts.enumValues > MAX_ENUM_VALUES) throw refuse('', `must have at most ${MAX_ENUM_VALUES} enum values in all`);
  const newer = Object.keys(schema).find((name) => REFUSED_KEYWORDS.has(name));
  if (newer !== undefined) throw refuse(`${pointer}/${newer}`, 'has no equivalent in JSON Schema Draft-07');
}

function cleanSchema(schema: JsonObject, { pointer }: SchemaLocation, refuse: SchemaRefusal): JsonObject {
  if (schema['$id'] !== undefined && (pointer !== '' || typeof schema['$id'] !== 'string'))
    throw refuse(`${pointer}/$id`, "must be a string, and only the root's is allowed");
  const draft = schema['$schema'];
  if (draft !== undefined && !(typeof draft === 'string' && DRAFT_07.test(draft)))
    throw refuse(`${pointer}/$schema`, 'must be "http://json-schema.org/draft-07/schema#"');
  return Object.fromEntries(Object.entries(schema).filter(([name]) => isKeyword(name)));
}

/** A schema as far as references go: the schemas that look at the same value as it does. */
interface Node {
  readonly looks: string[];
}

function requireRefs(root: JsonObject, refuse: SchemaRefusal): void {
  const schemas = new Map(listSchemas(root).map((entry) => [entry.pointer, entry]));
  const nodes = new Map<string, Node>();
  for (const { pointer, insteadOf, schema } of schemas.values()) {
    const ref = schema['$ref'];
    const looks = ref === undefined ? [] : [targetOf(ref, pointer, refuse)];
    if (looks.some((target) => !schemas.has(target) && !isBooleanDefinition(root, target)))
      throw refuse(`${pointer}/$ref`, 'must name a schema that exists in it');
    nodes.set(pointer, { looks });
    // Keywords next to a `$ref` are ignored, so they check nothing.
    if (insteadOf !== null && schemas.get(insteadOf)!.schema['$ref'] === undefined)
      nodes.get(insteadOf)!.looks.push(pointer);
  }
  requireFewLooks(nodes, refuse);
}

function isBooleanDefinition({ definitions }: JsonObject, pointer: string): boolean {
  const name = pointer.slice('/definitions/'.length).replaceAll('~1', '/').replaceAll('~0', '~');
  return isJsonObject(definitions) && Object.hasOwn(definitions, name) && typeof definitions[name] === 'boolean';
}

function targetOf(ref: JsonValue, pointer: string, refuse: SchemaRefusal): string {
  if (typeof ref !== 'string' || !ref.startsWith('#/'))
    throw refuse(`${pointer}/$ref`, 'must be local: #/definitions/…');
  try {
    return decodeURIComponent(ref.slice(1));
  } catch {
    throw refuse(`${pointer}/$ref`, 'must be a well-formed reference');
  }
}

/** Refuses schemas that would check one value forever, or so often that it amounts to the same. */
function requireFewLooks(nodes: ReadonlyMap<string, Node>, refuse: SchemaRefusal): void {
  const known = new Map<string, number>();
  const open = new Set<string>();
  const count = (pointer: string): number => {
    const before = known.get(pointer);
    if (before !== undefined) return before;
    if (open.has(pointer)) throw refuse(pointer, 'must not refer to itself for the same value');
    open.add(pointer);
    let looks = 1;
    for (const next of nodes.get(pointer)?.looks ?? []) looks += count(next);
    if (looks > MAX_LOOKS) throw refuse(pointer, `must not apply more than ${MAX_LOOKS} schemas to one value`);
    open.delete(pointer);
    known.set(pointer, looks);
    return looks;
  };
  for (const pointer of nodes.keys()) count(pointer);
}
