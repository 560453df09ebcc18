// One commit: every verb of a tick in one transaction, with the events that they add to the journal.
import type Connection from 'better-sqlite3';
import type { Clock } from '../../../../domain/clock.ts';
import type { JournalEvent } from '../../../../domain/sessions/journal-event.ts';
import type { Durability } from '../../database.ts';
import { type StreamSeqs, writeEvents } from '../journal.ts';
import { carryOut, type Statements } from '../execute.ts';
import { type Step, StepTransaction, type Transaction } from '../../statement.ts';
import { faultKindOf } from '../storage-fault.ts';

export interface Engine {
  readonly writer: Connection.Database;
  readonly statements: Statements;
  readonly clock: Clock;
  readonly streamSeqs: StreamSeqs;
}

export interface PendingVerb {
  /** When it was requested, on the monotonic clock. */
  readonly askedAt: number;
  /** Whether it is carried out when the disk is full, using the reserve. */
  readonly frees: boolean;
  readonly waitsFor: Durability;
  /** How many calls it carries out. */
  calls: number;
  verb(tx: Transaction): Step<unknown>;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/**
 * The outcome of a commit: how many of its verbs it has carried out, its events, what settles those verbs, and how long
 * the disk took; or why it was rolled back.
 */
export type Commit =
  | {
      readonly ok: true;
      readonly ran: number;
      readonly events: readonly JournalEvent[];
      readonly settle: Record<Durability, () => void>;
      readonly diskMs: number;
    }
  | { readonly ok: false; readonly error: unknown };

/** After so much work a commit begins no further verb: the event loop turns before the others. */
const WORK_MS = 10;

/**
 * Runs the first verbs, or all, in one transaction that the caller has begun. Most of them succeed, so a savepoint would be wasted:
 * within one, SQLite copies each page before its first change. When a verb throws, they are all undone and run again, each within a
 * savepoint of its own.
 */
export function commitBatch(engine: Engine, batch: readonly PendingVerb[]): Commit {
  const { writer, statements, clock } = engine;
  try {
    const { ran, events, settled } = runTogether(engine, batch) ?? runApart(engine, batch);
    const settle = (of: Durability) => () => settled[of].forEach((one) => one());
    // A lone verb that threw has ended it.
    const workedAt = clock.monotonic();
    if (writer.inTransaction) statements('COMMIT').statement.run();
    const diskMs = clock.monotonic() - workedAt;
    return { ok: true, ran, events, settle: { committed: settle('committed'), durable: settle('durable') }, diskMs };
  } catch (error) {
    // The batch was rolled back, so all its verbs fail, including those that had succeeded.
    if (writer.inTransaction) statements('ROLLBACK').statement.run();
    engine.streamSeqs.forget();
    return { ok: false, error };
  }
}

/** How many verbs of a batch were carried out, and what they did. */
interface Done {
  readonly ran: number;
  readonly events: readonly JournalEvent[];
  readonly settled: Readonly<Record<Durability, readonly (() => void)[]>>;
}

function nothingDone() {
  return { events: [] as JournalEvent[], settled: { committed: [] as (() => void)[], durable: [] as (() => void)[] } };
}

/** Returns undefined when a verb threw that isn't alone: then the transaction has ended. */
function runTogether(engine: Engine, batch: readonly PendingVerb[]): Done | undefined {
  const { events, settled } = nothingDone();
  let ran = 0;
  for (const { verb, waitsFor, resolve, reject } of inTime(engine, batch)) {
    ran += 1;
    try {
      const settle = runVerb(engine, verb, events);
      settled[waitsFor].push(() => resolve(settle()));
    } catch (error) {
      undo(engine, error, 'ROLLBACK');
      return batch.length > 1
        ? undefined
        : { ran, events: [], settled: { committed: [], durable: [() => reject(error)] } };
    }
  }
  return { ran, events, settled };
}

/** The first verb, and those that begin before the work has taken too long. */
function* inTime({ clock }: Engine, batch: readonly PendingVerb[]): Iterable<PendingVerb> {
  const endsAt = clock.monotonic() + WORK_MS;
  for (const [index, verb] of batch.entries()) {
    if (index > 0 && clock.monotonic() >= endsAt) return;
    yield verb;
  }
}

function runApart(engine: Engine, batch: readonly PendingVerb[]): Done {
  const { events, settled } = nothingDone();
  engine.statements('BEGIN IMMEDIATE').statement.run();
  let ran = 0;
  for (const { verb, waitsFor, resolve, reject } of inTime(engine, batch)) {
    ran += 1;
    engine.statements('SAVEPOINT verb').statement.run();
    try {
      const settle = runVerb(engine, verb, events);
      settled[waitsFor].push(() => resolve(settle()));
    } catch (error) {
      undo(engine, error, 'ROLLBACK TO verb');
      settled[waitsFor].push(() => reject(error));
    }
    engine.statements('RELEASE verb').statement.run();
  }
  return { ran, events, settled };
}

/** Adds the verb's events when it has succeeded. Answers what returns its result, once it is committed. */
function runVerb(
  { statements, clock, streamSeqs }: Engine,
  verb: PendingVerb['verb'],
  events: JournalEvent[],
): () => unknown {
  const tx = new StepTransaction(clock.now());
  const result = carryOut(statements, verb(tx));
  for (const event of writeEvents(statements, streamSeqs, tx)) events.push(event);
  return () => {
    for (const work of tx.afterwards) work();
    return result;
  };
}

/** Undoes what a verb did that threw. When it was the disk, the whole commit fails: later verbs may depend on what was lost. */
function undo({ writer, statements, streamSeqs }: Engine, error: unknown, rollback: string): void {
  if (!writer.inTransaction || faultKindOf(error) !== undefined) throw error;
  statements(rollback).statement.run();
  streamSeqs.forget();
}
