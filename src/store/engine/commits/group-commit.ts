// Group commit: the verbs of one tick share one transaction, which waits for other processes without blocking the event
// loop.
import { setTimeout as pause } from 'node:timers/promises';
import { ErrandError } from '../../../domain/errors.ts';
import type { PendingVerb, SettleMoment, VerbKind } from './commit.ts';
import { type CommitWatch, type KeeperParts, makeKeeper, type WrittenBatch } from './keep-batch.ts';
import type { LogSync } from './log-sync.ts';
import type { Step, Transaction } from '../statement.ts';
import { isLocked } from '../storage-fault.ts';

/** A commit that more verbs than these have shared shows that there is load: two of different runs meet by chance. */
const FEW_VERBS = 2;
/** The shortest pause under load: about the work of a commit that doesn't grow with its verbs. */
const MIN_PAUSE_MS = 2;
/** A stalled disk must not delay the next commit for longer than this. */
const MAX_PAUSE_MS = 20;
/** How long verbs wait for a lock of another process, such as a shell or a backup tool. */
const LOCK_WAIT_MS = 5_000;
/** How often the lock is tried meanwhile. An attempt takes microseconds. */
const LOCK_RETRY_MS = 25;

export interface GroupCommit {
  write<Result>(verb: (tx: Transaction) => Step<Result>, kind: VerbKind, moment: SettleMoment): Promise<Result>;
  /** Adds a call to the verb that was requested last, if that is this one and its commit hasn't begun. Returns whether it did. */
  join(verb: (tx: Transaction) => Step<unknown>): boolean;
  /** Settles when the disk has synced the last commit; undefined when it has. Until then, its rows may be lost with the power. */
  syncing(): Promise<void> | undefined;
  /** Accepts no further verbs, and resolves when the waiting ones are settled. */
  end(): Promise<void>;
  /** Has every commit from now on reported to the watch. */
  watch(watch: CommitWatch): void;
}

export interface GroupCommitParts extends KeeperParts {
  /** Makes what was committed durable; null where each commit does so itself. */
  readonly logSync: LogSync | null;
}

export function makeGroupCommit(parts: GroupCommitParts): GroupCommit {
  const { clock, logSync } = parts;
  const watches: CommitWatch[] = [];
  const keeper = makeKeeper(parts, watches);
  let pending: PendingVerb[] = [];
  let scheduled: NodeJS.Immediate | NodeJS.Timeout | undefined;
  let syncing: Promise<void> | undefined;
  let ended = false;
  let nextAt = 0;

  function flush(): void {
    scheduled = undefined;
    const [first] = pending;
    if (first === undefined || syncing !== undefined) return;
    const hindrance = keeper.begin();
    if (isLocked(hindrance) && clock.monotonic() - first.askedAt < LOCK_WAIT_MS) {
      scheduled = setTimeout(flush, LOCK_RETRY_MS);
      return;
    }
    const batch = pending;
    pending = [];
    const written = keeper.write(batch, hindrance);
    if (written === undefined) return;
    written.settleEarly();
    const calls = callsOf(batch);
    if (logSync !== null && calls <= FEW_VERBS && batch.some(({ moment }) => moment === 'written'))
      syncing = syncBeside(logSync, written);
    else nextAt = clock.monotonic() + pauseAfter(keepNow(parts, written), calls);
  }

  /** The event loop turns meanwhile, but nothing else is read or written: see `syncing`. */
  async function syncBeside({ beside }: LogSync, written: WrittenBatch): Promise<void> {
    const settle = await beside().then(
      () => written.keep,
      (error: unknown) => () => written.lose(error),
    );
    syncing = undefined;
    settle();
    // Without a pause: verbs have gathered during the sync.
    if (pending.length > 0) scheduled ??= schedule();
  }

  const schedule = () => after(nextAt - clock.monotonic(), flush);

  return {
    write: <Result>(verb: (tx: Transaction) => Step<Result>, kind: VerbKind, moment: SettleMoment) =>
      new Promise<Result>((resolve, reject) => {
        if (ended) {
          reject(new ErrandError('unavailable', 'The daemon is shutting down.'));
          return;
        }
        pending.push({ askedAt: clock.monotonic(), kind, moment, calls: 1, verb, resolve, reject });
        if (syncing === undefined) scheduled ??= schedule();
      }),
    join: (verb) => joinLast(pending, verb),
    syncing: () => syncing,
    end: async () => {
      ended = true;
      flush();
      // Another process may hold the lock at this very moment.
      while (pending.length > 0 || syncing !== undefined) await (syncing ?? pause(LOCK_RETRY_MS));
    },
    watch: (watch) => void watches.push(watch),
  };
}

function after(pauseMs: number, flush: () => void): NodeJS.Immediate | NodeJS.Timeout {
  return pauseMs > 0.5 ? setTimeout(flush, Math.min(pauseMs, MAX_PAUSE_MS)) : setImmediate(flush);
}

function callsOf(batch: readonly PendingVerb[]): number {
  return batch.reduce((sum, { calls }) => sum + calls, 0);
}

function joinLast(pending: readonly PendingVerb[], verb: PendingVerb['verb']): boolean {
  const last = pending.at(-1);
  if (last?.verb !== verb) return false;
  last.calls += 1;
  return true;
}

/** Where nobody works during the sync, switches of threads would only add to it. Returns how long the disk took. */
function keepNow({ clock, logSync }: GroupCommitParts, written: WrittenBatch): number {
  const startedAt = clock.monotonic();
  try {
    logSync?.now();
  } catch (error) {
    written.lose(error);
    return 0;
  }
  const diskMs = written.diskMs + clock.monotonic() - startedAt;
  written.keep();
  return diskMs;
}

/**
 * Under load, the disk takes at most a third of the time, and a slow one never more than half: the slower it is, the more verbs share a
 * commit. The work of the verbs themselves grows with their number, so a pause for it would only make each commit block the loop for
 * longer.
 */
function pauseAfter(diskMs: number, verbs: number): number {
  if (verbs > FEW_VERBS) return Math.max(2 * diskMs, MIN_PAUSE_MS);
  return diskMs < MIN_PAUSE_MS ? 0 : diskMs;
}
