// The thread that reads workspaces and packs archives: several orders in turns, each under names of its own.
import { parentPort } from 'node:worker_threads';
import { codeOf, ErrandError, messageOf } from '../../domain/errors.ts';
import type {
  FromSnapshotThread,
  LastFromSnapshotThread,
  PackTask,
  SnapshotTask,
  ToSnapshotThread,
} from './snapshot-orders.ts';
import { packArchive } from '../archives/pack-archive.ts';
import { removeScratch } from '../blobs/blob-place.ts';
import { lacksSpace } from '../blobs/no-space.ts';
import { type Numbered, READY } from '../../threads/resident.ts';
import { makePace, type Pace } from './pace.ts';
import type { SnapshotFile } from './snapshot.ts';
import { LostBlobError, type Looked, takeSnapshot, type Work } from './take-snapshot.ts';

interface Order {
  readonly files: SnapshotFile[];
  pace?: Pace;
  held?: () => void;
  /** Files that are reported with the last message. */
  unreported?: readonly SnapshotFile[];
}

const orders = new Map<number, Order>();

parentPort?.on('message', ({ id, message }: Numbered<ToSnapshotThread>) => {
  const order = orders.get(id) ?? { files: [] };
  if (message.t === 'files') {
    orders.set(id, order);
    order.files.push(...message.files);
  } else if (message.t === 'begin') {
    orders.set(id, order);
    order.files.push(...message.files);
    void carryOut(id, order, message.task);
  } else if (message.t === 'cancel') order.pace?.end(new ErrandError('unavailable', 'It was cancelled.'));
  else order.held?.();
});
parentPort?.postMessage(READY, []);

async function carryOut(id: number, order: Order, task: SnapshotTask | PackTask): Promise<void> {
  const pace = makePace(task.deadlineMs);
  order.pace = pace;
  let last: Omit<LastFromSnapshotThread, 'files'>;
  try {
    const looked = await work(task, order, { pace, report: makeReport(id, order, task) });
    last = { t: 'done', ...looked };
  } catch (error) {
    last = { t: 'failed', ...wordsFor(error) };
    // One that succeeds has moved or removed all that it wrote.
    await removeScratch(task.scratch);
  } finally {
    pace.stop();
    orders.delete(id);
  }
  report(id, { ...last, files: order.unreported ?? [] } as LastFromSnapshotThread);
}

async function work(task: SnapshotTask | PackTask, { files }: Order, how: Work): Promise<Looked> {
  if (task.kind === 'snapshot') return takeSnapshot(task, how);
  await packArchive(task, files, how);
  return { skipped: null, names: null, token: null, gone: null };
}

/** So few files are reported with the last message, unless they are to be held first. */
const FEW_FILES = 64;

function makeReport(id: number, order: Order, { holdsFirst }: Pick<PackTask, 'holdsFirst'>): Work['report'] {
  return async (files, areAll) => {
    if (areAll && !holdsFirst && files.length <= FEW_FILES) {
      order.unreported = files;
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    order.held = resolve;
    report(id, { t: 'found', files });
    await promise;
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
