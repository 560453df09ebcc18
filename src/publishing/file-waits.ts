// Waiting for the files of runs that have ended: for 20 s at most, and not beyond the end of the daemon.
import type { Clock } from '../domain/clock.ts';
import { ErrandError } from '../domain/errors.ts';
import type { OnCollected } from '../events/collected.ts';

export interface FileWaitParts {
  readonly onCollected: OnCollected;
  /** Whether runs of the session may be collected by other processes, which don't report all of it. */
  readonly hasPeers: boolean;
  readonly clock: Clock;
}

export interface FileWaits {
  /**
   * Attempts something whenever the files of a session may be known, until it finds them or the time is over; returns what the last
   * attempt did. Throws as it does, and `unavailable` when the daemon ends meanwhile.
   */
  untilCollected<Outcome extends { readonly kind: string }>(
    sessionSeq: number,
    attempt: () => Promise<Outcome>,
  ): Promise<Outcome>;
  /** The daemon ends: who waits is refused, while there is still somebody to read that. */
  end(): void;
}

const WAIT_MS = 20_000;
/** While it waits, what other processes find is looked for so often. */
const LOOK_MS = 1_000;

export function makeFileWaits({ onCollected, hasPeers, clock }: FileWaitParts): FileWaits {
  const ending = new AbortController();
  const { signal } = ending;

  return {
    untilCollected: async (sessionSeq, attempt) => {
      const until = clock.monotonic() + WAIT_MS;
      for (;;) {
        const change = Promise.withResolvers<void>();
        const ignore = onCollected((collected) => {
          if (collected === sessionSeq) change.resolve();
        });
        const leftMs = Math.max(until - clock.monotonic(), 0);
        const timer = clock.after(hasPeers ? Math.min(leftMs, LOOK_MS) : leftMs, change.resolve);
        const end = () => change.resolve();
        signal.addEventListener('abort', end);
        try {
          const outcome = await attempt();
          if (outcome.kind !== 'uncollected' || clock.monotonic() >= until) return outcome;
          if (!signal.aborted) await change.promise;
          if (signal.aborted) throw new ErrandError('unavailable', 'The server is restarting. Try again.');
        } finally {
          signal.removeEventListener('abort', end);
          ignore();
          timer.cancel();
        }
      }
    },
    end: () => ending.abort(),
  };
}
