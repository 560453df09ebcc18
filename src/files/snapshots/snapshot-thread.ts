// Requests to the thread that reads workspaces and packs archives: snapshots, tar.gz and zip, each within its deadline.
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../domain/clock.ts';
import { ErrandError } from '../../domain/errors.ts';
import { SMALL_BLOB_BYTES } from '../../domain/sessions/contents.ts';
import type { Log } from '../../log/log.ts';
import { ResidentThread } from '../../threads/resident.ts';
import type { ThreadFailure } from '../../threads/thread-end.ts';
import { threadFile } from '../../threads/thread-file.ts';
import { hasBlob, incomingPath, removeScratch } from '../blobs/blob-place.ts';
import type { BlobHold, BlobStore } from '../blobs/blobs.ts';
import type { Portion } from '../blobs/held-contents.ts';
import {
  archivePath,
  type FromSnapshotThread,
  type LastFromSnapshotThread,
  type Looked,
  type PackTask,
  type ReportedFile,
  type SnapshotTask,
  type ToSnapshotThread,
} from './snapshot-requests.ts';
import { noSpace } from '../blobs/no-space.ts';
import type { Snapshot, SnapshotFile, SnapshotLimits } from './snapshot.ts';

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
/** An archive of more is large. */
const [SMALL_FILES, SMALL_BYTES] = [1_000, 8_388_608];
/** A thread that does not end a request by itself this long after its deadline hangs in a call. */
const GRACE_MS = 30_000;
/** Files per message: more would block the main thread while they are copied. */
const CHUNK_FILES = 1_000;

type Thread = ResidentThread<ToSnapshotThread, FromSnapshotThread>;

interface Job {
  readonly task: SnapshotTask | PackTask;
  readonly files: readonly SnapshotFile[];
  readonly hold: BlobHold | null;
  readonly signal: AbortSignal | undefined;
  /** Whether it is given for the second time, after its thread was lost. */
  readonly isRepeated?: boolean;
  /** How often a blob was removed before it was held. */
  readonly lostBlobs?: number;
}

/** Each time, more blobs are held: a request is given so often. */
const MAX_LOST_BLOBS = 10;

/** The thread, which lives while there are requests and one minute longer. */
export function makeSnapshotThread({ directory, blobs, readSmall, clock, log }: SnapshotThreadParts): SnapshotThread {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const manifestPath = (sessionId: string) => join(directory, `${sessionId}.json`);
  const thread: Thread = new ResidentThread({
    clock,
    file: threadFile('../snapshot-worker.ts', import.meta.url),
    memoryMb: 512,
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
      const look = (since: string | null, files: readonly SnapshotFile[]) =>
        sendRequest(means, { task: { kind: 'snapshot', root, limits, since, ...place }, files, hold, signal });
      const known = recorded.token === null ? 'unknown' : await look(recorded.token, []);
      const given = known === 'unknown' ? await look(null, await recorded.read()) : known;
      if (given === 'unknown' || given.looked === null) throw new Error('A look has no result.');
      return { ...given.looked, files: given.found, gone: given.gone };
    },
    packTarGz: async (request) => pack('tar.gz', request),
    packZip: async (request) => pack('zip', request),
    forget: async (sessionId) => {
      for (const path of [manifestPath(sessionId), `${manifestPath(sessionId)}.new`]) await rm(path, { force: true });
    },
    stop: async () => thread.stop(),
  };
}

const NOTHING_RECORDED: RecordedFiles = { token: null, read: async () => [] };

interface Given {
  readonly found: readonly SnapshotFile[];
  readonly gone: readonly string[];
  readonly looked: Looked | null;
}

interface Means {
  readonly thread: Thread;
  readonly readSmall: BlobStore['readSmall'];
  readonly log: Log;
}

async function sendRequest(means: Means, job: Job): Promise<Given | 'unknown'> {
  const { thread, log } = means;
  const { task, files, hold, signal } = job;
  const { kind } = task;
  const [found, gone]: [SnapshotFile[], string[]] = [[], []];
  const take = (some: readonly ReportedFile[], bytes: Portion['bytes']) => {
    for (const { path, size, sha256 } of some) {
      hold?.add(sha256);
      found.push({ path, size, sha256 });
    }
    const places = some.flatMap(({ at, size, sha256: key }) => (at === undefined ? [] : [{ key, at, size }]));
    if (places.length > 0) hold?.take({ bytes, places });
  };
  const end = await thread.request<LastFromSnapshotThread>({
    messages: messagesOf(task, files),
    isLong: kind !== 'snapshot' && isLarge(files),
    onMessage: (message, post) => {
      if (message.t === 'wanted') {
        void readSmallFor(means, message.keys).then((contents) => post({ t: 'contents', contents }));
        return undefined;
      }
      if (message.t === 'found') take(message.files, message.contents);
      else if (message.t === 'gone') gone.push(...message.paths);
      else return { value: message };
      post({ t: 'held' });
      return undefined;
    },
    deadlineMs: task.deadlineMs + GRACE_MS,
    late: () => log.warn({ kind }, 'the thread that reads workspaces hangs; it is ended'),
    cancel: signal && { signal, message: { t: 'cancel' } },
  });
  if (end.kind !== 'done') {
    await removeWritten(task.scratch, log);
    // The thread was ended because of another request, or crashed.
    if (end.kind === 'crashed' && job.isRepeated !== true) return sendRequest(means, { ...job, isRepeated: true });
    throw unavailable(WORDS[end.kind], end.kind === 'not_started' ? new NoThreadError() : undefined);
  }
  const { value } = end;
  take(value.files, value.contents);
  // Until it was held here, it may have been removed.
  const isLost = ({ size, sha256 }: SnapshotFile) => size > SMALL_BLOB_BYTES && !hasBlob(task.blobs, sha256);
  if (value.t === 'done' && hold !== null && value.files.some(isLost))
    return sendRequest(means, { ...job, task: { ...task, holdsFirst: true } });
  if (value.t === 'unknown') return 'unknown';
  if (value.t === 'done') return { found, gone: [...gone, ...(value.looked?.gone ?? [])], looked: value.looked };
  const { words, cause, full, lostBlob } = value;
  const { lostBlobs = 0 } = job;
  if (lostBlob && lostBlobs < MAX_LOST_BLOBS) return sendRequest(means, { ...job, lostBlobs: lostBlobs + 1 });
  if (cause !== null) log.error({ kind, cause }, 'a workspace could not be stored');
  throw full ? noSpace() : unavailable(words);
}

/** Null when they can't be read. */
async function readSmallFor({ readSmall, log }: Means, keys: readonly string[]) {
  try {
    return await readSmall(keys);
  } catch (error) {
    log.error({ err: error }, 'the bytes of small files could not be read');
    return null;
  }
}

/** Of the files to pack. */
function isLarge(files: readonly SnapshotFile[]): boolean {
  return files.length > SMALL_FILES || files.reduce((sum, { size }) => sum + size, 0) > SMALL_BYTES;
}

/** Removes what a lost thread was writing. */
async function removeWritten(scratch: string, log: Log): Promise<void> {
  await removeScratch(scratch).catch((error: unknown) => {
    log.error({ err: error }, 'what was half-written could not be removed');
  });
}

function* messagesOf(task: Job['task'], files: Job['files']): Iterable<ToSnapshotThread> {
  let from = 0;
  for (; from + CHUNK_FILES < files.length; from += CHUNK_FILES)
    yield { t: 'files', files: files.slice(from, from + CHUNK_FILES) };
  yield { t: 'begin', task, files: files.slice(from) };
}

const LOST = 'The work was lost with its thread.';
/** What the caller reads of a request that the thread did not complete. */
const WORDS: Readonly<Record<ThreadFailure['kind'], string>> = {
  cancelled: 'It was cancelled.',
  stopped: 'The daemon is stopping.',
  not_started: 'No thread is available.',
  busy: 'No thread is available.',
  timeout: LOST,
  out_of_memory: LOST,
  crashed: LOST,
};

function unavailable(message: string, cause?: Error): ErrandError {
  return new ErrandError('unavailable', message, { cause });
}

/** The system refused the thread, for lack of memory or descriptors. */
class NoThreadError extends Error {
  override readonly name = 'NoThreadError';
}

/** Whether a request failed because there was no thread: nothing was read, and it can be given again. */
export function isNoThread(error: unknown): boolean {
  return error instanceof ErrandError && error.cause instanceof NoThreadError;
}
