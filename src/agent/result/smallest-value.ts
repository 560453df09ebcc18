// The smallest value that fits a schema, for the offline engine (J5). The search is limited: it may find none.
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts';
import { timesStep } from './decimal.ts';
import { compilePattern } from './linear-pattern.ts';

/** Returns whether a value fits a schema of the same document. */
export type Fits = (schema: JsonObject, value: JsonValue) => boolean;

interface Search {
  readonly root: JsonObject;
  readonly fits: Fits;
  /** Candidates that may still be examined. */
  left: number;
}

const MAX_DEPTH = 40;
const MAX_CANDIDATES = 2_000;
const MAX_FILLING = 1_000;

type Maker = (schema: JsonObject, search: Search, depth: number) => JsonValue[];

/** A small value that fits, or undefined when none was found. `root` is the document that references resolve in. */
export function smallestValue(schema: JsonObject, root: JsonObject, fits: Fits): JsonValue | undefined {
  const search: Search = { root, fits, left: MAX_CANDIDATES };
  return candidates(schema, search, 0).find((value) => fits(schema, value));
}

/** Values to try, the smallest first. */
function candidates(schema: JsonObject, search: Search, depth: number): JsonValue[] {
  search.left -= 1;
  if (depth > MAX_DEPTH || search.left < 0) return [];
  const { $ref } = schema;
  if (typeof $ref === 'string') {
    const target = resolve(search.root, $ref);
    return isJsonObject(target) ? candidates(target, search, depth + 1) : target === true ? [null] : [];
  }
  if (Object.hasOwn(schema, 'const')) return [schema['const']!];
  if (Array.isArray(schema['enum'])) return schema['enum'];
  const merged = mergeAll(schema, search, depth);
  if (merged !== schema) return candidates(merged, search, depth + 1);
  const branches = ['anyOf', 'oneOf'].find((name) => Array.isArray(schema[name]));
  if (branches !== undefined) return branchCandidates(schema, branches, { search, depth });
  return typesOf(schema).flatMap((type) => MAKERS[type]?.(schema, search, depth) ?? []);
}

/** Every branch merged with its siblings. */
function branchCandidates(schema: JsonObject, name: string, { search, depth }: { search: Search; depth: number }) {
  const { [name]: branches, ...around } = schema;
  return (branches as JsonValue[]).flatMap((branch) =>
    isJsonObject(branch) ? candidates(join(around, follow(branch, search.root)), search, depth + 1) : [],
  );
}

/** `allOf` and a condition that holds, merged into one schema; the schema itself when it has neither. */
function mergeAll(schema: JsonObject, { root }: Search, depth: number): JsonObject {
  if (!Array.isArray(schema['allOf']) || depth > MAX_DEPTH) return schema;
  const { allOf, ...around } = schema;
  return allOf.filter(isJsonObject).reduce((all, part) => join(all, follow(part, root)), around);
}

function follow(schema: JsonObject, root: JsonObject): JsonObject {
  let here = schema;
  for (let hops = 0; typeof here['$ref'] === 'string' && hops < MAX_DEPTH; hops += 1) {
    const target = resolve(root, here['$ref']);
    if (!isJsonObject(target)) return {};
    here = target;
  }
  return here;
}

function resolve(root: JsonObject, ref: string): JsonValue | undefined {
  let here: JsonValue | undefined = root;
  for (const step of decodeURIComponent(ref.slice(1)).split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(here)) here = here[Number(name)];
    else here = isJsonObject(here) && Object.hasOwn(here, name) ? here[name] : undefined;
  }
  return here;
}

type Joiner = (one: JsonValue, other: JsonValue) => JsonValue;

const both: Joiner = (one, other) => (isJsonObject(one) && isJsonObject(other) ? join(one, other) : other);
const maps: Joiner = (one, other) => {
  if (!isJsonObject(one) || !isJsonObject(other)) return other;
  const shared = Object.keys(other).filter((name) => Object.hasOwn(one, name));
  return { ...one, ...other, ...Object.fromEntries(shared.map((name) => [name, both(one[name]!, other[name]!)])) };
};
const lists: Joiner = (one, other) => [...new Set([...asList(one), ...asList(other)])];
const common: Joiner = (one, other) => {
  const wanted = new Set(asList(other).map((value) => JSON.stringify(value)));
  return asList(one).filter((value) => wanted.has(JSON.stringify(value)));
};
const larger: Joiner = (one, other) => Math.max(Number(one), Number(other));
const smaller: Joiner = (one, other) => Math.min(Number(one), Number(other));

/** How two values of one keyword are merged; without an entry, the later one wins. */
const JOINERS: Readonly<Record<string, Joiner>> = {
  properties: maps,
  required: lists,
  allOf: (one, other) => [...asList(one), ...asList(other)],
  enum: common,
  type: (one, other) => (asList(one).includes('number') && other === 'integer' ? other : common(one, other)),
  items: both,
  minimum: larger,
  exclusiveMinimum: larger,
  minLength: larger,
  minItems: larger,
  minProperties: larger,
  maximum: smaller,
  exclusiveMaximum: smaller,
  maxLength: smaller,
  maxItems: smaller,
  maxProperties: smaller,
};

const asList = (value: JsonValue): JsonValue[] => (Array.isArray(value) ? value : [value]);

function join(one: JsonObject, other: JsonObject): JsonObject {
  const joined: JsonObject = { ...one };
  for (const [name, value] of Object.entries(other)) {
    const before = joined[name];
    joined[name] = before === undefined ? value : (JOINERS[name]?.(before, value) ?? value);
  }
  return joined;
}

function typesOf(schema: JsonObject): string[] {
  if (schema['type'] !== undefined) return asList(schema['type']).filter((type) => typeof type === 'string');
  const hinted = HINTS.filter(([, names]) => names.some((name) => schema[name] !== undefined)).map(([type]) => type);
  return [...hinted, 'null', 'boolean', 'integer', 'string', 'array', 'object'];
}

/** Keywords that imply a type when none is given. */
const HINTS: readonly (readonly [string, readonly string[]])[] = [
  ['object', ['properties', 'required', 'minProperties']],
  ['array', ['items', 'contains', 'minItems']],
  ['string', ['pattern', 'minLength', 'format']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
];

const MAKERS: Readonly<Record<string, Maker>> = {
  null: () => [null],
  boolean: () => [false, true],
  integer: (schema) => numbers(schema).filter((value) => Number.isInteger(value)),
  number: (schema) => numbers(schema),
  string: strings,
  array: arrays,
  object: objects,
};

const numberOf = (value: JsonValue | undefined, otherwise: number) => (typeof value === 'number' ? value : otherwise);

function numbers(schema: JsonObject): number[] {
  const least = Math.max(numberOf(schema['minimum'], -Infinity), numberOf(schema['exclusiveMinimum'], -Infinity));
  const most = Math.min(numberOf(schema['maximum'], Infinity), numberOf(schema['exclusiveMaximum'], Infinity));
  const step = numberOf(schema['multipleOf'], 1);
  const edges = [0, Math.ceil(least), Math.floor(most), least, most, (least + most) / 2].filter(Number.isFinite);
  const near = edges.flatMap((edge) => [edge, edge + 1, edge - 1, timesStep(Math.ceil(edge / step), step)]);
  return [
    ...near,
    ...edges.flatMap((edge) => [
      timesStep(Math.floor(edge / step) + 1, step),
      timesStep(Math.ceil(edge / step) - 1, step),
    ]),
  ];
}

function strings(schema: JsonObject): string[] {
  const length = Math.min(numberOf(schema['minLength'], 0), MAX_FILLING * 100);
  const plain = ['', 'a'.repeat(length)];
  if (typeof schema['pattern'] !== 'string') return plain.slice(length > 0 ? 1 : 0);
  const example = compilePattern(schema['pattern']).example() ?? '';
  return [
    example,
    example.padEnd(length, example.at(-1) ?? 'a'),
    example.padStart(length, example[0] ?? 'a'),
    ...plain,
  ];
}

function arrays(schema: JsonObject, search: Search, depth: number): JsonValue[] {
  const { items, contains } = schema;
  const count = Math.min(numberOf(schema['minItems'], 0), MAX_FILLING);
  const wanted = isJsonObject(contains) ? candidates(contains, search, depth + 1).slice(0, 1) : [];
  const itemAt = (index: number) => (Array.isArray(items) ? (items[index] ?? schema['additionalItems']) : items);
  const values: JsonValue[] = [];
  for (let index = 0; index < count || values.length < wanted.length; index += 1) {
    const value =
      wanted[index] ?? unused(itemAt(index), values, { search, depth, unique: schema['uniqueItems'] === true });
    if (value === undefined) return [];
    values.push(value);
  }
  return [values];
}

interface Filling {
  readonly search: Search;
  readonly depth: number;
  readonly unique: boolean;
}

/** An item that fits and, when items must be unique, is new. */
function unused(item: JsonValue | undefined, values: readonly JsonValue[], { search, depth, unique }: Filling) {
  if (item === false) return undefined;
  const schema = isJsonObject(item) ? item : {};
  const found = candidates(schema, search, depth + 1);
  const more = unique ? [values.length, `${values.length}`, 'a'.repeat(values.length)] : [];
  const taken = new Set(unique ? values.map((value) => JSON.stringify(value)) : []);
  return [...found, ...more].find((value) => !taken.has(JSON.stringify(value)) && search.fits(schema, value));
}

function objects(schema: JsonObject, search: Search, depth: number): JsonValue[] {
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const required = asList(schema['required'] ?? []).filter((name) => typeof name === 'string');
  const value: JsonObject = {};
  const add = (name: string): boolean => {
    const inner = Object.hasOwn(properties, name) ? properties[name]! : schemaOfOther(schema, name);
    if (inner === false) return false;
    const own = isJsonObject(inner) ? inner : {};
    const found = candidates(own, search, depth + 1).find((candidate) => search.fits(own, candidate));
    if (found !== undefined) value[name] = found;
    return found !== undefined;
  };
  if (!required.every(add)) return [];
  const least = Math.min(numberOf(schema['minProperties'], 0), MAX_FILLING);
  const spare = [...Object.keys(properties), ...Array.from({ length: least }, (_, index) => `field${index + 1}`)];
  for (const name of spare) {
    if (Object.keys(value).length >= least) break;
    if (!Object.hasOwn(value, name)) add(name);
  }
  return [value];
}

function schemaOfOther(schema: JsonObject, name: string): JsonValue {
  const { patternProperties, additionalProperties } = schema;
  const named = Object.entries(patternProperties ?? {}).find(([pattern]) => compilePattern(pattern).test(name));
  return named?.[1] ?? additionalProperties ?? {};
}
