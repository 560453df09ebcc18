// Reads what teams used in the last hour, for the minutes of their graphs that nobody watched.
import { ClientError, isAborted } from '../../client/transport/client-error.ts';
import { hasGaps } from '../state/flow.ts';
import type { ReadParts } from './live-pages.ts';

/** A read that failed is tried again after this long: an older daemon has no such endpoint. */
const RETRY_MS = 30_000;

/** Returns what is to be called every so often: it reads when a graph has gaps. */
export function makeLastHour({ client, get, dispatch, now }: ReadParts): () => void {
  let isReading = false;
  let nextAt = Number.NEGATIVE_INFINITY;

  return () => {
    if (isReading || now() < nextAt || ![...get().office.flows.values()].some(hasGaps)) return;
    isReading = true;
    void client.office
      .lastHour()
      .then((lastHour) => dispatch({ type: 'last-hour', lastHour }))
      .catch((error: unknown) => {
        if (!(error instanceof ClientError) && !isAborted(error)) throw error;
        nextAt = now() + RETRY_MS;
      })
      .finally(() => {
        isReading = false;
      });
  };
}
