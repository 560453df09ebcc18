// Records and requests: tables of fields in the names of the domain. The type of their JSON, its schema, its reader, and how a
// value of the domain is rendered come from the table.
import { type Flat, type FieldsShape, type Member, objectOf, type ObjectRules } from './composites.ts';
import type { AnyShape, JsonOf, Shape, SourceOf, Static } from './shape.ts';

/** Fields by their names in the domain. On the wire, `projectId` is `project_id`, unless its line has another name. */
export type FieldTable = Readonly<Record<string, AnyShape>>;

type SnakeCase<N extends string> = N extends `${infer First}${infer Rest}`
  ? First extends Lowercase<First>
    ? `${First}${SnakeCase<Rest>}`
    : `_${Lowercase<First>}${SnakeCase<Rest>}`
  : '';

type NameOnWire<N, S> = S extends { readonly wireName: infer W extends string } ? W : SnakeCase<N & string>;

type OptionalNames<F extends FieldTable> = {
  [N in keyof F]: F[N] extends { readonly absence: 'nothing' } ? N : never;
}[keyof F];
type OmissibleNames<F extends FieldTable> = {
  [N in keyof F]: F[N] extends { readonly absence: 'nothing' | 'default' } ? N : never;
}[keyof F];
type MadeNames<F extends FieldTable> = { [N in keyof F]: F[N] extends Made<never> ? N : never }[keyof F];

/** The JSON of a table of fields. */
export type JsonOfFields<F extends FieldTable> = Flat<
  { readonly [N in Exclude<keyof F, OmissibleNames<F>> as NameOnWire<N, F[N]>]: JsonOf<F[N]> } & {
    readonly [N in OmissibleNames<F> as NameOnWire<N, F[N]>]?: JsonOf<F[N]>;
  }
>;

/** What is read of a request with these fields. */
export type ReadOfFields<F extends FieldTable> = Flat<
  { readonly [N in Exclude<keyof F, OptionalNames<F>>]: Static<F[N]> } & {
    readonly [N in OptionalNames<F>]?: Static<F[N]>;
  }
>;

/** What a record of these fields is rendered from: a value of the domain that has at least these. */
export type SourceOfFields<F extends FieldTable> = Flat<
  { readonly [N in Exclude<keyof F, OptionalNames<F> | MadeNames<F>>]: SourceOf<F[N]> } & {
    readonly [N in Exclude<OptionalNames<F>, MadeNames<F>>]?: SourceOf<F[N]> | undefined;
  }
> &
  WholesOf<F>;

/** What the functions of its made fields take. */
type WholesOf<F extends FieldTable> = {
  readonly [N in MadeNames<F>]: F[N] extends Made<infer V> ? (whole: V) => void : never;
}[MadeNames<F>] extends (whole: infer V) => void
  ? V
  : unknown;

/** A field that is rendered from the whole value instead of one field of it. */
interface Made<in V> {
  readonly make: (whole: V) => unknown;
}

/** A record of a reply. */
export interface RecordShape<F extends FieldTable>
  extends Shape<JsonOfFields<F>, JsonOfFields<F>, SourceOfFields<F>>,
    Pick<FieldsShape, 'byName'> {
  /** To build others from. */
  readonly fields: F;
  readonly render: (value: SourceOfFields<F>) => JsonOfFields<F>;
}

/** A body or a query, which is read as a value of the domain. */
export interface RequestShape<F extends FieldTable>
  extends Shape<ReadOfFields<F>, JsonOfFields<F>>,
    Pick<FieldsShape, 'byName'> {
  readonly fields: F;
}

/** What is replied. Its fields are rendered in the order of the table. */
export function record<F extends FieldTable>(fields: F): RecordShape<F> {
  const lines = Object.entries(fields).map(([name, shape]) => ({ name, wireName: nameOnWire(name, shape), shape }));
  const members = lines.map(({ wireName, shape }) => ({ key: wireName, name: wireName, shape }));
  const render = rendererOf(lines) as RecordShape<F>['render'];
  return { fields, ...objectOf<JsonOfFields<F>>(members, {}), render };
}

/** What is asked: read under the names of the wire, with the names of the domain as the result. */
export function request<F extends FieldTable>(fields: F, rules: ObjectRules = {}): RequestShape<F> {
  const members = Object.entries(fields).map(([key, shape]): Member => ({ key, name: nameOnWire(key, shape), shape }));
  return { fields, ...objectOf<ReadOfFields<F>>(members, rules) };
}

/** A field that has another name on the wire than that of the rule. */
export function called<const W extends string, S extends AnyShape>(
  wireName: W,
  shape: S,
): S & { readonly wireName: W } {
  return { ...shape, wireName };
}

/** A field that is rendered from what `make` gives for the whole value. */
export function made<V, T, J, D>(shape: Shape<T, J, D>, make: (whole: V) => D): Shape<T, J, D> & Made<V> {
  return { ...shape, make };
}

/** A record within another one, of the same value. */
export function part<F extends FieldTable>(shape: RecordShape<F>): RecordShape<F> & Made<SourceOfFields<F>> {
  return { ...shape, make: (whole) => whole };
}

interface Line {
  readonly name: string;
  readonly wireName: string;
  readonly shape: AnyShape & Partial<Made<never>>;
}

/** Renders one record after another with the same fields in the same order, so that the engine has one hidden class for all. */
function rendererOf(lines: readonly Line[]): (value: never) => object {
  const steps = lines.map(({ name, wireName, shape: { make, render } }) => ({ name, wireName, make, render }));
  return (value: Readonly<Record<string, never>>) => {
    const found: Record<string, unknown> = {};
    for (const { name, wireName, make, render } of steps) {
      const field = make === undefined ? value[name] : make(value as never);
      found[wireName] = render === undefined ? field : render(field as never);
    }
    return found;
  };
}

function nameOnWire(name: string, shape: AnyShape & { readonly wireName?: string }): string {
  return shape.wireName ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
