// What a request asks for in its query.

type Value = string | number | boolean;
/** A query, whatever its fields. */
export type QueryFields = Readonly<Record<string, Value | undefined>>;

/** Writes a query with its `?`; empty when there is nothing in it. */
export function queryOf(fields: QueryFields): string {
  const given = Object.entries(fields).filter((field): field is [string, Value] => field[1] !== undefined);
  const text = given.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
  return text === '' ? '' : `?${text}`;
}
