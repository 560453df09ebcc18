// The thread that makes backups: one at a time, after everything else that wants a processor.
import { mkdirSync, rmSync, statSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { dirname } from 'node:path';
import { parentPort } from 'node:worker_threads';
import { freeBytes } from '../disk/disk-space.ts';
import { ErrandError, messageOf } from '../domain/errors.ts';
import { type Numbered, READY } from '../workers/resident.ts';
import { fullDisk, isFullDisk } from './repository/full-disk.ts';
import { prune } from './prune.ts';
import type { BackupTask, FromBackupThread, Progress, PruneTask, ToBackupThread } from './thread-messages.ts';
import { makePace, type Pace } from './pace.ts';
import { openRepository } from './repository/repository.ts';
import { makeRepositorySink } from './repository/sink.ts';
import { makeTarSink } from './archive/tar-sink.ts';
import { takeBackup } from './take-backup.ts';

/** Progress is reported this often. */
const REPORT_MS = 200;

let pace: Pace | undefined;
let taken: (() => void) | undefined;

// Of this thread alone, on Linux.
setPriority(0, constants.priority.PRIORITY_LOW);

parentPort?.on('message', ({ id, message }: Numbered<ToBackupThread>) => {
  if (message.t === 'begin') void carryOut(id, message.task);
  else if (message.t === 'prune') void remove(id, message.task);
  else if (message.t === 'more') taken?.();
  else cancel();
});
parentPort?.postMessage(READY, []);

/** Whoever takes the archive may never take what it waits for. */
function cancel(): void {
  pace?.cancel();
  taken?.();
}

async function carryOut(id: number, task: BackupTask): Promise<void> {
  pace = makePace();
  let last: FromBackupThread;
  let release = (): void => undefined;
  try {
    const { repository, staging } = task;
    if (repository === null) openStaging(staging);
    else ({ release } = openRepository(repository));
    const requireSpace = spaceCheckOf(task);
    const sink =
      repository === null ? makeTarSink((bytes) => send(id, bytes)) : makeRepositorySink(repository, requireSpace);
    const manifest = await takeBackup(task, { sink, pace, requireSpace, ...reporter(id) });
    last = { t: 'done', manifest };
  } catch (error) {
    last = { t: 'failed', ...wordsFor(error) };
  } finally {
    rmSync(task.staging, { recursive: true, force: true });
    release();
  }
  report(id, last);
}

async function remove(id: number, { repository, keep, now }: PruneTask): Promise<void> {
  try {
    report(id, { t: 'pruned', pruned: await prune(repository, keep, now, makePace()) });
  } catch (error) {
    report(id, { t: 'failed', ...wordsFor(error) });
  }
}

/** A daemon that was killed has left one. */
function openStaging(staging: string): void {
  rmSync(staging, { recursive: true, force: true });
  mkdirSync(staging, { mode: 0o700 });
}

/** A backup must not take the space that the daemon itself needs. */
function spaceCheckOf({ blobs, staging, keepFreeBytes }: BackupTask): () => void {
  if (statSync(dirname(blobs)).dev !== statSync(staging).dev) return () => undefined;
  return () => {
    if (freeBytes(staging) < keepFreeBytes) throw fullDisk("The backup would fill the daemon's own disk.");
  };
}

function reporter(id: number) {
  let reportedAt = 0;
  let phase: Progress['phase'] | undefined;
  let last = '';
  const isDue = () => performance.now() - reportedAt >= REPORT_MS;
  return {
    passed: (key: string) => {
      last = key;
    },
    progress: (progress: Progress) => {
      if (!isDue() && progress.phase === phase) return;
      reportedAt = performance.now();
      phase = progress.phase;
      report(id, { t: 'progress', progress });
      if (last !== '') report(id, { t: 'passed', key: last });
    },
  };
}

async function send(id: number, bytes: Uint8Array): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  taken = resolve;
  report(id, { t: 'bytes', bytes });
  await promise;
  await pace?.rest();
}

function report(id: number, message: FromBackupThread): void {
  parentPort?.postMessage({ id, message } satisfies Numbered<FromBackupThread>, []);
}

function wordsFor(error: unknown): Omit<Extract<FromBackupThread, { t: 'failed' }>, 't'> {
  const [isFull, cause] = [isFullDisk(error), messageOf(error)];
  if (error instanceof ErrandError) return { reason: error.reason, words: error.message, cause: null, isFull };
  const words = isFull ? 'There is no space left for the backup.' : `The backup failed: ${cause}.`;
  return { reason: 'unavailable', words, cause, isFull };
}
