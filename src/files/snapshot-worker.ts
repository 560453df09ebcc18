// The thread that reads workspaces and packs archives: several requests in turns, each under names of its own.
import { appendFileSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { MB } from '../domain/byte-units.ts';
import { codeOf, ErrandError, messageOf } from '../domain/errors.ts';
import {
  contentsPath,
  type FewFiles,
  type FromSnapshotThread,
  type LastFromSnapshotThread,
  type Looked,
  type PackTask,
  type ThreadTask,
  type ToSnapshotThread,
} from './snapshots/snapshot-requests.ts';
import { layOut } from './snapshots/lay-out.ts';
import { packArchive } from './archives/pack-archive.ts';
import { removeScratch } from './blobs/blob-place.ts';
import { isNoSpace, lacksSpace } from './blobs/no-space.ts';
import { type Numbered, READY } from '../workers/resident.ts';
import { makePace, type Pace } from './snapshots/pace.ts';
import type { SnapshotFile } from './snapshots/snapshot.ts';
import { LostBlobError, takeSnapshot, type Work } from './snapshots/take-snapshot.ts';
import { makeManifests } from './snapshots/manifests.ts';

interface Request {
  readonly files: SnapshotFile[];
  pace?: Pace;
  held?: () => void;
  asked?: (contents: ReadonlyMap<string, Uint8Array> | null) => void;
  /** Files that are reported with the last message. */
  unreported?: FewFiles;
}

const nothing = (): FewFiles => ({ files: [], contents: new Uint8Array() });

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
  else if (message.t === 'contents') request.asked?.(message.contents);
  else request.held?.();
});
parentPort?.postMessage(READY, []);

async function carryOut(id: number, request: Request, task: ThreadTask): Promise<void> {
  const pace = makePace(task.deadlineMs);
  request.pace = pace;
  let last: LastFromSnapshotThread;
  try {
    last = await work(task, request, { pace, ...makeReports(id, request, task) });
  } catch (error) {
    last = { t: 'failed', ...wordsFor(error), ...(request.unreported ?? nothing()) };
    // One that succeeds has moved or removed all that it wrote.
    await removeScratch(task.scratch);
  } finally {
    pace.stop();
    requests.delete(id);
  }
  report(id, last, [last.contents.buffer]);
}

async function work(task: ThreadTask, request: Request, how: Work): Promise<LastFromSnapshotThread> {
  const { files } = request;
  let looked: Looked | null = null;
  if (task.kind === 'snapshot') {
    const found = await takeSnapshot(task, { manifests, recorded: task.since === null ? files : null }, how);
    if (found === 'unknown') return { t: 'unknown', ...nothing() };
    looked = found;
  } else if (task.kind === 'lay-out') {
    return { t: 'laid', laid: await layOut(task, files, manifests, how), ...nothing() };
  } else await packArchive(task, files, how);
  return { t: 'done', looked, ...(request.unreported ?? nothing()) };
}

/** So few files, with so many bytes of small ones, are reported with the last message, unless they are to be held first. */
const [FEW_FILES, FEW_BYTES] = [64, MB];

function makeReports(
  id: number,
  request: Request,
  task: Pick<PackTask, 'holdsFirst' | 'scratch'>,
): Pick<Work, 'ask' | 'bring' | 'report' | 'reportGone'> {
  const path = contentsPath(task);
  let written = 0;
  // One at a time: many messages would be read in one turn of the main thread's loop.
  const reportAndWait = async (message: FromSnapshotThread) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    request.held = resolve;
    report(id, message);
    await promise;
  };
  const ask = async (message: FromSnapshotThread) => {
    const { promise, resolve } = Promise.withResolvers<ReadonlyMap<string, Uint8Array> | null>();
    request.asked = resolve;
    report(id, message);
    const contents = await promise;
    if (contents === null) throw new ErrandError('unavailable', 'Files could not be read.');
    return contents;
  };
  return {
    report: async (files, contents, areAll) => {
      const bytes = contents.reduce((sum, { length }) => sum + length, 0);
      if (areAll && !task.holdsFirst && files.length <= FEW_FILES && bytes <= FEW_BYTES) {
        request.unreported = { files, contents: new Uint8Array(Buffer.concat(contents)) };
        return;
      }
      // Not synced: it is read until the files are recorded, and the next start removes it.
      appendFileSync(path, Buffer.concat(contents), { mode: 0o600 });
      const from = written;
      written += bytes;
      const placed = files.map((file) => (file.at === undefined ? file : { ...file, at: from + file.at }));
      await reportAndWait({ t: 'found', files: placed, contents: path });
    },
    reportGone: async (paths) => reportAndWait({ t: 'gone', paths }),
    ask: async (keys) => ask({ t: 'wanted', keys }),
    bring: async (keys) => void (await ask({ t: 'bring', keys })),
  };
}

function report(id: number, message: FromSnapshotThread, transferred: ArrayBuffer[] = []): void {
  parentPort?.postMessage({ id, message } satisfies Numbered<FromSnapshotThread>, transferred);
}

/** Callers must not see the paths in the messages of failed system calls. */
function wordsFor(error: unknown): Omit<Extract<FromSnapshotThread, { t: 'failed' }>, 't' | keyof FewFiles> {
  // A stream that is ended by its signal throws an error of its own around the reason.
  const reason = error instanceof Error && error.name === 'AbortError' ? error.cause : error;
  const said = { cause: null, full: false, lostBlob: reason instanceof LostBlobError };
  if (reason instanceof ErrandError) return { ...said, words: reason.message, full: isNoSpace(reason) };
  const cause = messageOf(reason);
  if (codeOf(reason) === 'EFBIG') return { ...said, words: 'A file would be larger than the system allows.', cause };
  return { ...said, words: 'Files could not be read or written.', cause, full: lacksSpace(reason) };
}
