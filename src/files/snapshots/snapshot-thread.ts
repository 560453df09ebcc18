// Requests to the thread that reads workspaces and packs archives: snapshots, tar.gz and zip, each within its deadline.
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Owner } from '../../disk/make-beneath.ts';
import type { Clock } from '../../domain/clock.ts';
import type { Log } from '../../log/log.ts';
import { ResidentThread } from '../../workers/resident.ts';
import { workerFile } from '../../workers/worker-file.ts';
import { incomingPath } from '../blobs/blob-place.ts';
import type { BlobHold, BlobStore } from '../blobs/blobs.ts';
import { type Means, sendRequest, type Thread } from './send-request.ts';
import { archivePath, type LaidOut, type PackTask } from './snapshot-requests.ts';
import type { ExtrasText, Snapshot, SnapshotFile, SnapshotLimits } from './snapshot.ts';

export interface SnapshotRequest {
  readonly sessionId: string;
  /** The workspace's directory. A missing one is empty; if files are recorded, a look at it is refused. */
  readonly root: string;
  readonly limits: SnapshotLimits;
  /** What it is compared with; absent: nothing, so that all files are new. */
  readonly recorded?: RecordedFiles;
  /** If set, the bytes of the files that differ are stored as blobs that it holds, those of small ones are among its contents. */
  readonly hold: BlobHold | null;
  /** For the work itself, without the time that the request waits for others. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal;
}

/** The files of a workspace as they are recorded. */
export interface RecordedFiles {
  /** Of the look that found them; null: it isn't known which. */
  readonly token: string | null;
  /** Reads them: only where the thread doesn't know that look. */
  read(): Promise<readonly SnapshotFile[]>;
  /** What else is recorded of it. */
  readonly extras: ExtrasText;
}

export interface PackRequest {
  /** Names and the keys of their blobs; in the archive in this request, without the leading `/`. */
  readonly files: readonly SnapshotFile[];
  /** Holds the archive's blob; a small one is among its contents. The packed blobs must be held, too, or in use. */
  readonly hold: BlobHold;
  readonly deadlineMs: number;
  readonly signal?: AbortSignal;
  /** Called with the file that an archive is written to from its beginning on, unless it is small. */
  readonly begun?: (path: string) => void;
}

export interface LayOutRequest {
  readonly sessionId: string;
  /** The workspace's directory. Nobody uses it meanwhile. */
  readonly root: string;
  readonly limits: SnapshotLimits;
  /** All that it is to have. Their blobs are held, or in use. */
  readonly files: readonly SnapshotFile[];
  readonly extras: ExtrasText;
  /** Of the look that found them; null: it isn't known which. */
  readonly token: string | null;
  readonly owner: Owner | null;
  /** What has to stay free on the disk. */
  readonly keepFreeBytes: number;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  /** Brings blobs into the directory, without those that are nowhere; absent: no other place has any. */
  readonly bring?: (keys: readonly string[]) => Promise<void>;
}

/** An archive, stored as a blob. */
export interface Archive {
  readonly key: string;
  readonly size: number;
}

/**
 * What the thread can do. Each verb rejects with `unavailable`: out of time, disk full (`isNoSpace`), a missing blob, thread
 * lost, stopped.
 */
export interface SnapshotThread {
  /** Looks at a workspace. Files whose identity is unchanged since they were last hashed are not read. */
  takeSnapshot(request: SnapshotRequest): Promise<Snapshot>;
  /**
   * Packs blobs under names. The same input gives the same bytes; without files, an ordinary empty archive. Names that are not
   * valid on every system have `%5C` for a backslash and `%3A` for a drive's colon.
   */
  packTarGz(request: PackRequest): Promise<Archive>;
  /** As `packTarGz`. */
  packZip(request: PackRequest): Promise<Archive>;
  /**
   * Makes a workspace that which is recorded: what differs is written, what isn't recorded is removed. `missing` is a file whose content is
   * nowhere; then, and when it rejects, the directory is in no state to be used. Rejects with what `bring` does, too.
   */
  layOut(request: LayOutRequest): Promise<LaidOut | { readonly missing: string }>;
  /** Removes the stored manifest of a session. */
  forget(sessionId: string): Promise<void>;
  /** Ends the thread; requests in progress are refused. */
  stop(): Promise<void>;
}

export interface SnapshotThreadParts {
  /** Where the manifests are stored; created when it is missing. */
  readonly directory: string;
  /** The directory of the blob store. */
  readonly blobs: string;
  readonly readSmall: BlobStore['readSmall'];
  readonly clock: Clock;
  readonly log: Log;
}

/** Requests that the thread works on concurrently, in turns. */
const AT_WORK = 4;
/** Large archives among these: one takes minutes, while the next run of any session waits for a snapshot, and people for small ones. */
const LARGE = 2;

/** The thread, which lives while there are requests and one minute longer. */
export function makeSnapshotThread({ directory, blobs, readSmall, clock, log }: SnapshotThreadParts): SnapshotThread {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const manifestPath = (sessionId: string) => join(directory, `${sessionId}.json`);
  const thread: Thread = new ResidentThread({
    clock,
    file: workerFile('../snapshot-worker.ts', import.meta.url),
    heapMb: 512,
    idleMs: 60_000,
    maxAtOnce: AT_WORK,
    maxLong: LARGE,
    failed: (error) => log.error({ err: error }, 'the thread that reads workspaces failed'),
  });

  const means: Means = { thread, readSmall, log };

  /** What every task has: its time, and its place among the blobs. */
  function room(deadlineMs: number): Omit<PackTask, 'kind'> {
    return { deadlineMs, blobs, scratch: join(incomingPath(blobs), randomUUID()), holdsFirst: false };
  }

  async function pack(
    kind: PackTask['kind'],
    { files, hold, deadlineMs, signal, begun }: PackRequest,
  ): Promise<Archive> {
    const task = { kind, ...room(deadlineMs) };
    begun?.(archivePath(task));
    const given = await sendRequest(means, { task, files, hold, signal });
    const [archive] = given === 'unknown' ? [] : given.found;
    return { key: archive!.sha256, size: archive!.size };
  }

  return {
    takeSnapshot: async ({ sessionId, root, limits, recorded = NOTHING_RECORDED, hold, deadlineMs, signal }) => {
      const place = { manifestPath: manifestPath(sessionId), keep: hold !== null, ...room(deadlineMs) };
      const { extras } = recorded;
      const look = (since: string | null, files: readonly SnapshotFile[]) =>
        sendRequest(means, { task: { kind: 'snapshot', root, limits, since, extras, ...place }, files, hold, signal });
      const known = recorded.token === null ? 'unknown' : await look(recorded.token, []);
      const given = known === 'unknown' ? await look(null, await recorded.read()) : known;
      if (given === 'unknown' || given.looked === null) throw new Error('A look has no result.');
      return { ...given.looked, files: given.found, gone: given.gone };
    },
    packTarGz: async (request) => pack('tar.gz', request),
    packZip: async (request) => pack('zip', request),
    layOut: async ({ sessionId, files, deadlineMs, signal, bring, ...laid }) => {
      const fresh = join(dirname(laid.root), layingName(sessionId));
      const place = { fresh, manifestPath: manifestPath(sessionId), ...room(deadlineMs) };
      const task = { kind: 'lay-out', ...laid, ...place } as const;
      const given = await sendRequest(means, { task, files, hold: null, signal, bring });
      if (given === 'unknown' || given.laid === null) throw new Error('Laying out has no result.');
      return given.laid;
    },
    forget: async (sessionId) => {
      for (const path of [manifestPath(sessionId), `${manifestPath(sessionId)}.new`]) await rm(path, { force: true });
    },
    stop: async () => thread.stop(),
  };
}

/** Of a workspace that is being laid out, beside the others. */
export const LAYING_PREFIX = '.laying-';
const layingName = (sessionId: string) => `${LAYING_PREFIX}${sessionId}`;

const NOTHING_RECORDED: RecordedFiles = { token: null, extras: null, read: async () => [] };
