// Shapes of objects and arrays.
import { unprocessable } from '../domain/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../domain/json.ts';
import { oneOf } from './scalars.ts';
import type { Shape, Static } from './shape.ts';

type Fields = Readonly<Record<string, Shape<unknown>>>;
type OptionalNames<F extends Fields> = {
  [N in keyof F]: F[N] extends { readonly absence: 'nothing' } ? N : never;
}[keyof F];
type ObjectOf<F extends Fields> = {
  readonly [N in Exclude<keyof F, OptionalNames<F>>]: Static<F[N]>;
} & { readonly [N in OptionalNames<F>]?: Static<F[N]> } extends infer O
  ? { readonly [N in keyof O]: O[N] }
  : never;

/** The shape of an object. `fields` are there to build others from. */
export interface ObjectShape<F extends Fields = Fields> extends Shape<ObjectOf<F>> {
  readonly fields: F;
}

interface ObjectRules {
  readonly closed?: boolean;
  /** Whether it must have one of the fields. */
  readonly atLeastOne?: boolean;
}

/** An object. Fields that it doesn't name are passed over, or refused when it is `closed`. */
export function object<F extends Fields>(
  fields: F,
  { closed = false, atLeastOne = false }: ObjectRules = {},
): ObjectShape<F> {
  const entries = Object.entries(fields);
  const names = new Set(Object.keys(fields));

  function refuseUnknown(holder: JsonObject, path: string): void {
    const unknown = Object.keys(holder).find((name) => !names.has(name));
    if (unknown !== undefined) throw unprocessable(at(path, unknown), `must be one of ${[...names].join(', ')}`);
  }

  return {
    fields,
    admits: isJsonObject,
    read: (value, path) => {
      const holder = jsonObject.read(value, path);
      if (closed) refuseUnknown(holder, path);
      const found: Record<string, unknown> = {};
      for (const [name, field] of entries) {
        const member = holder[name];
        if (member !== undefined || field.absence !== 'nothing') found[name] = field.read(member, at(path, name));
      }
      if (atLeastOne && Object.keys(found).length === 0)
        throw unprocessable(path === '' ? 'body' : path, 'must name at least one field to change');
      return found as ObjectOf<F>;
    },
    describe: (components) => {
      const required = entries.filter(([, { absence }]) => absence === undefined).map(([name]) => name);
      return {
        type: 'object',
        properties: Object.fromEntries(entries.map(([name, field]) => [name, field.describe(components)])),
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
export function readWhole<T>(shape: Shape<T>, value: JsonValue | undefined): T {
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
export function record<T>(member: Shape<T>): Shape<Readonly<Record<string, T>>> {
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

export function array<T>(item: Shape<T>, { min, max, words }: ArrayRules = {}): Shape<readonly T[]> {
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
  };
}

type TaggedOf<T extends string, V extends Readonly<Record<string, Fields>>> = {
  [W in keyof V]: Static<ObjectShape<{ readonly [N in T]: Shape<W> } & V[W]>>;
}[keyof V];

/** An object whose field `tag` says which other fields it has. */
export function tagged<const T extends string, const V extends Readonly<Record<string, Fields>>>(
  tag: T,
  variants: V,
): Shape<TaggedOf<T, V>> {
  const words = oneOf(Object.keys(variants));
  const shapes = new Map(
    Object.entries(variants).map(([word, fields]) => [word, object({ [tag]: oneOf([word]), ...fields })]),
  );
  return {
    admits: isJsonObject,
    read: (value, path) => {
      const word = words.read(jsonObject.read(value, path)[tag], at(path, tag));
      return shapes.get(word)!.read(value, path) as unknown as TaggedOf<T, V>;
    },
    describe: (components) => ({ oneOf: [...shapes.values()].map(({ describe }) => describe(components)) }),
  };
}
