// What a request asks for in its query.
import type { Shape, Static } from '../../wire/shape.ts';

/** The fields of a query; the daemon has a value for each that is left out. */
export type Query<S extends Shape<object>> = { readonly [N in keyof Static<S>]?: Static<S>[N] | undefined };

/** Writes a query with its `?`; empty when there is nothing in it. */
export function queryOf(fields: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(fields).filter((field): field is [string, string | number] => field[1] !== undefined);
  const text = given.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
  return text === '' ? '' : `?${text}`;
}
