// Reads values of a request's query, strictly (A8).
import { unprocessable } from '../../domain/errors.ts';
import { type Exchange, queryValue } from './exchange.ts';
import { optional, readUuid } from './fields.ts';

/** A page as the query names it: `limit` from 1 to 500, 100 when absent; `offset` from 0 (§4.6, §8). */
export function pageInQuery(exchange: Exchange): { readonly limit: number; readonly offset: number } {
  return {
    limit: integerInQuery(exchange, 'limit', { from: 1, to: 500, absent: 100 }),
    offset: integerInQuery(exchange, 'offset', { from: 0, to: Number.MAX_SAFE_INTEGER, absent: 0 }),
  };
}

interface IntegerRules {
  readonly from: number;
  readonly to: number;
  readonly absent: number;
}

/** An integer of the query. Throws `unprocessable` for anything but digits within the range: nothing is clamped. */
export function integerInQuery(exchange: Exchange, name: string, { from, to, absent }: IntegerRules): number {
  const text = queryValue(exchange, name);
  if (text === null) return absent;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= from && value <= to) return value;
  throw unprocessable(
    name,
    to === Number.MAX_SAFE_INTEGER ? `must be an integer from ${from}` : `must be an integer from ${from} to ${to}`,
  );
}

/** One of a closed list of words, or null when absent. */
export function wordInQuery<const T extends string>(exchange: Exchange, name: string, words: readonly T[]): T | null {
  const text = queryValue(exchange, name);
  if (text === null) return null;
  const word = words.find((candidate) => candidate === text);
  if (word === undefined) throw unprocessable(name, `must be one of ${words.join(', ')}`);
  return word;
}

/** A UUID of the query in lower case, or null when absent. */
export function uuidInQuery(exchange: Exchange, name: string): string | null {
  return optional(queryValue(exchange, name), name, readUuid);
}

/**
 * The journal id after which a rejoined stream goes on: the larger of the header and the query, which may lag behind. An
 * empty `Last-Event-ID` says that no event has come yet, as in browsers; an empty `after` is a mistake.
 */
export function positionInRequest(exchange: Exchange): number {
  const header = exchange.req.headers['last-event-id'];
  return Math.max(
    eventId(typeof header === 'string' && header !== '' ? header : null, 'Last-Event-ID'),
    eventId(queryValue(exchange, 'after'), 'after'),
  );
}

function eventId(text: string | null, name: string): number {
  if (text === null) return 0;
  const id = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(id)) throw unprocessable(name, 'must be an event id: an integer from 0');
  return id;
}
