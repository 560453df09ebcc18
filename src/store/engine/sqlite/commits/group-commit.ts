// Group commit: the verbs of one tick share one transaction, which waits for other processes without blocking the event
// loop.
import { setTimeout as sleep } from 'node:timers/promises';
import { ErrandError } from '../../../../domain/errors.ts';
import { isTurnTaken, timed } from '../../../../domain/loop/own-turn.ts';
import type { CommitWatch, Durability } from '../../database.ts';
import type { PendingVerb } from './commit.ts';
import { type BatchParts, type CommittedBatch, makeBatchWriter } from './write-batch.ts';
import type { LogSync } from './log-sync.ts';
import { FEW_VERBS, makePauses } from './pauses.ts';
import type { Step, Transaction } from '../../statement.ts';

/** How long verbs wait for a lock of another process, such as a shell or a backup tool. */
const LOCK_WAIT_MS = 5_000;
/** How often the lock is tried meanwhile. An attempt takes microseconds. */
const LOCK_RETRY_MS = 25;

export interface GroupCommit {
  write<Result>(verb: (tx: Transaction) => Step<Result>, frees: boolean, waitsFor: Durability): Promise<Result>;
  /** Adds a call to the verb that was requested last, if that is this one and its commit hasn't begun. Returns whether it did. */
  join(verb: (tx: Transaction) => Step<unknown>): boolean;
  /** Settles when the disk has synced the last commit; undefined when it has. Until then, its rows may be lost with the power. */
  syncing(): Promise<void> | undefined;
  /** Accepts no further verbs, and resolves when the waiting ones are settled. */
  end(): Promise<void>;
  /** Has every commit from now on reported to the watch. */
  watch(watch: CommitWatch): void;
}

export interface GroupCommitParts extends BatchParts {
  /** Makes what was committed durable; null where each commit does so itself. */
  readonly logSync: LogSync | null;
  /** What comes before each commit; returns whether it was work of which there is no more in this turn of the loop. */
  makeRoom(): boolean;
}

export function makeGroupCommit(parts: GroupCommitParts): GroupCommit {
  const { clock, logSync, makeRoom } = parts;
  const watches: CommitWatch[] = [];
  const batches = makeBatchWriter(parts, watches);
  const pauseAfter = makePauses();
  let pending: PendingVerb[] = [];
  let scheduled: NodeJS.Immediate | NodeJS.Timeout | undefined;
  let syncing: Promise<void> | undefined;
  let ended = false;
  let nextAt = 0;

  function flush(): void {
    scheduled = undefined;
    const [first] = pending;
    if (first === undefined || syncing !== undefined) return;
    if (isTurnTaken() || makeRoom()) return void (scheduled = setImmediate(flush));
    const batch = pending;
    pending = [];
    const mayWait = clock.monotonic() - first.askedAt < LOCK_WAIT_MS;
    const committed = timed(clock, () => batches.write(batch, mayWait));
    if (committed === 'locked') {
      pending = [...batch, ...pending];
      return void (scheduled = setTimeout(flush, LOCK_RETRY_MS));
    }
    if (committed === undefined) return;
    const { ran, left } = committed;
    pending = [...left, ...pending];
    committed.settleEarly();
    if (logSync !== null && maySyncInBackground(ran)) syncing = syncInBackground(logSync, committed);
    // Those that are left have waited already.
    else nextAt = syncNow(parts, committed, (diskMs) => (left.length > 0 ? 0 : pauseAfter(diskMs, callsOf(ran))));
    if (left.length > 0 && syncing === undefined) scheduled ??= schedule();
  }

  /** The event loop turns meanwhile, but nothing else is read or committed: see `syncing`. */
  async function syncInBackground({ inBackground }: LogSync, committed: CommittedBatch): Promise<void> {
    const settle = await inBackground().then(
      () => committed.settle,
      (error: unknown) => () => committed.lose(error),
    );
    syncing = undefined;
    settle();
    // Without a pause: verbs have gathered during the sync.
    if (pending.length > 0) scheduled ??= schedule();
  }

  const schedule = () => after(nextAt - clock.monotonic(), flush);

  return {
    write: <Result>(verb: (tx: Transaction) => Step<Result>, frees: boolean, waitsFor: Durability) =>
      new Promise<Result>((resolve, reject) => {
        if (ended) return reject(new ErrandError('unavailable', 'The daemon is shutting down.'));
        pending.push({ askedAt: clock.monotonic(), frees, waitsFor, calls: 1, verb, resolve, reject });
        if (syncing === undefined) scheduled ??= schedule();
      }),
    join: (verb) => joinLast(pending, verb),
    syncing: () => syncing,
    end: async () => {
      ended = true;
      flush();
      // Another process may hold the lock at this very moment.
      while (pending.length > 0 || syncing !== undefined) await (syncing ?? sleep(LOCK_RETRY_MS));
    },
    watch: (watch) => void watches.push(watch),
  };
}

function after(pauseMs: number, flush: () => void): NodeJS.Immediate | NodeJS.Timeout {
  return pauseMs > 0.5 ? setTimeout(flush, pauseMs) : setImmediate(flush);
}

/** Where something settles when it is committed, and the sync is not worth a share of the load. */
const maySyncInBackground = (ran: readonly PendingVerb[]) =>
  callsOf(ran) <= FEW_VERBS && ran.some(({ waitsFor }) => waitsFor === 'committed');

function callsOf(batch: readonly PendingVerb[]): number {
  return batch.reduce((sum, { calls }) => sum + calls, 0);
}

function joinLast(pending: readonly PendingVerb[], verb: PendingVerb['verb']): boolean {
  const last = pending.at(-1);
  if (last?.verb !== verb) return false;
  last.calls += 1;
  return true;
}

/**
 * Where nobody works during the sync, switches of threads would only add to it. Returns when the pause ends: it begins when the disk
 * is done, so that a slow one doesn't use it up itself.
 */
function syncNow(
  { clock, logSync }: GroupCommitParts,
  committed: CommittedBatch,
  pause: (diskMs: number) => number,
): number {
  const startedAt = clock.monotonic();
  try {
    logSync?.now();
  } catch (error) {
    committed.lose(error);
    return 0;
  }
  const syncedAt = clock.monotonic();
  committed.settle();
  return syncedAt + pause(committed.diskMs + syncedAt - startedAt);
}
