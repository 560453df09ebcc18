// Runs that have ended and whose traces wait to be sent, and the parents of those under way: both bounded.
import { readTraceParent, type TraceParent } from './traceparent.ts';

/** Runs that wait to be sent; of further ones, the oldest is dropped. */
const MAX_WAITING = 2_000;
/** Runs under way whose request named a parent; of further ones, the oldest is forgotten. */
const MAX_PARENTS = 20_000;

export interface Waiting {
  readonly runSeq: number;
  readonly parent: TraceParent | null;
}

export interface WaitingRuns {
  /** Notes the parent that the header of a run's request names, if it is valid. */
  begun(runSeq: number, header: string | undefined): void;
  /** Adds a run that has ended. Returns how many were dropped for it. */
  ended(runSeq: number): number;
  /** The oldest, at most so many. */
  first(limit: number): readonly Waiting[];
  size(): number;
  remove(runs: readonly Waiting[]): void;
  clear(): void;
}

export function makeWaitingRuns(): WaitingRuns {
  const parents = new Map<number, TraceParent>();
  // A set keeps the order in which its members came.
  const waiting = new Set<Waiting>();

  function limit(held: Map<number, unknown> | Set<Waiting>, max: number): number {
    if (held.size <= max) return 0;
    const [oldest] = held.keys();
    (held as Set<unknown>).delete(oldest);
    return 1;
  }

  return {
    begun: (runSeq, header) => {
      const parent = readTraceParent(header);
      if (parent === null) return;
      parents.set(runSeq, parent);
      limit(parents, MAX_PARENTS);
    },
    ended: (runSeq) => {
      waiting.add({ runSeq, parent: parents.get(runSeq) ?? null });
      parents.delete(runSeq);
      return limit(waiting, MAX_WAITING);
    },
    first: (count) => Array.from(waiting).slice(0, count),
    size: () => waiting.size,
    remove: (runs) => {
      for (const run of runs) waiting.delete(run);
    },
    clear: () => waiting.clear(),
  };
}
