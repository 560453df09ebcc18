// A shape of the wire: one value from which its type, its strict reader (A4) and its JSON schema come.
import { unprocessable } from '../domain/errors.ts';
import type { JsonValue } from '../domain/json.ts';

/** A JSON schema (Draft 2020-12), as OpenAPI 3.1 has it. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** The schemas that have a name, by name, each with what it is made from: `describe` adds those that it refers to. */
export type Components = Map<string, { readonly source: unknown; readonly schema: JsonSchema }>;

/** The schemas alone, in the order of their names. */
export function schemasOf(components: Components): Readonly<Record<string, JsonSchema>> {
  const schemas = [...components].map(([name, { schema }]): [string, JsonSchema] => [name, schema]);
  return Object.fromEntries(schemas.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** What JSON of one kind looks like. Built once, at load; it costs nothing until something is read or described. */
export interface Shape<out T> {
  /** Whether a value is of this shape's kind at all. Decides between alternatives. */
  readonly admits: (value: JsonValue | undefined) => boolean;
  /**
   * The value as what it is, coerced in nothing and without fields that the shape doesn't have. Throws `unprocessable` with
   * the path of the first fault; `path` is the value's own place, such as `messages[2].content`, and empty for a whole body.
   */
  readonly read: (value: JsonValue | undefined, path: string) => T;
  readonly describe: (components: Components) => JsonSchema;
  /** Whether an object may lack it, and what its reader gives then: nothing, or a value of its own. */
  readonly absence?: 'nothing' | 'default';
}

/** A field that an object may lack. */
export type OptionalShape<T> = Shape<T> & { readonly absence: 'nothing' };

/** The type that a shape stands for. */
export type Static<S> = S extends Shape<infer T> ? T : never;

/** The shape, or null. */
export function nullable<T>(shape: Shape<T>): Shape<T | null> {
  return {
    admits: (value) => value === null || shape.admits(value),
    read: (value, path) => (value === null ? null : shape.read(value, path)),
    describe: (components) => orNull(shape.describe(components)),
  };
}

function orNull(schema: JsonSchema): JsonSchema {
  const { type, enum: words } = schema;
  if (typeof type !== 'string' || 'const' in schema) return { anyOf: [schema, { type: 'null' }] };
  return { ...schema, type: [type, 'null'], ...(Array.isArray(words) && { enum: [...(words as unknown[]), null] }) };
}

/** A field that may be absent. */
export function optional<T>(shape: Shape<T>): OptionalShape<T> {
  return { ...shape, absence: 'nothing' };
}

/** A field that may be absent or null. */
export function nullish<T>(shape: Shape<T>): OptionalShape<T | null> {
  return optional(nullable(shape));
}

/** The first of several shapes that admits the value. `words`: the error for any other value. */
export function anyOf<S extends readonly Shape<unknown>[]>(words: string, ...shapes: S): Shape<Static<S[number]>> {
  const find = (value: JsonValue | undefined) => shapes.find(({ admits }) => admits(value));
  return {
    admits: (value) => find(value) !== undefined,
    read: (value, path) => {
      const shape = find(value);
      if (shape === undefined) throw unprocessable(path, words);
      return shape.read(value, path) as Static<S[number]>;
    },
    describe: (components) => ({ anyOf: shapes.map(({ describe }) => describe(components)) }),
  };
}

/** A shape that must keep a rule of its own, or that is read as something else. */
export function refined<T, U>(
  shape: Shape<T>,
  refine: (value: T, path: string) => U,
  keywords: JsonSchema = {},
): Shape<U> {
  return {
    admits: shape.admits,
    read: (value, path) => refine(shape.read(value, path), path),
    describe: (components) => ({ ...shape.describe(components), ...keywords }),
  };
}

/** A value that is described by its shape, and read as it is: who needs it reads it through the shape, or never does. */
export function unread(shape: Shape<unknown>): Shape<JsonValue | undefined> {
  return { ...shape, read: (value) => value };
}

/** A shape that OpenAPI describes once, under a name. It may refer to itself, through a function. */
export function named<T>(name: string, shape: Shape<T> | (() => Shape<T>)): Shape<T> {
  const inner = () => (typeof shape === 'function' ? shape() : shape);
  return {
    admits: (value) => inner().admits(value),
    read: (value, path) => inner().read(value, path),
    describe: (components) => {
      const known = components.get(name);
      if (known === undefined) {
        // First the place, then what is there: it may contain itself.
        components.set(name, { source: shape, schema: {} });
        components.set(name, { source: shape, schema: inner().describe(components) });
      } else if (known.source !== shape) throw new Error(`Two shapes are named ${name}.`);
      return { $ref: `#/components/schemas/${name}` };
    },
  };
}
