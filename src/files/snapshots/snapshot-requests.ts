// The messages between the main thread and the snapshot thread.
import type { Owner } from '../../disk/make-beneath.ts';
import type { ExtrasText, Snapshot, SnapshotLimits, SnapshotFile } from './snapshot.ts';

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
  /** Where the manifest is stored. */
  readonly manifestPath: string;
  /** Whether bytes are stored as blobs. */
  readonly keep: boolean;
  /** The look whose files are the recorded ones; null: the order comes with the recorded files, and `extras` are the recorded ones. */
  readonly since: string | null;
  readonly extras: ExtrasText;
}

/** What a look comes to, besides the files. */
export type Looked = Omit<Snapshot, 'files'>;

export interface PackTask extends Task {
  readonly kind: 'tar.gz' | 'zip';
}

export interface LayOutTask extends Task {
  readonly kind: 'lay-out';
  readonly root: string;
  /** Where it is made first, unless there is one that can be changed in place. */
  readonly fresh: string;
  /** Of the walk through what is there. */
  readonly limits: SnapshotLimits;
  /** Where the manifest is stored, and the look whose files they are. */
  readonly manifestPath: string;
  readonly token: string | null;
  /** What it is to have besides the files. */
  readonly extras: ExtrasText;
  readonly owner: Owner | null;
  /** What has to stay free on the disk. */
  readonly keepFreeBytes: number;
}

/** What was done to a workspace so that it has its recorded files, and no others. */
export interface LaidOut {
  /** Files that were there, that were written, with their bytes, and that were removed. */
  readonly kept: number;
  readonly written: number;
  readonly writtenBytes: number;
  readonly removed: number;
}

/** Where the bytes of small files are written that are too many for a message. */
export const contentsPath = ({ scratch }: Pick<PackTask, 'scratch'>): string => `${scratch}-contents`;

/** Where an archive is written before it is moved to its place as a blob. */
export const archivePath = ({ scratch }: Pick<PackTask, 'scratch'>): string => `${scratch}-archive`;

export type ThreadTask = SnapshotTask | PackTask | LayOutTask;

/**
 * The files of an order are those to pack, or those that are recorded of a workspace. They come a few at a time, so that no thread is
 * blocked by many.
 */
export type ToSnapshotThread =
  | { readonly t: 'files'; readonly files: readonly SnapshotFile[] }
  /** With the last of its files. */
  | { readonly t: 'begin'; readonly task: ThreadTask; readonly files: readonly SnapshotFile[] }
  /** What was reported last is taken. */
  | { readonly t: 'held' }
  /** Bytes that were wanted, as far as they are rows; none for blobs that were brought. Null: they can't be had. */
  | { readonly t: 'contents'; readonly contents: ReadonlyMap<string, Uint8Array> | null }
  | { readonly t: 'cancel' };

/** A file that was found. `at`: where its bytes begin among the reported ones; absent of a large one, and of one reported before. */
export type ReportedFile = SnapshotFile & { readonly at?: number };

export type FromSnapshotThread =
  /**
   * Files that were found. Large ones must be held before they are moved to their places as blobs; the bytes of small ones are in the
   * file `contents`.
   */
  | { readonly t: 'found'; readonly files: readonly ReportedFile[]; readonly contents: string }
  /** Blobs whose bytes it needs, if they are rows. */
  | { readonly t: 'wanted'; readonly keys: readonly string[] }
  /** Blobs that have to be in the directory, unless they are rows. */
  | { readonly t: 'bring'; readonly keys: readonly string[] }
  /** Paths that have no file any more. */
  | { readonly t: 'gone'; readonly paths: readonly string[] }
  | LastFromSnapshotThread;

/** Files that were reported in no other way: they are few, and large ones are in their places already. `contents`: the bytes of small ones. */
export interface FewFiles {
  readonly files: readonly ReportedFile[];
  readonly contents: Uint8Array<ArrayBuffer>;
}

export type LastFromSnapshotThread = FewFiles & How;

type How =
  /** `looked`: null of an archive; of its paths, those that were reported in no other way. */
  | { readonly t: 'done'; readonly looked: Looked | null }
  /** `missing`: a file whose content is nowhere; nothing was laid out then. */
  | { readonly t: 'laid'; readonly laid: LaidOut | { readonly missing: string } }
  /** The thread doesn't know the look that the order names: it has to come with the recorded files. */
  | { readonly t: 'unknown' }
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
    };
