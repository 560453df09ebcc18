// A shape of the wire: one value from which its type, its strict reader (A4) and its JSON schema come.
import { unprocessable } from '../../domain/errors.ts';
import type { IdNoun } from '../../domain/ids.ts';
import type { JsonValue } from '../../domain/json.ts';

/** A JSON schema (Draft 2020-12), as OpenAPI 3.1 has it. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** The schemas that have a name, by name, each with what it is made from: `describe` adds those that it refers to. */
export type Components = Map<string, { readonly source: unknown; readonly schema: JsonSchema }>;

/** The schemas alone, in the order of their names. */
export function schemasOf(components: Components): Readonly<Record<string, JsonSchema>> {
  const schemas = [...components].map(([name, { schema }]): [string, JsonSchema] => [name, schema]);
  return Object.fromEntries(schemas.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * What JSON of one kind looks like. Built once, at load; it costs nothing until something is read, rendered or described. `T` is
 * what its reader gives, `J` its JSON, and `D` the value of the domain that it is rendered from.
 */
export interface Shape<out T, out J = T, in D = J> {
  /** Whether a value is of this shape's kind at all. Decides between alternatives. */
  readonly admits: (value: JsonValue | undefined) => boolean;
  /**
   * The value as what it is, coerced in nothing and without fields that the shape doesn't have. Throws `unprocessable` with
   * the path of the first fault; `path` is the value's own place, such as `messages[2].content`, and empty for a whole body.
   */
  readonly read: (value: JsonValue | undefined, path: string) => T;
  readonly describe: (components: Components) => JsonSchema;
  /** The JSON of a value of the domain; absent where they are the same. */
  readonly render?: (value: D) => J;
  /** The kind of thing whose id it is, so that a client can complete the start of one. */
  readonly refersTo?: IdNoun;
  /** Of fields of a table only, where they go around all else that is said of the field (`record.ts`). */
  readonly wireName?: never;
  readonly make?: never;
  /** Whether an object may lack it, and what its reader gives then: nothing, or a value of its own. */
  readonly absence?: 'nothing' | 'default';
}

/** Whatever its types. */
export type AnyShape = Shape<unknown, unknown, never>;

/** As who only reads it needs it. */
export type Readable<T> = Shape<T, unknown, never>;

/** A field that an object may lack. */
export type OptionalShape<T, J = T, D = J> = Shape<T, J, D> & { readonly absence: 'nothing' };

/** A field that an object may lack, for which its reader gives a value then. */
export type DefaultedShape<T, J = T> = Shape<T, J> & { readonly absence: 'default' };

/** What the reader of a shape gives. */
export type Static<S> = S extends { readonly read: (value: undefined, path: string) => infer T } ? T : never;

/** The JSON of a shape. */
export type JsonOf<S> = S extends { readonly render?: (value: never) => infer J } ? J : never;

/** What a shape is rendered from. */
export type SourceOf<S> = S extends { readonly render?: (value: infer D) => unknown } ? D : never;

/** The shape, or null. */
export function nullable<T, J, D>(shape: Shape<T, J, D>): Shape<T | null, J | null, D | null> {
  const { render, refersTo } = shape;
  return {
    admits: (value) => value === null || shape.admits(value),
    read: (value, path) => (value === null ? null : shape.read(value, path)),
    describe: (components) => orNull(shape.describe(components)),
    ...(render && { render: (value) => (value === null ? null : render(value)) }),
    ...(refersTo && { refersTo }),
  };
}

function orNull(schema: JsonSchema): JsonSchema {
  const { type, enum: words } = schema;
  if (typeof type !== 'string' || 'const' in schema) return { anyOf: [schema, { type: 'null' }] };
  return { ...schema, type: [type, 'null'], ...(Array.isArray(words) && { enum: [...(words as unknown[]), null] }) };
}

/** A field that may be absent. */
export function optional<T, J, D>(shape: Shape<T, J, D>): OptionalShape<T, J, D> {
  const { render } = shape;
  return {
    ...shape,
    absence: 'nothing',
    ...(render && { render: (value) => (value === undefined ? (undefined as J) : render(value)) }),
  };
}

/** A field that may be absent or null. */
export function nullish<T, J, D>(shape: Shape<T, J, D>): OptionalShape<T | null, J | null, D | null> {
  return optional(nullable(shape));
}

/** A field that may be absent. It is read as `value` then, and where it is null. */
export function orElse<T, J, const V>(shape: Shape<T, J, never>, value: V): DefaultedShape<NonNullable<T> | V, J> {
  return {
    ...(shape as unknown as Shape<T, J>),
    absence: 'default',
    read: (given, path) => (given === undefined ? value : (shape.read(given, path) ?? value)),
  };
}

/** A reference to a thing that has an id. */
export function refersTo<T, J, D>(noun: IdNoun, shape: Shape<T, J, D>): Shape<T, J, D> {
  return { ...shape, refersTo: noun };
}

/** The first of several shapes that admits the value. `words`: the error for any other value. */
export function anyOf<S extends readonly AnyShape[]>(
  words: string,
  ...shapes: S
): Shape<Static<S[number]>, JsonOf<S[number]>> {
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
export function refined<T, U, J, D>(
  shape: Shape<T, J, D>,
  refine: (value: T, path: string) => U,
  keywords: JsonSchema = {},
): Shape<U, J, D> {
  return {
    ...shape,
    read: (value, path) => refine(shape.read(value, path), path),
    describe: (components) => ({ ...shape.describe(components), ...keywords }),
  };
}

/** A value that is described by its shape, and read as it is: who needs it reads it through the shape, or never does. */
export function unread({ admits, describe }: AnyShape): Shape<JsonValue | undefined> {
  return { admits, describe, read: (value) => value };
}

/** A shape that OpenAPI describes once, under a name. It may refer to itself, through a function. */
export function named<S extends AnyShape>(name: string, shape: S): S;
export function named<T, J, D>(name: string, shape: () => Shape<T, J, D>): Shape<T, J, D>;
export function named(name: string, shape: AnyShape | (() => AnyShape)): AnyShape {
  const describe = (components: Components) => {
    const known = components.get(name);
    if (known === undefined) {
      // First the place, then what is there: it may contain itself.
      components.set(name, { source: shape, schema: {} });
      const { describe } = typeof shape === 'function' ? shape() : shape;
      components.set(name, { source: shape, schema: describe(components) });
    } else if (known.source !== shape) throw new Error(`Two shapes are named ${name}.`);
    return { $ref: `#/components/schemas/${name}` };
  };
  if (typeof shape !== 'function') return { ...shape, describe };
  return { admits: (value) => shape().admits(value), read: (value, path) => shape().read(value, path), describe };
}
