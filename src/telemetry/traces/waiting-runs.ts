// Runs that have ended and whose traces wait to be sent, by their numbers.

/** Of further ones, the oldest is dropped. */
const MAX_WAITING = 2_000;

export interface WaitingRuns {
  /** Adds a run that has ended. Returns how many were dropped for it. */
  ended(runSeq: number): number;
  /** The oldest, at most so many. */
  first(limit: number): readonly number[];
  size(): number;
  remove(runs: readonly number[]): void;
  clear(): void;
}

export function makeWaitingRuns(): WaitingRuns {
  // A set keeps the order in which its members came.
  const waiting = new Set<number>();
  return {
    ended: (runSeq) => {
      waiting.add(runSeq);
      if (waiting.size <= MAX_WAITING) return 0;
      waiting.delete(waiting.values().next().value!);
      return 1;
    },
    first: (count) => Array.from(waiting).slice(0, count),
    size: () => waiting.size,
    remove: (runs) => {
      for (const run of runs) waiting.delete(run);
    },
    clear: () => waiting.clear(),
  };
}
