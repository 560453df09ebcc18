// Remembers which reads were recorded recently, so that repeated reads leave one entry.
import type { Clock } from '../../domain/clock.ts';

/** Maximum number of reads remembered; the next read of a forgotten one is recorded again. */
const MAX_REMEMBERED = 10_000;

interface Recorded {
  readonly at: number;
  readonly done: Promise<void>;
}

/** Makes the function that records a read unless the same one was recorded within `sameMs`. Rejects when recording fails. */
export function makeRecentReads(clock: Clock, sameMs: number) {
  /** Ordered by time. */
  const reads = new Map<string, Recorded>();

  function forget(now: number): void {
    for (const [key, { at }] of reads) {
      if (now - at < sameMs && reads.size <= MAX_REMEMBERED) return;
      reads.delete(key);
    }
  }

  return (key: string, record: () => Promise<void>): Promise<void> => {
    const now = clock.monotonic();
    forget(now);
    const known = reads.get(key);
    if (known !== undefined) return known.done;
    const read = { at: now, done: record() };
    reads.set(key, read);
    // After a failure, the next read tries again.
    read.done.catch(() => {
      if (reads.get(key) === read) reads.delete(key);
    });
    return read.done;
  };
}
