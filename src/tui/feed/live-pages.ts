// Reads the live runs that a snapshot has no room for, as their user comes to them.
import { ClientError, isAborted } from '../../client/transport/client-error.ts';
import { wantsLiveRuns } from '../state/visible.ts';
import type { AppState, Dispatch } from '../state/state.ts';
import type { Reads } from './reads.ts';

const PAGE = 96;

/** What reads need: the daemon, the state as drawn, a way to change it, and this machine's clock. */
export interface ReadParts {
  readonly client: Reads;
  readonly get: () => AppState;
  readonly dispatch: Dispatch;
  readonly now: () => number;
}

/** Returns what is to be called every so often: it reads one page after another while more are wanted. */
export function makeLivePages({ client, get, dispatch, now }: ReadParts): () => void {
  let isReading = false;
  let offset = PAGE;
  /** The snapshot after which all pages were read: the next try waits for another. */
  let readAll: number | null = null;

  const read = async () => {
    const { loadedAt } = get().office;
    const { items } = await client.office.liveRuns({ limit: PAGE, offset });
    dispatch({ type: 'live-runs', entities: items, at: now() });
    // Runs end while pages are read, so some are passed over: the next round finds them.
    const isLast = items.length < PAGE;
    offset = isLast ? 0 : offset + PAGE;
    if (isLast) readAll = loadedAt;
  };

  return () => {
    const state = get();
    if (isReading || state.office.loadedAt === readAll || !wantsLiveRuns(state)) return;
    isReading = true;
    void read()
      .catch((error: unknown) => {
        // The next snapshot fails likewise, and the header says so.
        if (!(error instanceof ClientError) && !isAborted(error)) throw error;
      })
      .finally(() => {
        isReading = false;
      });
  };
}
