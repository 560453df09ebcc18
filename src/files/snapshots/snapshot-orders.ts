// The messages between the main thread and the snapshot thread.
import type { Comparison, NameSum, Since, SnapshotLimits, Skipped, SnapshotFile } from './snapshot.ts';

interface Task {
  readonly deadlineMs: number;
  /** The blobs' directory, and how the paths of files begin that this order writes there first. */
  readonly blobs: string;
  readonly scratch: string;
  /** Whether even a few files are reported and held before they are moved to their places. */
  readonly holdsFirst: boolean;
}

export interface SnapshotTask extends Task {
  readonly kind: 'snapshot';
  readonly root: string;
  readonly limits: SnapshotLimits;
  /** Where the hashes are stored. */
  readonly hashedPath: string;
  /** Whether bytes are stored as blobs. */
  readonly keep: boolean;
  /** Null: all files. */
  readonly paths: readonly string[] | null;
  /** If the stored hashes are still those of this look, only the difference is reported. */
  readonly since: Since | null;
}

export interface PackTask extends Task {
  readonly kind: 'tar.gz' | 'zip';
}

/** Where an archive is written before it is moved to its place as a blob. */
export const archivePath = ({ scratch }: Pick<PackTask, 'scratch'>): string => `${scratch}-archive`;

export type ToSnapshotThread =
  /** Files of a new order: a few at a time, so that no thread is blocked by many. */
  | { readonly t: 'files'; readonly files: readonly SnapshotFile[] }
  /** With the last of its files. */
  | { readonly t: 'begin'; readonly task: SnapshotTask | PackTask; readonly files: readonly SnapshotFile[] }
  | { readonly t: 'held' }
  | { readonly t: 'cancel' };

export type FromSnapshotThread =
  /**
   * Files that were found, or the one archive without a path: they must be held before they are moved to their places as blobs.
   */
  { readonly t: 'found'; readonly files: readonly SnapshotFile[] } | LastFromSnapshotThread;

/** `files`: those that were reported in no other way; they are few, and in their places already. */
export type LastFromSnapshotThread =
  /** `skipped`: null when not all of a workspace was looked at. */
  | (Comparison & {
      readonly t: 'done';
      readonly skipped: Skipped | null;
      readonly names: NameSum | null;
      readonly files: readonly SnapshotFile[];
    })
  /**
   * `words` are for the caller, `cause` for the log. `full`: for lack of space, so that a retry may succeed. `lostBlob`: one that had been
   * found was removed before it was held, so that another look reads its file.
   */
  | {
      readonly t: 'failed';
      readonly words: string;
      readonly cause: string | null;
      readonly full: boolean;
      readonly lostBlob: boolean;
      readonly files: readonly SnapshotFile[];
    };
