// Group commit: the verbs of one tick share one transaction, which waits for other processes without blocking the event
// loop.
import { setTimeout as pause } from 'node:timers/promises';
import { ErrandError } from '../../domain/errors.ts';
import type { JournalEvent } from '../../domain/journal-event.ts';
import { commitBatch, type Engine, type PendingVerb, type VerbKind } from './commit.ts';
import type { Health } from './health.ts';
import type { Reserve } from './reserve.ts';
import type { Step, Transaction } from './statement.ts';
import { isLocked, lacksSpace, refusalOf } from './storage-fault.ts';

/** A commit that more verbs than these have shared shows that there is load: a turn is accepted and claimed by two. */
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
  write<Result>(verb: (tx: Transaction) => Step<Result>, kind: VerbKind): Promise<Result>;
  /** Accepts no further verbs, and resolves when the waiting ones are settled. */
  end(): Promise<void>;
  /** Has every commit from now on reported to the watch. */
  watch(watch: CommitWatch): void;
}

/** Learns how long each commit took, and of commits that the storage refused. */
export interface CommitWatch {
  committed(tookMs: number): void;
  refused(): void;
}

export interface GroupCommitParts extends Engine {
  readonly health: Health;
  readonly reserve: Reserve;
  /** Called after each commit, with its events. */
  committed(events: readonly JournalEvent[]): void;
}

export function makeGroupCommit(parts: GroupCommitParts): GroupCommit {
  const { clock } = parts;
  const watches: CommitWatch[] = [];
  const settle = makeSettle(parts, watches);
  let pending: PendingVerb[] = [];
  let scheduled: NodeJS.Immediate | NodeJS.Timeout | undefined;
  let ended = false;
  let nextAt = 0;

  function flush(): void {
    scheduled = undefined;
    const [first] = pending;
    if (first === undefined) return;
    const hindrance = begin(parts);
    if (isLocked(hindrance) && clock.monotonic() - first.askedAt < LOCK_WAIT_MS) {
      scheduled = setTimeout(flush, LOCK_RETRY_MS);
      return;
    }
    const batch = pending;
    pending = [];
    const diskMs = settle(batch, hindrance);
    nextAt = clock.monotonic() + (batch.length > FEW_VERBS ? Math.max(2 * diskMs, MIN_PAUSE_MS) : diskMs);
  }

  /**
   * Under load, the disk takes at most a third of the time: the slower it is, the more verbs share a commit. The work of the
   * verbs themselves grows with their number, so a pause for it would only make each commit block the loop for longer.
   */
  function schedule(): NodeJS.Immediate | NodeJS.Timeout {
    const pauseMs = nextAt - clock.monotonic();
    return pauseMs > 0.5 ? setTimeout(flush, Math.min(pauseMs, MAX_PAUSE_MS)) : setImmediate(flush);
  }

  return {
    write: <Result>(verb: (tx: Transaction) => Step<Result>, kind: VerbKind) =>
      new Promise<Result>((resolve, reject) => {
        if (ended) {
          reject(new ErrandError('unavailable', 'The daemon is shutting down.'));
          return;
        }
        pending.push({ askedAt: clock.monotonic(), kind, verb, resolve, reject });
        scheduled ??= schedule();
      }),
    end: async () => {
      ended = true;
      flush();
      // Another process may hold the lock at this very moment.
      while (pending.length > 0) await pause(LOCK_RETRY_MS);
    },
    watch: (watch) => void watches.push(watch),
  };
}

/**
 * Makes the function that commits a batch whose transaction has begun, and settles its verbs. It returns how long the disk took.
 * On a full disk, only verbs that free space are committed, using the reserve.
 */
function makeSettle(parts: GroupCommitParts, watches: readonly CommitWatch[]) {
  const { clock, health, reserve, committed } = parts;
  /** The disk's error when the reserve was released; undefined while there is a reserve. */
  let full: unknown;

  function commit(batch: readonly PendingVerb[], hindrance: unknown): number {
    const startedAt = clock.monotonic();
    const done = hindrance === undefined ? commitBatch(parts, batch) : { ok: false as const, error: hindrance };
    if (done.ok) {
      const tookMs = clock.monotonic() - startedAt;
      for (const watch of watches) watch.committed(tookMs);
      if (full === undefined) health.well();
      done.settle();
      committed(done.events);
      return done.diskMs;
    }
    const isFreeing = batch.some(({ kind }) => kind === 'free');
    if (!isFreeing || !lacksSpace(done.error) || !reserve.spend()) {
      refuse(batch, done.error);
      return 0;
    }
    full = done.error;
    health.failed(full);
    return commit(onlyFreeing(batch, full), begin(parts));
  }

  /** Refuses all others: the first of them would use up the reserve. */
  function onlyFreeing(batch: readonly PendingVerb[], error: unknown): readonly PendingVerb[] {
    const others = batch.filter(({ kind }) => kind === 'keep');
    if (others.length > 0) refuse(others, error);
    return batch.filter(({ kind }) => kind === 'free');
  }

  /** All verbs of a batch, including the last: they may depend on what is lost with the first. */
  function refuse(batch: readonly PendingVerb[], error: unknown): void {
    health.failed(error);
    for (const watch of watches) watch.refused();
    const refusal = refusalOf(error);
    for (const verb of batch) verb.reject(refusal);
  }

  return (batch: readonly PendingVerb[], hindrance: unknown): number => {
    if (full !== undefined && !reserve.isSpent()) full = undefined;
    return commit(full === undefined ? batch : onlyFreeing(batch, full), hindrance);
  };
}

/** Begins a transaction, or returns why that failed. */
function begin({ statements, health }: GroupCommitParts): unknown {
  const lost = health.lost();
  if (lost !== undefined) return lost;
  try {
    statements('BEGIN IMMEDIATE').run();
    return undefined;
  } catch (error) {
    return error;
  }
}
