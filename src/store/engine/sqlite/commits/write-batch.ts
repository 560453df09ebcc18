// The verbs of one commit: committed, and settled once they are durable, or refused by the storage.
import type { JournalEvent } from '../../../../domain/sessions/journal-event.ts';
import type { CommitWatch } from '../../database.ts';
import { commitBatch, type Commit, type Engine, type PendingVerb } from './commit.ts';
import type { Health } from '../health.ts';
import type { Reserve } from '../file/reserve.ts';
import { isLocked, lacksSpace, refusalOf } from '../storage-fault.ts';

/** A batch whose transaction is committed, but perhaps not on the disk yet. */
export interface CommittedBatch {
  readonly ran: readonly PendingVerb[];
  /** Those that the commit left for the next one. */
  readonly left: readonly PendingVerb[];
  /** How long its commit took. */
  readonly diskMs: number;
  /** Settles the verbs that don't wait for the disk. */
  settleEarly(): void;
  /** It is on the disk: settles the other verbs, and reports the events. */
  settle(): void;
  /** It may not be on the disk. */
  lose(error: unknown): void;
}

export interface BatchParts extends Engine {
  readonly health: Health;
  readonly reserve: Reserve;
  /** Called after each commit, with its events. */
  committed(events: readonly JournalEvent[]): void;
}

export interface BatchWriter {
  /**
   * Commits a batch. Returns undefined when the storage refused it all. On a full disk, only verbs that free space are committed, using
   * the reserve. `mayWait`: returns `locked`, with nothing done, while another process has the lock.
   */
  write(batch: readonly PendingVerb[], mayWait: boolean): CommittedBatch | 'locked' | undefined;
}

type Done = Extract<Commit, { readonly ok: true }>;

/** Makes it, for the one connection that writes. */
export function makeBatchWriter(parts: BatchParts, watches: readonly CommitWatch[]): BatchWriter {
  const { clock, health, reserve, committed } = parts;
  const refuse = makeRefuse(health, watches);
  /** The disk's error when the reserve was released; undefined while there is a reserve. */
  let full: unknown;

  function commit(
    batch: readonly PendingVerb[],
    hindrance: unknown,
    mayWait: boolean,
  ): CommittedBatch | 'locked' | undefined {
    const startedAt = clock.monotonic();
    const done = hindrance === undefined ? commitBatch(parts, batch) : { ok: false as const, error: hindrance };
    if (done.ok) return committedBatch(batch, done, startedAt);
    if (mayWait && isLocked(done.error)) return 'locked';
    const isFreeing = batch.some(({ frees }) => frees);
    if (!isFreeing || !lacksSpace(done.error) || !reserve.spend()) {
      refuse(batch, done.error);
      return undefined;
    }
    full = done.error;
    health.failed(full);
    return commit(onlyFreeing(batch, full), begin(parts), false);
  }

  function committedBatch(batch: readonly PendingVerb[], done: Done, startedAt: number): CommittedBatch {
    const { settle, events, diskMs } = done;
    const ran = batch.slice(0, done.ran);
    return {
      ran,
      left: batch.slice(done.ran),
      diskMs,
      settleEarly: settle.committed,
      settle: () => {
        const tookMs = clock.monotonic() - startedAt;
        for (const watch of watches) watch.committed(tookMs);
        if (full === undefined) health.well();
        settle.durable();
        committed(events);
      },
      lose: (error) => refuse(ran, error),
    };
  }

  /** Refuses all others: the first of them would use up the reserve. */
  function onlyFreeing(batch: readonly PendingVerb[], error: unknown): readonly PendingVerb[] {
    const others = batch.filter(({ frees }) => !frees);
    if (others.length > 0) refuse(others, error);
    return batch.filter(({ frees }) => frees);
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
function begin({ health, statements }: Pick<BatchParts, 'health' | 'statements'>): unknown {
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
