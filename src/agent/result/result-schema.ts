// Compiles a caller's schema and describes what violates it. Schemas may be hostile.
import {
  Ajv,
  type AnySchemaObject,
  type ErrorObject,
  type FuncKeywordDefinition,
  type MacroKeywordDefinition,
  str,
} from 'ajv';
import { messageOf } from '../../domain/errors.ts';
import type { JsonObject, JsonValue } from '../../domain/json.ts';
import { listSchemas } from '../../domain/schema/json-schema.ts';
import { withinCpuTime } from '../../workers/cpu-time.ts';
import { isMultipleOf } from './decimal.ts';
import { compilePattern } from './linear-pattern.ts';
import type { SchemaFault } from './schema-fault.ts';

/** Returns the violations of the schema, one line each; none when the value fits. */
export type ResultCheck = (value: JsonValue) => readonly string[];

const MAX_FAULTS = 10;
const MAX_FAULT_CHARACTERS = 400;
/** CPU time: much more than any honest check takes, much less than a thread may be silent. */
const CHECK_CPU_MS = 1_000;
/** The same for listing all faults: each takes memory until the list is complete. */
const FAULTS_CPU_MS = 100;

const regExp = Object.assign((pattern: string) => compilePattern(pattern), { code: 'compilePattern' });

/** The validator's own keyword divides in floating point, where 19.99 is not a multiple of 0.01. */
const MULTIPLE_OF: FuncKeywordDefinition = {
  keyword: 'multipleOf',
  type: 'number',
  schemaType: 'number',
  validate: (step: number, value: number) => isMultipleOf(value, step),
  errors: false,
  error: { message: ({ schemaCode }) => str`must be multiple of ${schemaCode}` },
};

/** The validator's own keyword collects the faults of all items until one fits. This one has a second fault, of its `not`. */
const CONTAINS: MacroKeywordDefinition = {
  keyword: 'contains',
  type: 'array',
  schemaType: ['object', 'boolean'],
  macro: (schema: AnySchemaObject | boolean) => ({ not: { items: { not: schema } } }),
  error: { message: 'must contain at least 1 valid item' },
};

function makeAjv({ allErrors = false } = {}): Ajv {
  const ajv = new Ajv({
    strict: false,
    allErrors,
    validateFormats: false,
    // Draft-07 ignores the siblings of a `$ref`.
    ignoreKeywordsWithRef: true,
    // Otherwise a big definition is inlined at each of its references.
    inlineRefs: false,
    // Otherwise every object has a required `toString`.
    ownProperties: true,
    // Otherwise each schema is validated against the meta-schema again, which has to be compiled for it.
    validateSchema: false,
    logger: false,
    code: { regExp },
  });
  for (const own of [MULTIPLE_OF, CONTAINS]) ajv.removeKeyword(own.keyword as string).addKeyword(own);
  return ajv;
}

/** Validates schemas against the meta-schema, which it compiles once; it retains none of them. */
const schemaCheck = makeAjv();

/**
 * What prevents a schema from being compiled, or null. `schema` comes from `readOutputSchema`. May take long for a hostile
 * schema, so call it where it can be ended from outside.
 */
export function findSchemaFault(schema: JsonObject): SchemaFault | null {
  if (schemaCheck.validateSchema(schema) !== true) {
    const [error] = schemaCheck.errors ?? [];
    return { pointer: error?.instancePath ?? '', mustBe: error?.message ?? 'must be a Draft-07 schema' };
  }
  for (const { pointer, schema: inner } of listSchemas(schema)) {
    for (const [place, pattern] of patternsOf(inner)) {
      try {
        compilePattern(pattern);
      } catch (error) {
        return { pointer: `${pointer}/${place}`, mustBe: `${messageOf(error)}: patterns are matched in linear time` };
      }
    }
  }
  try {
    makeAjv({ allErrors: true }).compile(schema);
    return null;
  } catch (error) {
    return { pointer: '', mustBe: `must be a usable JSON Schema (${messageOf(error).slice(0, 200)})` };
  }
}

function patternsOf(schema: JsonObject): [place: string, pattern: string][] {
  const { pattern, patternProperties } = schema;
  const named = Object.keys(patternProperties ?? {}).map((key): [string, string] => ['patternProperties', key]);
  return typeof pattern === 'string' ? [['pattern', pattern], ...named] : named;
}

/**
 * Compiles a schema without faults. A check that takes too long, or recurses too deep, counts as a violation. `name` stands for
 * the value in the messages.
 */
export function compileResultCheck(schema: JsonObject, name = 'result'): ResultCheck {
  const validate = makeAjv().compile(schema);
  // Compiled anew: a validator keeps the faults of its last value.
  const listFaults = (value: JsonValue) => {
    const all = makeAjv({ allErrors: true }).compile(schema);
    withinCpuTime(FAULTS_CPU_MS, () => all(value));
    return all.errors ?? [];
  };
  return (value) => {
    let first: readonly ErrorObject[];
    try {
      if (withinCpuTime(CHECK_CPU_MS, () => validate(value))) return [];
      first = validate.errors ?? [];
    } catch {
      return [`${name || 'it'} is too large or nested too deep to be checked against the schema`];
    }
    try {
      return faultsOf(listFaults(value), name);
    } catch {
      return faultsOf(first, name);
    }
  };
}

/** Returns whether values fit schemas of one document, which must be trusted. */
export function makeFits(document: JsonObject): (schema: JsonObject, value: JsonValue) => boolean {
  const ajv = makeAjv();
  const known = new WeakMap<JsonObject, (value: JsonValue) => boolean>();
  return (schema, value) => {
    let fits = known.get(schema);
    if (fits === undefined) {
      // Siblings of a `$ref` are ignored; they are there only to be referenced.
      const validate = ajv.compile({ ...document, $ref: '#/definitions/it', definitions: { it: schema } });
      fits = (candidate) => validate(candidate);
      known.set(schema, fits);
    }
    return fits(value);
  };
}

const isOfContains = ({ schemaPath }: ErrorObject, at: number, all: readonly ErrorObject[]) =>
  all[at + 1]?.keyword === CONTAINS.keyword && schemaPath === `${all[at + 1]!.schemaPath}/not`;

function faultsOf(all: readonly ErrorObject[], name: string): string[] {
  const errors = all.filter((error, at) => !isOfContains(error, at, all));
  const faults = errors.slice(0, MAX_FAULTS).map(({ instancePath, message, params }) => {
    const { additionalProperty, allowedValues, allowedValue } = params as Record<string, unknown>;
    const detail = additionalProperty ?? allowedValues ?? allowedValue;
    const shown = detail === undefined ? '' : ` (${JSON.stringify(detail)})`;
    const place = `${name}${instancePath}` || '/';
    return `${place} ${message ?? 'does not fit'}${shown}`.slice(0, MAX_FAULT_CHARACTERS).toWellFormed();
  });
  const more = errors.length - faults.length;
  return more > 0 ? [...faults, `and ${more} more`] : faults;
}
