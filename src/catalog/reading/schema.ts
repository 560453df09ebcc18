// The shapes of configuration files, each with the words for what a value must be; `misfits.ts` checks values against them.

export type TypeName = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object';

/**
 * A node in the words of JSON Schema. `mustBe` is what a problem says about a value that does not match; `passes` is a further check of
 * text or of a map, and `whyNot` may say more of what that refuses, without repeating it.
 */
export interface Schema {
  readonly mustBe: string;
  readonly type: TypeName | readonly TypeName[];
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: false | Schema;
  readonly propertyNames?: Naming;
  readonly maxProperties?: number;
  passes?(value: never): boolean;
  whyNot?(value: never): string;
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
  return { ...schema, type: [schema.type, 'null'].flat() as TypeName[], mustBe: `${schema.mustBe}, or null` };
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
  const type: Schema['type'] = required.length === 0 ? ['object', 'null'] : 'object';
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
  const names = { propertyNames: naming, maxProperties: MAX_NAMES };
  const mustBe = `must be a map of at most ${MAX_NAMES} names`;
  return { type: ['object', 'null'], ...names, additionalProperties: of, mustBe };
}
