// Backups of the running daemon: one at a time, made on a thread of their own.
import { randomBytes } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import type { Clock } from '../domain/clock.ts';
import { ErrandError } from '../domain/errors.ts';
import type { BlobStore } from '../files/blobs/blobs.ts';
import { readAnchorText } from '../files/audit-anchor.ts';
import { type DeriveKey, type MasterKeyLocation, readMasterKey } from '../files/master-key.ts';
import type { Log } from '../log/log.ts';
import { ResidentThread } from '../workers/resident.ts';
import type { TaskEnd } from '../workers/task-end.ts';
import { workerFile } from '../workers/worker-file.ts';
import type { Manifest } from '../wire/backups/manifest.ts';
import { referenceOf, type StoreLocation } from '../store/location.ts';
import type {
  BackupTask,
  FromBackupThread,
  LastFromBackupThread,
  Progress,
  ToBackupThread,
} from './thread-messages.ts';
import { fullDisk } from './repository/full-disk.ts';
import { incomingOf } from './repository/repository.ts';
import { CANCELLED } from './pace.ts';
import type { Keep, Pruned } from './prune.ts';
import { wrapKey } from './wrapped-key.ts';

export interface BackupRequest {
  readonly id: string;
  /** The repository, or who takes the bytes of a tar archive: it resolves when it wants more, and rejects when it is gone. */
  readonly to: string | ((bytes: Uint8Array) => Promise<void>);
  readonly workspaces: boolean;
  /** With one, the master key is part of the backup, encrypted. */
  readonly passphrase: string | null;
}

export interface Backups {
  /** An id for a backup that begins now. */
  newId(): string;
  /** Takes a backup. Throws `conflict` when one is in progress, `bad_request` for a repository that can't be one, `unavailable`. */
  take(request: BackupRequest, options?: TakeOptions): Promise<Manifest>;
  /** Removes old backups. Throws `conflict` while a backup is in progress, `unavailable`. */
  prune(repository: string, keep: Keep): Promise<Pruned>;
  /** Ends the thread; a backup in progress is refused, and leaves nothing that counts as one. */
  stop(): Promise<void>;
}

export interface TakeOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

export interface BackupParts {
  readonly dataDir: string;
  readonly configDir: string;
  readonly database: StoreLocation;
  readonly masterKey: MasterKeyLocation;
  readonly errandVersion: string;
  readonly blobs: Pick<BlobStore, 'holdRest'>;
  readonly deriveKey: DeriveKey;
  /** Has to stay free on the disk of the data directory. */
  keepFreeBytes(): number;
  readonly clock: Clock;
  readonly log: Log;
}

const DEADLINE_MS = 24 * 3_600_000;

/** The folder for the copy of the database of an archive. */
export const stagingOf = (dataDir: string): string => join(dataDir, 'backup');

/** The key that seals manifests. */
export const sealKeyOf = (deriveKey: DeriveKey): Buffer => deriveKey('backup', Buffer.alloc(0));

export function makeBackups(parts: BackupParts): Backups {
  const { dataDir, configDir, database, masterKey, clock, log } = parts;
  const thread = new ResidentThread<ToBackupThread, FromBackupThread>({
    clock,
    file: workerFile('./backup-worker.ts', import.meta.url),
    heapMb: 512,
    idleMs: 5_000,
    maxAtOnce: 1,
    maxRequests: 1,
    failed: (error) => log.error({ err: error }, 'the thread that makes backups failed'),
  });

  async function taskOf({ id, to, workspaces, passphrase }: BackupRequest): Promise<BackupTask> {
    const repository = typeof to === 'string' ? requireOutside(resolve(to), [dataDir, configDir]) : null;
    return {
      id,
      createdAt: clock.now(),
      errandVersion: parts.errandVersion,
      database: referenceOf(database),
      blobs: join(dataDir, 'blobs'),
      workspaces: workspaces ? join(dataDir, 'workspaces') : null,
      configuration: realOf(configDir),
      except: [join(realOf(dirname(masterKey.path)), basename(masterKey.path))],
      repository,
      staging: repository === null ? stagingOf(dataDir) : incomingOf(repository),
      keepFreeBytes: parts.keepFreeBytes(),
      anchor: await readAnchorText(dataDir),
      sealKey: sealKeyOf(parts.deriveKey),
      wrappedKey: passphrase === null ? null : await wrapKey(readMasterKey(masterKey), passphrase, id),
    };
  }

  return {
    newId: () => `${new Date(clock.now()).toISOString().replace(/\.\d+|[-:]/g, '')}-${randomBytes(3).toString('hex')}`,
    take: async (request, options = {}) => {
      const task = await taskOf(request);
      // Before the database is copied: what its rows name must be there until it is copied, too.
      const rest = parts.blobs.holdRest();
      try {
        return await runJob(thread, { task, request, options, passed: rest.passed, log });
      } finally {
        rest.release();
      }
    },
    prune: async (repository, keep) => {
      const task = { repository: resolve(repository), keep, now: clock.now() };
      const last = await endOf(
        thread.request<LastFromBackupThread>({
          messages: [{ t: 'prune', task }],
          onMessage: (message) => (message.t === 'pruned' || message.t === 'failed' ? { value: message } : undefined),
          deadlineMs: DEADLINE_MS,
          late: () => log.warn('the removal of backups took longer than a day; it is ended'),
        }),
      );
      if (last.t !== 'pruned') throw new Error('The thread of backups answered something else.');
      return last.pruned;
    },
    stop: () => thread.stop(),
  };
}

interface BackupJob {
  readonly task: BackupTask;
  readonly request: BackupRequest;
  readonly options: TakeOptions;
  readonly log: Log;
  passed(key: string): void;
}

async function runJob(thread: ResidentThread<ToBackupThread, FromBackupThread>, job: BackupJob): Promise<Manifest> {
  const { task, request, options, passed, log } = job;
  const ending = thread.request<LastFromBackupThread>({
    messages: [{ t: 'begin', task }],
    onMessage: (message, post) => {
      if (message.t === 'progress') options.onProgress?.(message.progress);
      else if (message.t === 'passed') passed(message.key);
      else if (message.t === 'bytes')
        take(request, message.bytes).then(
          () => post({ t: 'more' }),
          // The thread waits for an answer to each piece.
          () => post({ t: 'cancel' }),
        );
      else return { value: message };
      return undefined;
    },
    deadlineMs: DEADLINE_MS,
    late: () => log.warn('a backup took longer than a day; it is ended'),
    cancel: options.signal && { signal: options.signal, message: { t: 'cancel' } },
  });
  const last = await endOf(ending);
  if (last.t !== 'done') throw new Error('The thread of backups answered something else.');
  return last.manifest;
}

async function endOf(ending: Promise<TaskEnd<LastFromBackupThread>>): Promise<LastFromBackupThread> {
  const end = await ending;
  if (end.kind === 'busy') throw new ErrandError('conflict', 'A backup, or a removal of backups, is in progress.');
  if (end.kind === 'cancelled') throw new ErrandError('unavailable', CANCELLED);
  if (end.kind !== 'done') throw new ErrandError('unavailable', `The backup was ended (${end.kind}).`);
  if (end.value.t !== 'failed') return end.value;
  const { reason, words, cause, isFull } = end.value;
  throw isFull ? fullDisk(words, cause ?? words) : new ErrandError(reason, words, { cause: cause ?? undefined });
}

async function take({ to }: BackupRequest, bytes: Uint8Array): Promise<void> {
  if (typeof to !== 'string') await to(bytes);
}

/** A repository within what is copied would be copied into itself. */
function requireOutside(repository: string, directories: readonly string[]): string {
  const isWithin = (path: string, directory: string) => !relative(directory, path).startsWith('..');
  for (const directory of directories) {
    const [real, other] = [realOf(repository), realOf(directory)];
    if (isWithin(real, other) || isWithin(other, real))
      throw new ErrandError(
        'bad_request',
        `Backups of ${directory} can't be made within or above it: choose another directory.`,
      );
  }
  return repository;
}

/** The path without links; of what doesn't exist yet, that of its parent. */
function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return dirname(path) === path ? path : join(realOf(dirname(path)), relative(dirname(path), path));
  }
}
