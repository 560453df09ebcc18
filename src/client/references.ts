// What people type for an id: the whole of it, its start, or a name.
import { type IdNoun, isIdStart, isUuid } from '../domain/ids.ts';
import type { FoundIdWire } from '../wire/found-id.ts';
import { ClientError, isClientFailure } from './transport/client-error.ts';
import type { Call } from './transport/transport.ts';

/** Calls a route of the management interface; the path is without `/api/v1`. Its reply has 30 s unless it is given more. */
export type CallManagement = <T>(method: Call['method'], path: string, body?: object, timeoutMs?: number) => Promise<T>;

/** Look-ups of references. */
export interface References {
  /** The path of one thing: a start of an id is looked up first. */
  at(noun: IdNoun, reference: string): Promise<string>;
  /** The full id for a prefix; anything else unchanged, including names. Throws ClientError. */
  whole<T extends string | null | undefined>(noun: IdNoun, reference: T): Promise<T>;
}

/** Makes the look-ups over one connection to the management interface. */
export function makeReferences(call: CallManagement): References {
  async function whole<T extends string | null | undefined>(noun: IdNoun, reference: T): Promise<T> {
    if (typeof reference !== 'string' || isUuid(reference) || !isIdStart(reference)) return reference;
    try {
      return (await call<FoundIdWire>('GET', `/ids/${noun}/${reference}`)).id as T;
    } catch (error) {
      const status = isClientFailure(error, 'refused') && 'status' in error.failure ? error.failure.status : undefined;
      // What the reference is for says it in its own words.
      if (status === 404) return reference;
      if (status !== 403) throw error;
      const message = 'Give the whole id: only an administrator can look it up by its start.';
      throw new ClientError({ kind: 'refused', status }, message, { cause: error });
    }
  }
  return { whole, at: async (noun, reference) => `/${noun}/${encodeURIComponent(await whole(noun, reference))}` };
}
