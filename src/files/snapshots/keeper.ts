// Orders to the thread that reads workspaces and packs archives: snapshots, tar.gz and zip, each within its deadline.
import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Clock, Timer } from '../../domain/clock.ts';
import { ErrandError } from '../../domain/errors.ts';
import type { Log } from '../../log/log.ts';
import { incomingPath } from '../blobs/blob-place.ts';
import type { BlobHold } from '../blobs/blobs.ts';
import type { FromKeeper, PackTask, SnapshotTask, ToKeeper } from './keeper-orders.ts';
import { noSpace } from '../blobs/no-space.ts';
import type { KeeperLimits, Skipped, Snapshot, SnapshotFile } from './snapshot.ts';

export interface SnapshotOrder {
  readonly sessionId: string;
  /** The workspace's directory. One that is not there is empty. */
  readonly root: string;
  readonly limits: KeeperLimits;
  /** With it, the bytes of every file are kept as blobs that it holds. */
  readonly hold: BlobHold | null;
  /** For the work itself, without the time that the order waits for others. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal;
}

export interface PackOrder {
  /** Names and the keys of their blobs; in the archive in this order, without the leading `/`. */
  readonly files: readonly SnapshotFile[];
  /** Holds the archive's blob. What it packs must be held, too, or in use. */
  readonly hold: BlobHold;
  readonly deadlineMs: number;
  readonly signal?: AbortSignal;
}

/** An archive, kept as a blob. */
export interface Archive {
  readonly key: string;
  readonly size: number;
}

/** What the thread can be asked. Each rejects with `unavailable`: out of time, disk full (`isNoSpace`), a blob that is gone, thread lost, stopped. */
export interface Keeper {
  /** Takes a snapshot. Files whose identity is as when they were last hashed keep their hash, unread. */
  takeSnapshot(order: SnapshotOrder): Promise<Snapshot>;
  /**
   * Packs blobs under names. The same input gives the same bytes; no files give an ordinary archive of none. Names that not
   * every system can hold have `%5C` for a backslash and `%3A` for a drive's colon.
   */
  packTarGz(order: PackOrder): Promise<Archive>;
  /** As `packTarGz`. */
  packZip(order: PackOrder): Promise<Archive>;
  /** Forgets what was hashed for a session. */
  forget(sessionId: string): Promise<void>;
  /** Ends the thread; orders under way are refused. */
  stop(): Promise<void>;
}

export interface KeeperParts {
  /** Where it is kept what was hashed; made when it is missing. */
  readonly directory: string;
  /** The directory of the blob store. */
  readonly blobs: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Orders that the thread works on at the same time, in turns. */
const AT_WORK = 4;
/** A thread that does not end an order by itself this long after its deadline hangs in a call. */
const GRACE_MS = 30_000;
const IDLE_MS = 60_000;
const MEMORY_MB = 512;
/** Files that one message carries: more would hold up the main thread while they are copied. */
const CHUNK_FILES = 1_000;

interface Job {
  readonly task: SnapshotTask | PackTask;
  readonly files: readonly SnapshotFile[];
  readonly hold: BlobHold | null;
  readonly signal: AbortSignal | undefined;
  readonly found: SnapshotFile[];
  readonly resolve: (skipped: Skipped | null) => void;
  readonly reject: (error: ErrandError) => void;
  timer?: Timer;
}

interface Thread {
  readonly worker: Worker;
  state: 'starting' | 'ready' | 'ending';
}

/** The keeper over its thread, which lives while there are orders and a minute longer. */
export function makeKeeper(parts: KeeperParts): Keeper {
  mkdirSync(parts.directory, { recursive: true, mode: 0o700 });
  const orders = new Orders(parts);
  const hashedPath = (sessionId: string) => join(parts.directory, `${sessionId}.json`);

  async function pack(kind: PackTask['kind'], { files, hold, deadlineMs, signal }: PackOrder): Promise<Archive> {
    const { found } = await orders.give({ task: { kind, ...orders.room(deadlineMs) }, files, hold, signal });
    return { key: found[0]!.sha256, size: found[0]!.size };
  }

  return {
    takeSnapshot: async ({ sessionId, root, limits, hold, deadlineMs, signal }) => {
      const [keep, room] = [hold !== null, orders.room(deadlineMs)];
      const task: SnapshotTask = { kind: 'snapshot', root, limits, hashedPath: hashedPath(sessionId), keep, ...room };
      const { found, skipped } = await orders.give({ task, files: [], hold, signal });
      return { files: found, skipped: skipped! };
    },
    packTarGz: async (order) => pack('tar.gz', order),
    packZip: async (order) => pack('zip', order),
    forget: async (sessionId) => {
      for (const path of [hashedPath(sessionId), `${hashedPath(sessionId)}.new`]) await rm(path, { force: true });
    },
    stop: async () => orders.stop(),
  };
}

/** The orders that wait and those the thread has, and the thread's life. */
class Orders {
  readonly #parts: KeeperParts;
  readonly #waiting: Job[] = [];
  readonly #atWork = new Map<number, Job>();
  #thread: Thread | undefined;
  #idle: Timer | undefined;
  #lastId = 0;
  #stopped = false;

  constructor(parts: KeeperParts) {
    this.#parts = parts;
  }

  /** What every task has: its time, and its place among the blobs. */
  room(deadlineMs: number): Pick<SnapshotTask, 'deadlineMs' | 'blobs' | 'scratch'> {
    const { blobs } = this.#parts;
    return { deadlineMs, blobs, scratch: join(incomingPath(blobs), randomUUID()) };
  }

  async give(order: Pick<Job, 'task' | 'files' | 'hold' | 'signal'>) {
    const { promise, resolve, reject } = Promise.withResolvers<Skipped | null>();
    const job: Job = { ...order, found: [], resolve, reject };
    const cancel = () => this.#cancel(job);
    if (this.#stopped) throw unavailable('The daemon is stopping.');
    if (order.signal?.aborted === true) throw cancelled();
    order.signal?.addEventListener('abort', cancel);
    this.#waiting.push(job);
    this.#next();
    try {
      return { skipped: await promise, found: job.found };
    } finally {
      order.signal?.removeEventListener('abort', cancel);
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#idle?.cancel();
    for (const job of this.#waiting.splice(0)) job.reject(unavailable('The daemon is stopping.'));
    // Its exit refuses what it had.
    await this.#endThread();
  }

  #cancel(job: Job): void {
    const place = this.#waiting.indexOf(job);
    if (place !== -1) {
      this.#waiting.splice(place, 1);
      job.reject(cancelled());
    }
    // The thread answers when it has let go of everything.
    for (const [id, other] of this.#atWork) if (other === job) this.#post({ t: 'cancel', id });
  }

  #next(): void {
    this.#idle?.cancel();
    if (this.#stopped) return;
    if (this.#waiting.length === 0) {
      if (this.#atWork.size === 0) this.#idle = this.#parts.clock.after(IDLE_MS, () => void this.#endThread());
      return;
    }
    this.#thread ??= this.#startThread();
    if (this.#thread.state !== 'ready') return;
    while (this.#atWork.size < AT_WORK) {
      const job = this.#waiting.shift();
      if (job === undefined) return;
      const id = (this.#lastId += 1);
      this.#atWork.set(id, job);
      void this.#send(id, job);
    }
  }

  async #send(id: number, job: Job): Promise<void> {
    for (let from = 0; from < job.files.length; from += CHUNK_FILES) {
      this.#post({ t: 'files', id, files: job.files.slice(from, from + CHUNK_FILES) });
      await nextTurn();
      if (!this.#atWork.has(id)) return;
    }
    this.#post({ t: 'begin', id, task: job.task });
    if (job.signal?.aborted === true) this.#post({ t: 'cancel', id });
    job.timer = this.#parts.clock.after(job.task.deadlineMs + GRACE_MS, () => {
      this.#parts.log.warn({ kind: job.task.kind }, 'the thread that reads workspaces hangs; it is ended');
      void this.#endThread();
    });
  }

  /** What comes now waits for the next thread. */
  async #endThread(): Promise<void> {
    if (this.#thread === undefined) return;
    this.#thread.state = 'ending';
    await this.#thread.worker.terminate();
  }

  #post(message: ToKeeper): void {
    this.#thread?.worker.postMessage(message, []);
  }

  #startThread(): Thread {
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    const worker = new Worker(new URL(`./keeper-thread.${extension}`, import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    });
    const thread: Thread = { worker, state: 'starting' };
    worker.unref();
    worker.on('message', (message: FromKeeper) => this.#hear(thread, message));
    // Without a listener the error would end the daemon; `exit` follows it.
    worker.on('error', (error) => this.#parts.log.error({ err: error }, 'the thread that reads workspaces failed'));
    worker.on('exit', () => this.#lost());
    return thread;
  }

  #hear(thread: Thread, message: FromKeeper): void {
    if (message.t === 'ready') {
      if (thread.state === 'starting') thread.state = 'ready';
      return this.#next();
    }
    const { id } = message;
    const job = this.#atWork.get(id);
    if (job === undefined) return;
    if (message.t === 'found') {
      for (const file of message.files) {
        job.hold?.add(file.sha256);
        job.found.push(file);
      }
      return this.#post({ t: 'held', id });
    }
    if (message.t === 'done') this.#end(id, () => job.resolve(message.skipped));
    else {
      const { words, cause, full } = message;
      if (cause !== null) this.#parts.log.error({ kind: job.task.kind, cause }, 'a workspace could not be kept');
      this.#end(id, () => job.reject(full ? noSpace() : unavailable(words)));
    }
    this.#next();
  }

  #end(id: number, settle: () => void): void {
    this.#atWork.get(id)?.timer?.cancel();
    this.#atWork.delete(id);
    settle();
  }

  /** After the thread's end nothing of it moves any more: what it was writing goes, and the next order has a new thread. */
  #lost(): void {
    const neverBegan = this.#thread?.state === 'starting';
    this.#thread = undefined;
    for (const [id, job] of this.#atWork) {
      void rm(job.task.scratch, { recursive: true, force: true }).catch((error: unknown) => {
        this.#parts.log.error({ err: error }, 'what was half-written could not be removed');
      });
      this.#end(id, () => job.reject(unavailable('The work was lost on the way.')));
    }
    // A thread that can't even begin would be started for ever.
    if (neverBegan) for (const job of this.#waiting.splice(0)) job.reject(unavailable('There is no thread for it.'));
    this.#next();
  }
}

function unavailable(message: string): ErrandError {
  return new ErrandError('unavailable', message);
}

function cancelled(): ErrandError {
  return unavailable('It was cancelled.');
}
