// Remembers which reads were recorded lately, so that who looks again and again leaves one entry.
import type { Clock } from '../../domain/clock.ts';

/** The same read within this time is recorded once. */
export const SAME_READ_MS = 10 * 60_000;
/** What is remembered at most; of what is forgotten, the next read is recorded again. */
const MAX_REMEMBERED = 10_000;

interface Recorded {
  readonly at: number;
  readonly done: Promise<void>;
}

/** Makes what records a read unless the same one was recorded lately. Rejects when it could not be. */
export function makeRecentReads(clock: Clock) {
  /** In the order of their times. */
  const reads = new Map<string, Recorded>();

  function forget(now: number): void {
    for (const [key, { at }] of reads) {
      if (now - at < SAME_READ_MS && reads.size <= MAX_REMEMBERED) return;
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
    // One that was refused is tried again by the next.
    read.done.catch(() => {
      if (reads.get(key) === read) reads.delete(key);
    });
    return read.done;
  };
}
