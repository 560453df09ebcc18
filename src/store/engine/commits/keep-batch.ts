// The verbs of one commit: written, and settled once they are kept, or refused by the storage.
import type { JournalEvent } from '../../../domain/journal-event.ts';
import { commitBatch, type Commit, type Engine, type PendingVerb } from './commit.ts';
import type { Health } from '../health.ts';
import type { Reserve } from '../reserve.ts';
import { isLocked, lacksSpace, refusalOf } from '../storage-fault.ts';

/** Learns how long each commit took, and of commits that the storage refused. */
export interface CommitWatch {
  committed(tookMs: number): void;
  refused(): void;
}

/** A batch whose transaction is committed, but perhaps not on the disk yet. */
export interface WrittenBatch {
  readonly ran: readonly PendingVerb[];
  /** Those that the commit left for the next one. */
  readonly left: readonly PendingVerb[];
  /** How long its commit took. */
  readonly diskMs: number;
  /** Settles the verbs that don't wait for the disk. */
  settleEarly(): void;
  /** It is on the disk: settles the other verbs, and reports the events. */
  keep(): void;
  /** It may not be on the disk. */
  lose(error: unknown): void;
}

export interface KeeperParts extends Engine {
  readonly health: Health;
  readonly reserve: Reserve;
  /** Called after each commit, with its events. */
  committed(events: readonly JournalEvent[]): void;
}

export interface Keeper {
  /**
   * Commits a batch. Returns undefined when the storage refused it all. On a full disk, only verbs that free space are committed, using
   * the reserve. `mayWait`: returns `locked`, with nothing done, while another process has the lock.
   */
  write(batch: readonly PendingVerb[], mayWait: boolean): WrittenBatch | 'locked' | undefined;
}

type Kept = Extract<Commit, { readonly ok: true }>;

/** Makes it, for the one connection that writes. */
export function makeKeeper(parts: KeeperParts, watches: readonly CommitWatch[]): Keeper {
  const { clock, health, reserve, committed } = parts;
  const refuse = makeRefuse(health, watches);
  /** The disk's error when the reserve was released; undefined while there is a reserve. */
  let full: unknown;

  function commit(
    batch: readonly PendingVerb[],
    hindrance: unknown,
    mayWait: boolean,
  ): WrittenBatch | 'locked' | undefined {
    const startedAt = clock.monotonic();
    const done = hindrance === undefined ? commitBatch(parts, batch) : { ok: false as const, error: hindrance };
    if (done.ok) return written(batch, done, startedAt);
    if (mayWait && isLocked(done.error)) return 'locked';
    const isFreeing = batch.some(({ kind }) => kind === 'free');
    if (!isFreeing || !lacksSpace(done.error) || !reserve.spend()) {
      refuse(batch, done.error);
      return undefined;
    }
    full = done.error;
    health.failed(full);
    return commit(onlyFreeing(batch, full), begin(parts), false);
  }

  function written(batch: readonly PendingVerb[], done: Kept, startedAt: number): WrittenBatch {
    const { settle, events, diskMs } = done;
    const ran = batch.slice(0, done.ran);
    return {
      ran,
      left: batch.slice(done.ran),
      diskMs,
      settleEarly: settle.written,
      keep: () => {
        const tookMs = clock.monotonic() - startedAt;
        for (const watch of watches) watch.committed(tookMs);
        if (full === undefined) health.well();
        settle.kept();
        committed(events);
      },
      lose: (error) => refuse(ran, error),
    };
  }

  /** Refuses all others: the first of them would use up the reserve. */
  function onlyFreeing(batch: readonly PendingVerb[], error: unknown): readonly PendingVerb[] {
    const others = batch.filter(({ kind }) => kind === 'keep');
    if (others.length > 0) refuse(others, error);
    return batch.filter(({ kind }) => kind === 'free');
  }

  return {
    write: (batch, mayWait) => {
      const hindrance = begin(parts);
      if (mayWait && isLocked(hindrance)) return 'locked';
      if (full !== undefined && !reserve.isSpent()) full = undefined;
      // What isn't refused at once waits with the others.
      return full === undefined
        ? commit(batch, hindrance, mayWait)
        : commit(onlyFreeing(batch, full), hindrance, false);
    },
  };
}

/** Begins a transaction, or returns why that failed. */
function begin({ health, statements }: Pick<KeeperParts, 'health' | 'statements'>): unknown {
  const lost = health.lost();
  if (lost !== undefined) return lost;
  try {
    statements('BEGIN IMMEDIATE').statement.run();
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Refuses all verbs of a batch, including the last: they may depend on what is lost with the first. */
function makeRefuse(health: Health, watches: readonly CommitWatch[]) {
  return (batch: readonly PendingVerb[], error: unknown): void => {
    health.failed(error);
    for (const watch of watches) watch.refused();
    const refusal = refusalOf(error);
    for (const verb of batch) verb.reject(refusal);
  };
}
