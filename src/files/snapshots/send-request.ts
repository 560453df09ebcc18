// One request to the snapshot thread: its messages, what it reports meanwhile, and how it ends.
import { ErrandError } from '../../domain/errors.ts';
import { SMALL_BLOB_BYTES } from '../../domain/sessions/contents.ts';
import type { Log } from '../../log/log.ts';
import type { ResidentThread } from '../../workers/resident.ts';
import type { TaskFailure } from '../../workers/task-end.ts';
import { hasBlob, removeScratch } from '../blobs/blob-place.ts';
import type { BlobHold, BlobStore } from '../blobs/blobs.ts';
import type { Portion } from '../blobs/held-contents.ts';
import { noSpace } from '../blobs/no-space.ts';
import type { SnapshotFile } from './snapshot.ts';
import type {
  FromSnapshotThread,
  LastFromSnapshotThread,
  Looked,
  ReportedFile,
  ThreadTask,
  ToSnapshotThread,
} from './snapshot-requests.ts';

/** An archive of more is large. */
const [SMALL_FILES, SMALL_BYTES] = [1_000, 8_388_608];
/** A thread that does not end a request by itself this long after its deadline hangs in a call. */
const GRACE_MS = 30_000;
/** Files per message: more would block the main thread while they are copied. */
const CHUNK_FILES = 1_000;

export type Thread = ResidentThread<ToSnapshotThread, FromSnapshotThread>;

export interface Job {
  readonly task: ThreadTask;
  readonly files: readonly SnapshotFile[];
  readonly hold: BlobHold | null;
  readonly signal: AbortSignal | undefined;
  /** Brings blobs into the directory; absent: those that are not there are nowhere. */
  readonly bring?: ((keys: readonly string[]) => Promise<void>) | undefined;
  /** Whether it is given for the second time, after its thread was lost. */
  readonly isRepeated?: boolean;
  /** How often a blob was removed before it was held. */
  readonly lostBlobs?: number;
}

/** Each time, more blobs are held: a request is given so often. */
const MAX_LOST_BLOBS = 10;

export interface Given {
  readonly found: readonly SnapshotFile[];
  readonly gone: readonly string[];
  readonly looked: Looked | null;
  /** Of a workspace that was to be laid out. */
  readonly laid: Extract<LastFromSnapshotThread, { t: 'laid' }>['laid'] | null;
}

export interface Means {
  readonly thread: Thread;
  readonly readSmall: BlobStore['readSmall'];
  readonly log: Log;
}

/** Rejects with `unavailable` in words for the caller, and as `bring` does. */
export async function sendRequest(means: Means, job: Job): Promise<Given | 'unknown'> {
  const { thread, log } = means;
  const { task, files, signal } = job;
  const received = receive(means, job);
  const end = await thread.request<LastFromSnapshotThread>({
    messages: messagesOf(task, files),
    isLong: task.kind !== 'snapshot' && isLarge(files),
    onMessage: received.onMessage,
    deadlineMs: task.deadlineMs + GRACE_MS,
    late: () => log.warn({ kind: task.kind }, 'the thread that reads workspaces hangs; it is ended'),
    cancel: signal && { signal, message: { t: 'cancel' } },
  });
  if (end.kind !== 'done') {
    await removeWritten(task.scratch, log);
    // The thread was ended because of another request, or crashed.
    if (end.kind === 'crashed' && job.isRepeated !== true) return sendRequest(means, { ...job, isRepeated: true });
    throw unavailable(WORDS[end.kind], end.kind === 'not_started' ? new NoThreadError() : undefined);
  }
  received.rethrow();
  return conclude(means, job, { last: end.value, ...received });
}

interface Received {
  readonly found: SnapshotFile[];
  readonly gone: string[];
  take(some: readonly ReportedFile[], bytes: Portion['bytes']): void;
}

/** What comes of a request before its end. */
function receive(means: Means, { hold, bring }: Job) {
  const [found, gone]: [SnapshotFile[], string[]] = [[], []];
  let unbrought: { readonly error: unknown } | undefined;
  const take: Received['take'] = (some, bytes) => {
    for (const { path, size, sha256 } of some) {
      hold?.add(sha256);
      found.push({ path, size, sha256 });
    }
    const places = some.flatMap(({ at, size, sha256: key }) => (at === undefined ? [] : [{ key, at, size }]));
    if (places.length > 0) hold?.take({ bytes, places });
  };
  const contentsFor = async (message: Extract<FromSnapshotThread, { t: 'wanted' | 'bring' }>) => {
    if (message.t === 'wanted') return readSmallFor(means, message.keys);
    await bring?.(message.keys).catch((error: unknown) => (unbrought = { error }));
    return unbrought === undefined ? new Map<string, Uint8Array>() : null;
  };
  return {
    found,
    gone,
    take,
    onMessage: (message: FromSnapshotThread, post: (message: ToSnapshotThread) => void) => {
      if (message.t === 'wanted' || message.t === 'bring') {
        void contentsFor(message).then((contents) => post({ t: 'contents', contents }));
        return undefined;
      }
      if (message.t === 'found') take(message.files, message.contents);
      else if (message.t === 'gone') gone.push(...message.paths);
      else return { value: message };
      post({ t: 'held' });
      return undefined;
    },
    /** The request has failed because blobs could not be brought. */
    rethrow: () => {
      if (unbrought !== undefined) throw unbrought.error;
    },
  };
}

async function conclude(
  means: Means,
  job: Job,
  { last, found, gone, take }: Received & { readonly last: LastFromSnapshotThread },
): Promise<Given | 'unknown'> {
  const { task, hold } = job;
  take(last.files, last.contents);
  // Until it was held here, it may have been removed.
  const isLost = ({ size, sha256 }: SnapshotFile) => size > SMALL_BLOB_BYTES && !hasBlob(task.blobs, sha256);
  if (last.t === 'done' && hold !== null && last.files.some(isLost))
    return sendRequest(means, { ...job, task: { ...task, holdsFirst: true } });
  if (last.t === 'unknown') return 'unknown';
  if (last.t === 'laid') return { found, gone, looked: null, laid: last.laid };
  if (last.t === 'done')
    return { found, gone: [...gone, ...(last.looked?.gone ?? [])], looked: last.looked, laid: null };
  const { words, cause, full, lostBlob } = last;
  const { lostBlobs = 0 } = job;
  if (lostBlob && lostBlobs < MAX_LOST_BLOBS) return sendRequest(means, { ...job, lostBlobs: lostBlobs + 1 });
  if (cause !== null) means.log.error({ kind: task.kind, cause }, 'a workspace could not be stored');
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
const WORDS: Readonly<Record<TaskFailure['kind'], string>> = {
  cancelled: 'It was cancelled.',
  stopped: 'The daemon is stopping.',
  not_started: 'No thread is available.',
  busy: 'No thread is available.',
  timeout: LOST,
  out_of_time: LOST,
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
