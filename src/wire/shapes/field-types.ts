// The types that a table of fields yields: its JSON, what is read of it, and what it is rendered from.
import type { Flat } from './composites.ts';
import type { AnyShape, JsonOf, SourceOf, Static } from './shape.ts';

/** Fields by their names in the domain. On the wire, `projectId` is `project_id`, unless its line has another name. */
export type FieldTable = Readonly<Record<string, Field>>;

type Field = AnyShape | Called<string, AnyShape> | MadeOf<AnyShape, never>;

/** A field that has another name on the wire than that of the rule. */
export type Called<W extends string, S> = Omit<S, 'wireName'> & { readonly wireName: W };

/** A field that is rendered from the whole value instead of one field of it. */
export type MadeOf<S, V> = Omit<S, 'make'> & Made<V>;

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

/** Such a field. `make` gives what its shape is rendered from. */
export interface Made<in V> {
  readonly make: (whole: V) => unknown;
}
