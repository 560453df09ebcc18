// How long the client keeps trying to get a broken connection back.
import { setTimeout as sleep } from 'node:timers/promises';
import { isClientFailure } from './client-error.ts';

/** A count of tries, each after a longer pause. */
export interface Patience {
  /** Waits before the next try. Answers false, at once, when there were enough. Throws AbortError. */
  pause(): Promise<boolean>;
  /** Starts counting anew, after something has come through. */
  renew(): void;
}

const DELAYS_MS = [250, 500, 1000, 2000, 4000, 8000];

/** About sixteen seconds in all, unless told otherwise: enough for a daemon to be restarted. */
export function makePatience(
  onTry: (tries: number) => void,
  delaysMs: readonly number[] = DELAYS_MS,
  signal?: AbortSignal,
): Patience {
  let tries = 0;
  return {
    async pause() {
      const delayMs = delaysMs[tries];
      if (delayMs === undefined) return false;
      tries += 1;
      onTry(tries);
      await sleep(delayMs, undefined, signal && { signal });
      return true;
    },
    renew() {
      tries = 0;
    },
  };
}

const STATUSES_THAT_PASS: ReadonlySet<number> = new Set([429, 502, 503]);

/** Answers whether an error may pass by itself, as while the daemon restarts. */
export function mayPass(error: unknown): boolean {
  if (isClientFailure(error, 'lost', 'unreachable')) return true;
  return isClientFailure(error, 'refused') && 'status' in error.failure && STATUSES_THAT_PASS.has(error.failure.status);
}
