// What was free on the disk, hour by hour for a week: how fast it fills.
import type { Database } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';

/** Bytes and inodes that were free then; `inodes` is null on file systems without a fixed number. */
export interface DiskSample {
  readonly at: number;
  readonly freeBytes: number;
  readonly freeInodes: number | null;
}

const KEPT_MS = 7 * 86_400_000;

/** The verbs. */
export function makeDiskSamples({ read, write }: Database) {
  return {
    /** Adds one of now, and removes those that are older than a week, or of a time that hasn't come yet. */
    record: write(function* (tx: Transaction, { freeBytes, freeInodes }: Omit<DiskSample, 'at'>): Step<void> {
      yield* tx.run('DELETE FROM disk_samples WHERE at < ? OR at >= ?', tx.now - KEPT_MS, tx.now);
      const insert = 'INSERT INTO disk_samples (at, free_bytes, free_inodes) VALUES (?, ?, ?)';
      yield* tx.run(insert, tx.now, freeBytes, freeInodes);
    }),

    /** All of them, oldest first: at most one an hour of a week. */
    list: read(
      (tx: Reader): Step<DiskSample[]> =>
        tx.all<DiskSample>('SELECT at, free_bytes, free_inodes FROM disk_samples ORDER BY at'),
    ),
  };
}
