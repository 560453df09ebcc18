// Which endpoints have answered as they are configured: only those may be waited for as long as there is patience.
import { createHmac } from 'node:crypto';
import type { Log } from '../../log/log.ts';
import type { Store } from '../../store/open-store.ts';

const MAX_REMEMBERED = 1_000;

/** Endpoints are named by `configured` of their grants. */
export interface AnsweredEndpoints {
  /** One has answered a call, or a check. */
  answered(configured: string): void;
  /** Whether it has: here, before the last start, or at another node. True while the rows can't be read. */
  hasAnswered(configured: string): Promise<boolean>;
}

interface AnsweredParts {
  readonly store: Pick<Store, 'endpoints'>;
  /** The same at every node. Rows have names that nobody can guess a credential from. */
  readonly key: Uint8Array;
  readonly log: Log;
}

/** Makes it. A row is written once for each configuration, and read when a call has failed. */
export function makeAnsweredEndpoints({ store, key, log }: AnsweredParts): AnsweredEndpoints {
  const remembered = new Set<string>();
  const remember = (configured: string) => {
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.add(configured);
  };
  const rowOf = (configured: string) => createHmac('sha256', key).update(configured).digest('base64url');
  return {
    answered: (configured) => {
      if (remembered.has(configured)) return;
      remember(configured);
      store.endpoints.keepAnswered(rowOf(configured)).catch((error: unknown) => {
        remembered.delete(configured);
        log.warn({ err: error }, 'that an endpoint has answered could not be recorded');
      });
    },
    hasAnswered: async (configured) => {
      if (remembered.has(configured)) return true;
      try {
        const has = await store.endpoints.hasAnswered(rowOf(configured));
        if (has) remember(configured);
        return has;
      } catch (error) {
        log.warn({ err: error }, 'whether an endpoint has answered could not be read');
        return true;
      }
    },
  };
}
