// Shapes of objects and arrays.
import { unprocessable } from '../../domain/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts';
import { oneOf } from './scalars.ts';
import type { AnyShape, Components, JsonOf, JsonSchema, Readable, Shape, Static } from './shape.ts';

type Fields = Readonly<Record<string, AnyShape>>;
type OptionalNames<F extends Fields> = {
  [N in keyof F]: F[N] extends { readonly absence: 'nothing' } ? N : never;
}[keyof F];
type OmissibleNames<F extends Fields> = {
  [N in keyof F]: F[N] extends { readonly absence: 'nothing' | 'default' } ? N : never;
}[keyof F];
type ObjectOf<F extends Fields> = Flat<
  { readonly [N in Exclude<keyof F, OptionalNames<F>>]: Static<F[N]> } & {
    readonly [N in OptionalNames<F>]?: Static<F[N]>;
  }
>;
type ObjectJson<F extends Fields> = Flat<
  { readonly [N in Exclude<keyof F, OmissibleNames<F>>]: JsonOf<F[N]> } & {
    readonly [N in OmissibleNames<F>]?: JsonOf<F[N]>;
  }
>;
/** An intersection as one object, as people read it in messages. */
export type Flat<T> = T extends infer O ? { readonly [N in keyof O]: O[N] } : never;

/** The shape of an object, with its fields by their names on the wire. */
export interface FieldsShape<out T = unknown, out J = unknown> extends Shape<T, J, never> {
  readonly byName: () => Fields;
}

/** The shape of an object. `fields` are there to build others from. */
export interface ObjectShape<F extends Fields = Fields> extends Shape<ObjectOf<F>, ObjectJson<F>> {
  readonly fields: F;
  readonly byName: () => Fields;
}

export interface ObjectRules {
  readonly closed?: boolean;
  /** Whether it must have one of the fields. */
  readonly atLeastOne?: boolean;
}

/** An object. Fields that it doesn't name are passed over, or refused when it is `closed`. */
export function object<F extends Fields>(fields: F, rules: ObjectRules = {}): ObjectShape<F> {
  const members = () => Object.entries(fields).map(([name, shape]) => ({ key: name, name, shape }));
  return { fields, ...objectOf<ObjectOf<F>>(members, rules) };
}

/** A field of an object. `name` is that of the wire, `key` that of what is read. */
export interface Member {
  readonly key: string;
  readonly name: string;
  readonly shape: AnyShape;
}

/** Makes a value when it is first needed: a process loads all shapes, and uses few. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** The shape of an object with these fields, without a renderer. */
export function objectOf<T>(makeMembers: () => readonly Member[], { closed = false, atLeastOne = false }: ObjectRules) {
  const members = once(makeMembers);
  const byName = once((): Fields => Object.fromEntries(members().map(({ name, shape }) => [name, shape])));

  function refuseUnknown(holder: JsonObject, path: string): void {
    const unknown = Object.keys(holder).find((name) => !Object.hasOwn(byName(), name));
    if (unknown !== undefined)
      throw unprocessable(at(path, unknown), `must be one of ${Object.keys(byName()).join(', ')}`);
  }

  return {
    byName,
    admits: isJsonObject,
    read: (value: JsonValue | undefined, path: string): T => {
      const holder = jsonObject.read(value, path);
      if (closed) refuseUnknown(holder, path);
      const found: Record<string, unknown> = {};
      for (const { key, name, shape } of members()) {
        const member = holder[name];
        if (member !== undefined || shape.absence !== 'nothing') found[key] = shape.read(member, at(path, name));
      }
      if (atLeastOne && Object.keys(found).length === 0)
        throw unprocessable(path === '' ? 'body' : path, 'must name at least one field to change');
      return found as T;
    },
    describe: (components: Components): JsonSchema => {
      const required = members()
        .filter(({ shape }) => shape.absence === undefined)
        .map(({ name }) => name);
      return {
        type: 'object',
        properties: Object.fromEntries(members().map(({ name, shape }) => [name, shape.describe(components)])),
        ...(required.length > 0 && { required }),
        ...(atLeastOne && { minProperties: 1 }),
        ...(closed && { additionalProperties: false }),
      };
    },
  };
}

/** The path of everything while none is needed. */
const NO_PATH = '\u0000';

/** The path of a field in an object. */
export function at(path: string, name: string): string {
  if (path === NO_PATH) return path;
  return path === '' ? name : `${path}.${name}`;
}

/** The path of an item in an array. */
export function atIndex(path: string, index: number): string {
  return path === NO_PATH ? path : `${path}[${index}]`;
}

/**
 * A whole body by its shape, as `shape.read(value, '')`. Making the paths takes nearly half the time of reading, so they are made
 * only for a body with a fault, which is read a second time.
 */
export function readWhole<T>(shape: Readable<T>, value: JsonValue | undefined): T {
  try {
    return shape.read(value, NO_PATH);
  } catch {
    return shape.read(value, '');
  }
}

/** Any object, as it is. */
export const jsonObject: Shape<JsonObject> = {
  admits: isJsonObject,
  read: (value, path) => {
    if (!isJsonObject(value)) throw unprocessable(path, 'must be an object');
    return value;
  },
  describe: () => ({ type: 'object' }),
};

/** Any value, as it is. */
export const json: Shape<JsonValue> = {
  admits: (value) => value !== undefined,
  read: (value, path) => {
    if (value === undefined) throw unprocessable(path, 'is required');
    return value;
  },
  describe: () => ({}),
};

/** An object whose fields all have one shape, whatever their names. */
export function dictionary<T>(member: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return {
    admits: isJsonObject,
    read: (value, path) =>
      Object.fromEntries(
        Object.entries(jsonObject.read(value, path)).map(([name, one]) => [name, member.read(one, at(path, name))]),
      ),
    describe: (components) => ({ type: 'object', additionalProperties: member.describe(components) }),
  };
}

interface ArrayRules {
  readonly min?: 1;
  readonly max?: number;
  /** The error for an array over `max`. */
  readonly words?: string;
}

export function array<T, J, D>(
  item: Shape<T, J, D>,
  { min, max, words }: ArrayRules = {},
): Shape<readonly T[], readonly J[], readonly D[]> {
  const { render } = item;
  return {
    admits: Array.isArray,
    read: (value, path) => {
      if (!Array.isArray(value)) throw unprocessable(path, 'must be an array');
      if (min !== undefined && value.length < min) throw unprocessable(path, 'must not be empty');
      if (max !== undefined && value.length > max) throw unprocessable(path, words ?? `must have at most ${max} items`);
      return value.map((one, index) => item.read(one, atIndex(path, index)));
    },
    describe: (components) => ({
      type: 'array',
      items: item.describe(components),
      ...(min !== undefined && { minItems: min }),
      ...(max !== undefined && { maxItems: max }),
    }),
    ...(render && { render: (values) => values.map((value) => render(value)) }),
  };
}

type Variants = Readonly<Record<string, Fields>>;
type VariantOf<T extends string, V extends Variants> = {
  readonly [W in keyof V]: ObjectShape<{ readonly [N in T]: Shape<W> } & V[W]>;
};
type TaggedOf<T extends string, V extends Variants> = Static<VariantOf<T, V>[keyof V]>;
type TaggedJson<T extends string, V extends Variants> = JsonOf<VariantOf<T, V>[keyof V]>;

/** An object whose field `tag` says which other fields it has. */
export function tagged<const T extends string, const V extends Variants>(
  tag: T,
  variants: V,
): Shape<TaggedOf<T, V>, TaggedJson<T, V>> {
  const words = oneOf(Object.keys(variants));
  const shapes = once(
    () =>
      new Map(Object.entries(variants).map(([word, fields]) => [word, object({ [tag]: oneOf([word]), ...fields })])),
  );
  return {
    admits: isJsonObject,
    read: (value, path) => {
      const word = words.read(jsonObject.read(value, path)[tag], at(path, tag));
      return shapes().get(word)!.read(value, path) as unknown as TaggedOf<T, V>;
    },
    describe: (components) => ({ oneOf: [...shapes().values()].map(({ describe }) => describe(components)) }),
  };
}
