// The shapes of configuration files, each with the words for what a value must be; checked by ajv (Draft-07).
import { Ajv, type ErrorObject } from 'ajv';
import { didYouMean } from './nearest-name.ts';

/** A JSON Schema node. `mustBe` is what a problem says about a value that does not match; `passes` is a further check of text or of a map. */
export interface Schema {
  readonly mustBe: string;
  readonly [keyword: string]: unknown;
}

/** A whole number within bounds, both included. */
export function integer(minimum: number, maximum: number, unit = ''): Schema {
  const counted = unit === '' ? 'a whole number' : `a whole number of ${unit}`;
  return { type: 'integer', minimum, maximum, mustBe: `must be ${counted} from ${minimum} to ${maximum}` };
}

/** A number of zero or more. */
export function amount(): Schema {
  return { type: 'number', minimum: 0, mustBe: 'must be a number, zero or more' };
}

export function flag(): Schema {
  return { type: 'boolean', mustBe: 'must be true or false' };
}

export function choice(values: readonly string[]): Schema {
  return { type: 'string', enum: values, mustBe: `must be one of ${values.join(', ')}` };
}

/** Text that passes a check. `what` completes "must be …". */
export function text(what: string, passes: (value: string) => boolean): Schema {
  return { type: 'string', passes, mustBe: `must be ${what}` };
}

/** The same schema, or null. */
export function orNull(schema: Schema): Schema {
  return { ...schema, type: [schema['type'], 'null'], mustBe: `${schema.mustBe}, or null` };
}

/** A list of things of one shape without duplicates; null stands for an empty one. `what` completes "a list of at most N …". */
export function list(of: Schema, what: string, max = 100): Schema {
  const mustBe = `must be a list of at most ${max} ${what}, without duplicates`;
  return { type: ['array', 'null'], items: of, maxItems: max, uniqueItems: true, mustBe };
}

/**
 * A map with known keys. Where none is required, null stands for an empty one, which is how a section reads whose keys
 * are all commented out.
 */
export function section(properties: Readonly<Record<string, Schema>>, required: readonly string[] = []): Schema {
  const type = required.length === 0 ? ['object', 'null'] : 'object';
  return { type, properties, required, additionalProperties: false, mustBe: 'must be a map' };
}

const ANY_NAME: Naming = {
  pattern: '^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,255}$',
  mustBe: 'must be a name of up to 256 letters, digits and . _ : / @ + -, beginning with a letter or digit',
};

/** Most entries that one file can have in one place. */
export const MAX_NAMES = 1000;

/** The form of names as a JSON Schema pattern, and the words for it. */
export interface Naming {
  readonly pattern: string;
  readonly mustBe: string;
}

/** A map from names that the operator chooses to values of one shape. */
export function dictionary(of: Schema, naming: Naming = ANY_NAME): Schema {
  const names = { propertyNames: { type: 'string', ...naming }, maxProperties: MAX_NAMES };
  const mustBe = `must be a map of at most ${MAX_NAMES} names`;
  return { type: ['object', 'null'], ...names, additionalProperties: of, mustBe };
}

/** One way in which a value does not match. `place` says whether its key or its value is wrong. */
export interface Misfit {
  readonly path: readonly string[];
  readonly place: 'key' | 'value';
  readonly message: string;
}

type Describe = (error: ErrorObject, path: readonly string[]) => Misfit;

const DESCRIPTIONS: Readonly<Record<string, Describe>> = {
  additionalProperties: (error, path) => {
    const key = String(error.params['additionalProperty']);
    const known = Object.keys((error.parentSchema?.['properties'] ?? {}) as object);
    return { path: [...path, key], place: 'key', message: `is not a known key${didYouMean(key, known)}` };
  },
  required: (error, path) => ({
    path: [...path, String(error.params['missingProperty'])],
    place: 'key',
    message: 'is missing',
  }),
  propertyNames: (error, path) => ({
    path: [...path, String(error.params['propertyName'])],
    place: 'key',
    message: (error.schema as Naming).mustBe,
  }),
};

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  const names: Readonly<Record<string, string>> = { string: 'text', object: 'a map', boolean: 'true or false' };
  return names[typeof value] ?? `a ${typeof value}`;
}

const describeMustBe: Describe = (error, path) => {
  const mustBe = String((error.parentSchema as { mustBe?: unknown } | undefined)?.mustBe);
  // The value is not repeated: it may be a secret in the wrong place.
  const isFraction = typeof error.data === 'number' && error.parentSchema?.['type'] === 'integer';
  const got = error.keyword === 'type' && !isFraction ? `, not ${typeName(error.data)}` : '';
  return { path, place: 'value', message: mustBe + got };
};

function pathOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

const ajv = new Ajv({
  allErrors: true,
  verbose: true,
  strict: true,
  strictTypes: false,
  meta: false,
  validateSchema: false,
});
ajv.addVocabulary(['mustBe']);
ajv.addKeyword({
  keyword: 'passes',
  type: ['string', 'object'],
  errors: false,
  validate: (passes: (value: unknown) => boolean, data: unknown) => passes(data),
});

/**
 * Every way in which a value does not match a schema; at most one for each key. Values are not coerced or filled in. The
 * schema must be a constant: ajv compiles each once, and never forgets it.
 */
export function misfits(schema: Schema, value: unknown): readonly Misfit[] {
  const validate = ajv.compile(schema);
  if (validate(value)) return [];
  const found = new Map<string, Misfit>();
  for (const error of validate.errors ?? []) {
    // A bad name is reported twice: by the pattern it breaks, and by `propertyNames`, which knows the key.
    if (error.propertyName !== undefined) continue;
    const misfit = (DESCRIPTIONS[error.keyword] ?? describeMustBe)(error, pathOf(error.instancePath));
    const key = JSON.stringify(misfit.path);
    if (!found.has(key)) found.set(key, misfit);
  }
  return [...found.values()];
}
