// What the main thread and the snapshot thread say to each other.
import type { SnapshotLimits, Skipped, SnapshotFile } from './snapshot.ts';

interface Task {
  readonly deadlineMs: number;
  /** The blobs' directory, and a folder in it for this order alone, gone when the order has ended. */
  readonly blobs: string;
  readonly scratch: string;
}

export interface SnapshotTask extends Task {
  readonly kind: 'snapshot';
  readonly root: string;
  readonly limits: SnapshotLimits;
  /** Where it is written what was hashed. */
  readonly hashedPath: string;
  /** Whether bytes are kept as blobs. */
  readonly keep: boolean;
}

export interface PackTask extends Task {
  readonly kind: 'tar.gz' | 'zip';
}

export type ToSnapshotThread =
  /** Files of an order that is to begin: a few at a time, so that no thread stops for many. */
  | { readonly t: 'files'; readonly files: readonly SnapshotFile[] }
  | { readonly t: 'begin'; readonly task: SnapshotTask | PackTask }
  | { readonly t: 'held' }
  | { readonly t: 'cancel' };

export type FromSnapshotThread =
  /** Files that were found, or the one archive without a path: before they take their places as blobs, they must be held. */
  { readonly t: 'found'; readonly files: readonly SnapshotFile[] } | LastFromSnapshotThread;

export type LastFromSnapshotThread =
  | { readonly t: 'done'; readonly skipped: Skipped | null }
  /** `words` are for the one who asked, `cause` for the log. `full`: for want of space, so that it may go well later. */
  | { readonly t: 'failed'; readonly words: string; readonly cause: string | null; readonly full: boolean };
