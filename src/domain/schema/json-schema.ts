// JSON Schema Draft-07 as a tree: its keywords, and which of them contain further schemas.
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';

/** What a keyword's value holds: schemas in some arrangement, or no schema at all. */
export type Holds = 'schema' | 'list' | 'schema or list' | 'map' | 'nothing';

interface Keyword {
  readonly holds: Holds;
  /** Whether its schemas look at the same value as the schema around them. */
  readonly inPlace?: true;
}

const ANNOTATIONS = ['title', 'description', 'default', 'examples', 'readOnly', 'writeOnly'];
const CONTENT = ['format', 'contentMediaType', 'contentEncoding'];
const NUMBERS = ['multipleOf', 'maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum'];
const SIZES = ['maxLength', 'minLength', 'maxItems', 'minItems', 'maxProperties', 'minProperties'];
const PLAIN = ['$ref', 'type', 'enum', 'const', 'pattern', 'uniqueItems', 'required'];

/** Every Draft-07 keyword that a validator or a reader can use. Anything else in a schema is ignored (§4.4). */
const KEYWORDS: ReadonlyMap<string, Keyword> = new Map<string, Keyword>([
  ...[...ANNOTATIONS, ...CONTENT, ...NUMBERS, ...SIZES, ...PLAIN].map((name): [string, Keyword] => [
    name,
    { holds: 'nothing' },
  ]),
  ['definitions', { holds: 'map' }],
  ['properties', { holds: 'map' }],
  ['patternProperties', { holds: 'map' }],
  ['dependencies', { holds: 'map', inPlace: true }],
  ['allOf', { holds: 'list', inPlace: true }],
  ['anyOf', { holds: 'list', inPlace: true }],
  ['oneOf', { holds: 'list', inPlace: true }],
  ['not', { holds: 'schema', inPlace: true }],
  ['if', { holds: 'schema', inPlace: true }],
  ['then', { holds: 'schema', inPlace: true }],
  ['else', { holds: 'schema', inPlace: true }],
  ['items', { holds: 'schema or list' }],
  ['additionalItems', { holds: 'schema' }],
  ['contains', { holds: 'schema' }],
  ['additionalProperties', { holds: 'schema' }],
  ['propertyNames', { holds: 'schema' }],
]);

/** What a keyword of Draft-07 holds; undefined for any other. */
export const heldBy = (name: string): Holds | undefined => KEYWORDS.get(name)?.holds;

/** Whether a keyword says nothing about which values fit. */
export function isAnnotation(name: string): boolean {
  return ANNOTATIONS.includes(name) || CONTENT.includes(name);
}

/** Whether a keyword belongs to Draft-07. */
export function isKeyword(name: string): boolean {
  return KEYWORDS.has(name);
}

/** The position of a schema in its document. */
export interface SchemaLocation {
  /** JSON pointer from the root; empty for the root itself. */
  readonly pointer: string;
  /** Schemas around it. */
  readonly depth: number;
  /** Pointer of the schema around it when both look at the same value, else null. */
  readonly insteadOf: string | null;
}

type Change = (schema: JsonObject, place: SchemaLocation) => JsonObject;

const ROOT: SchemaLocation = { pointer: '', depth: 0, insteadOf: null };

/**
 * Rebuilds a schema with every schema in it changed, outer ones first. Values that are no schema where one should stand
 * stay as they are, and so do the contents of `const`, `enum`, `default` and `examples`.
 */
export function mapSchemas(schema: JsonObject, change: Change, place: SchemaLocation = ROOT): JsonObject {
  const entries = Object.entries(change(schema, place)).map(([name, value]): [string, JsonValue] => {
    const keyword = KEYWORDS.get(name);
    if (keyword === undefined || keyword.holds === 'nothing') return [name, value];
    const insteadOf = keyword.inPlace === true ? place.pointer : null;
    const at = (...steps: (string | number)[]): SchemaLocation => ({
      pointer: place.pointer + [name, ...steps].map(pointerStep).join(''),
      depth: place.depth + 1,
      insteadOf,
    });
    const deeper = (inner: JsonValue, innerLocation: SchemaLocation): JsonValue =>
      isJsonObject(inner) ? mapSchemas(inner, change, innerLocation) : inner;
    return [name, mapHeld(value, keyword.holds, (inner, ...steps) => deeper(inner, at(...steps)))];
  });
  return Object.fromEntries(entries);
}

type MapInner = (inner: JsonValue, ...steps: (string | number)[]) => JsonValue;

function mapHeld(value: JsonValue, holds: Holds, map: MapInner): JsonValue {
  if (Array.isArray(value)) {
    return holds === 'list' || holds === 'schema or list' ? value.map((inner, index) => map(inner, index)) : value;
  }
  if (holds === 'schema' || holds === 'schema or list') return map(value);
  if (holds !== 'map' || !isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, map(inner, name)]));
}

function pointerStep(step: string | number): string {
  return `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Every schema of a document with its place, outer ones first. */
export function listSchemas(root: JsonObject): (SchemaLocation & { readonly schema: JsonObject })[] {
  const found: (SchemaLocation & { schema: JsonObject })[] = [];
  mapSchemas(root, (schema, place) => {
    found.push({ ...place, schema });
    return schema;
  });
  return found;
}
