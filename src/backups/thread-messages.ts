// Messages between the daemon and the thread that makes backups.
import type { ErrorReason } from '../domain/errors.ts';
import type { StoreReference } from '../store/location.ts';
import type { Keep, Pruned } from './prune.ts';
import type { Manifest, WrappedKey } from '../wire/backups/manifest.ts';

export interface BackupTask {
  readonly id: string;
  readonly createdAt: number;
  readonly errandVersion: string;
  readonly database: StoreReference;
  /** The directory of the blob store. */
  readonly blobs: string;
  /** The directory of all workspaces; null leaves them out. */
  readonly workspaces: string | null;
  readonly configuration: string;
  /** Files that are never copied, such as the master key. */
  readonly except: readonly string[];
  /** The repository; null sends the backup as the bytes of a tar archive. */
  readonly repository: string | null;
  /** The folder for the copy of the database, which is removed in the end. */
  readonly staging: string;
  /** Has to stay free on the disk of the database. */
  readonly keepFreeBytes: number;
  /** The file with the anchor of the audit log, as it is before the database is copied. */
  readonly anchor: string | null;
  readonly sealKey: Uint8Array;
  readonly wrappedKey: WrappedKey | null;
}

export const PHASES = ['database', 'blobs', 'workspaces', 'configuration', 'finishing'] as const;
type Phase = (typeof PHASES)[number];

/** How far a backup is: of the database, in pages or rows; of blobs, in blobs; of workspaces, in sessions. */
export interface Progress {
  readonly phase: Phase;
  readonly done: number;
  readonly total: number;
  /** That were read so far, in all: one session may have most of them. */
  readonly bytes: number;
}

export interface PruneTask {
  readonly repository: string;
  readonly keep: Keep;
  readonly now: number;
}

export type ToBackupThread =
  | { readonly t: 'begin'; readonly task: BackupTask }
  | { readonly t: 'prune'; readonly task: PruneTask }
  /** The bytes were taken. */
  | { readonly t: 'more' }
  | { readonly t: 'cancel' };

/** The last message about a task. */
export type LastFromBackupThread =
  | { readonly t: 'done'; readonly manifest: Manifest }
  | { readonly t: 'pruned'; readonly pruned: Pruned }
  | {
      readonly t: 'failed';
      readonly reason: ErrorReason;
      readonly words: string;
      readonly cause: string | null;
      /** For lack of space. */
      readonly isFull: boolean;
    };

export type FromBackupThread =
  | { readonly t: 'progress'; readonly progress: Progress }
  /** The blobs up to this key are no longer needed. */
  | { readonly t: 'passed'; readonly key: string }
  /** Of the archive; the next ones follow when they were taken. */
  | { readonly t: 'bytes'; readonly bytes: Uint8Array }
  | LastFromBackupThread;
