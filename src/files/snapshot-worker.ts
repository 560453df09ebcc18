// The thread that reads workspaces and packs archives: several requests in turns, each under names of its own.
import { parentPort } from 'node:worker_threads';
import { codeOf, ErrandError, messageOf } from '../domain/errors.ts';
import type {
  FromSnapshotThread,
  LastFromSnapshotThread,
  Looked,
  PackTask,
  SnapshotTask,
  ToSnapshotThread,
} from './snapshots/snapshot-requests.ts';
import { packArchive } from './archives/pack-archive.ts';
import { removeScratch } from './blobs/blob-place.ts';
import { lacksSpace } from './blobs/no-space.ts';
import { type Numbered, READY } from '../threads/resident.ts';
import { makePace, type Pace } from './snapshots/pace.ts';
import type { SnapshotFile } from './snapshots/snapshot.ts';
import { LostBlobError, takeSnapshot, type Work } from './snapshots/take-snapshot.ts';
import { makeManifests } from './snapshots/manifests.ts';

interface Request {
  readonly files: SnapshotFile[];
  pace?: Pace;
  held?: () => void;
  /** Files that are reported with the last message. */
  unreported?: readonly SnapshotFile[];
}

const requests = new Map<number, Request>();
const manifests = makeManifests();

parentPort?.on('message', ({ id, message }: Numbered<ToSnapshotThread>) => {
  const request = requests.get(id) ?? { files: [] };
  if (message.t === 'files') {
    requests.set(id, request);
    request.files.push(...message.files);
  } else if (message.t === 'begin') {
    requests.set(id, request);
    request.files.push(...message.files);
    void carryOut(id, request, message.task);
  } else if (message.t === 'cancel') request.pace?.end(new ErrandError('unavailable', 'It was cancelled.'));
  else request.held?.();
});
parentPort?.postMessage(READY, []);

async function carryOut(id: number, request: Request, task: SnapshotTask | PackTask): Promise<void> {
  const pace = makePace(task.deadlineMs);
  request.pace = pace;
  let last: LastFromSnapshotThread;
  try {
    last = await work(task, request, { pace, ...makeReports(id, request, task) });
  } catch (error) {
    last = { t: 'failed', ...wordsFor(error), files: request.unreported ?? [] };
    // One that succeeds has moved or removed all that it wrote.
    await removeScratch(task.scratch);
  } finally {
    pace.stop();
    requests.delete(id);
  }
  report(id, last);
}

async function work(task: SnapshotTask | PackTask, request: Request, how: Work): Promise<LastFromSnapshotThread> {
  const { files } = request;
  let looked: Looked | null = null;
  if (task.kind === 'snapshot') {
    const found = await takeSnapshot(task, { manifests, recorded: task.since === null ? files : null }, how);
    if (found === 'unknown') return { t: 'unknown', files: [] };
    looked = found;
  } else await packArchive(task, files, how);
  return { t: 'done', looked, files: request.unreported ?? [] };
}

/** So few files are reported with the last message, unless they are to be held first. */
const FEW_FILES = 64;

function makeReports(
  id: number,
  request: Request,
  { holdsFirst }: Pick<PackTask, 'holdsFirst'>,
): Pick<Work, 'report' | 'reportGone'> {
  // One at a time: many messages would be read in one turn of the main thread's loop.
  const reportAndWait = async (message: FromSnapshotThread) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    request.held = resolve;
    report(id, message);
    await promise;
  };
  return {
    report: async (files, areAll) => {
      if (areAll && !holdsFirst && files.length <= FEW_FILES) request.unreported = files;
      else await reportAndWait({ t: 'found', files });
    },
    reportGone: async (paths) => reportAndWait({ t: 'gone', paths }),
  };
}

function report(id: number, message: FromSnapshotThread): void {
  parentPort?.postMessage({ id, message } satisfies Numbered<FromSnapshotThread>, []);
}

/** Callers must not see the paths in the messages of failed system calls. */
function wordsFor(error: unknown): Omit<Extract<FromSnapshotThread, { t: 'failed' }>, 't' | 'files'> {
  // A stream that is ended by its signal throws an error of its own around the reason.
  const reason = error instanceof Error && error.name === 'AbortError' ? error.cause : error;
  const said = { cause: null, full: false, lostBlob: reason instanceof LostBlobError };
  if (reason instanceof ErrandError) return { ...said, words: reason.message };
  const cause = messageOf(reason);
  if (codeOf(reason) === 'EFBIG') return { ...said, words: 'A file would be larger than the system allows.', cause };
  return { ...said, words: 'Files could not be read or written.', cause, full: lacksSpace(reason) };
}
