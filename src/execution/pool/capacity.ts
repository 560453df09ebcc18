// How many threads a pool has for the runs of each class, and how many runs they take.
import { shareBytes, threadBytes } from '../brief/brief-room.ts';

export interface PoolSize {
  readonly threads: number;
  readonly runsPerThread: number;
  /** V8 heap limit of one thread. */
  readonly memoryMb: number;
  readonly hangTimeoutMs: number;
}

/** Runs of a class share threads with their like only. */
export type RunClass = 'common' | 'suspect' | 'large';

/** The threads of a class, and what its runs may weigh together: no more of them than its threads take, so that none waits unnoticed. */
export interface Capacity {
  readonly threads: number;
  readonly runsPerThread: number;
  readonly weight: number;
}

/** Each has one run, others wait for it. */
const SUSPECT_THREADS = 4;
export const CAPACITIES: Readonly<Record<RunClass, (size: PoolSize) => Capacity>> = {
  // The queue claims no more than there are slots.
  common: ({ threads, runsPerThread }) => ({ threads, runsPerThread, weight: Infinity }),
  suspect: () => ({ threads: SUSPECT_THREADS, runsPerThread: 1, weight: SUSPECT_THREADS }),
  // They weigh their bytes. One thread, because it is unknown which of several would get a run.
  large: (size) => {
    const weight = threadBytes(size);
    return { threads: 1, runsPerThread: Math.ceil(weight / shareBytes(size)), weight };
  },
};
