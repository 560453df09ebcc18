// What people type for an id: the whole of it, its start, or a name.
import { type IdNoun, isIdStart, isUuid } from '../domain/ids.ts';

import type { ListWire } from '../wire/listing.ts';
import { ClientError, refusalStatusOf } from './transport/client-error.ts';
import type { Call } from './transport/transport.ts';

/** Calls a route of the management interface by its whole path. Its reply has 30 s unless it is given more. */
export type CallManagement = <T>(method: Call['method'], path: string, body?: object, timeoutMs?: number) => Promise<T>;

/** The whole id for the start of one; anything else unchanged, including names. Throws ClientError. */
export type CompleteAny = <T extends string | null | undefined>(noun: IdNoun, reference: T) => Promise<T>;

/** Makes the look-up over one connection to the management interface. */
export function makeCompletion(call: CallManagement): CompleteAny {
  return async <T extends string | null | undefined>(noun: IdNoun, reference: T): Promise<T> => {
    if (typeof reference !== 'string' || isUuid(reference) || !isIdStart(reference)) return reference;
    try {
      return (await call<{ readonly id: T }>('GET', `/api/v1/ids/${noun}/${reference}`)).id;
    } catch (error) {
      const status = refusalStatusOf(error);
      // What the reference is for says it in its own words.
      if (status === 404) return reference;
      if (status !== 403) throw error;
      const message = 'Give the whole id: only an administrator can look it up by its start.';
      throw new ClientError({ kind: 'refused', status }, message, { cause: error });
    }
  };
}

/** How many things of one name are listed, and named when a name isn't enough. */
export const LISTED_BY_NAME = 5;

interface NamedThings {
  /** Such as `pages`. */
  readonly noun: string;
  /** What is to be given in place of the name. */
  readonly key: string;
  readonly name: string;
}

/** The only thing of a name; undefined when there is none. Throws ClientError when there are several: `idOf` tells them apart. */
export function onlyOne<T>(
  { items, total }: ListWire<T>,
  { noun, key, name }: NamedThings,
  idOf: (thing: T) => string,
): T | undefined {
  if (total <= 1) return items[0];
  const more = total > items.length ? ' and more' : '';
  const message = `Several ${noun} are named ${name}: ${items.map(idOf).join(', ')}${more}. Give the ${key}.`;
  throw new ClientError({ kind: 'refused', status: 409 }, message);
}
