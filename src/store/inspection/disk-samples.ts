// What was free on the disk of a node, hour by hour for a week: how fast it fills.
import type { Database } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { HOME_NODE } from '../sessions/workspaces-here.ts';

/** Bytes and inodes that were free then; `inodes` is null on file systems without a fixed number. */
export interface DiskSample {
  readonly at: number;
  readonly freeBytes: number;
  readonly freeInodes: number | null;
}

const KEPT_MS = 7 * 86_400_000;

/** Those of before there were several nodes are of the one that was alone. */
const IS_OF = `coalesce(node_id, (${HOME_NODE})) = ?`;
const REMOVE = `DELETE FROM disk_samples WHERE at < ? OR (at >= ? AND ${IS_OF})`;
// Two nodes may come in one millisecond: the next sample of the second is an hour later.
const INSERT = `INSERT INTO disk_samples (at, free_bytes, free_inodes, node_id) VALUES (?, ?, ?, ?) ON CONFLICT (at) DO NOTHING`;
const LIST = `SELECT at, free_bytes, free_inodes FROM disk_samples WHERE ${IS_OF} ORDER BY at`;

/** The verbs. A node is its id. */
export function makeDiskSamples({ read, write }: Database) {
  return {
    /** Adds one of now, and removes those that are older than a week, or, of this node, of a time that hasn't come yet. */
    record: write(function* (
      tx: Transaction,
      node: string,
      { freeBytes, freeInodes }: Omit<DiskSample, 'at'>,
    ): Step<void> {
      yield* tx.run(REMOVE, tx.now - KEPT_MS, tx.now, node);
      yield* tx.run(INSERT, tx.now, freeBytes, freeInodes, node);
    }),

    /** Those of a node, oldest first: at most one an hour of a week. */
    list: read((tx: Reader, node: string): Step<DiskSample[]> => tx.all<DiskSample>(LIST, node)),
  };
}
