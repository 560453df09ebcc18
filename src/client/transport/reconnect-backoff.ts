// How often, and after which pauses, the client tries to rejoin a broken connection.
import { setTimeout as sleep } from 'node:timers/promises';

/** A limited number of attempts, each after a longer pause. */
export interface ReconnectBackoff {
  /** Waits before the next attempt. Returns false at once when no attempt is left. Throws AbortError. */
  pause(): Promise<boolean>;
  /** Starts over with the first pause, after data has arrived. */
  reset(): void;
}

const DELAYS_MS = [250, 500, 1000, 2000, 4000, 8000];

/** By default about sixteen seconds in total, which is enough for a daemon to restart. */
export function makeReconnectBackoff(
  onAttempt: (attempts: number) => void,
  delaysMs: readonly number[] = DELAYS_MS,
  signal?: AbortSignal,
): ReconnectBackoff {
  let attempts = 0;
  return {
    async pause() {
      const delayMs = delaysMs[attempts];
      if (delayMs === undefined) return false;
      attempts += 1;
      onAttempt(attempts);
      await sleep(delayMs, undefined, signal && { signal });
      return true;
    },
    reset() {
      attempts = 0;
    },
  };
}
