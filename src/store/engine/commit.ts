// One commit: every verb of a tick in one transaction, with the events that they add to the journal.
import type Connection from 'better-sqlite3';
import type { Clock } from '../../domain/clock.ts';
import type { JournalEvent } from '../../domain/journal-event.ts';
import { type Journal, openJournal } from './journal.ts';
import { carryOut, type Statements } from './sqlite.ts';
import { type Step, StepTransaction, type Transaction } from './statement.ts';
import { faultKindOf } from './storage-fault.ts';

export interface Engine {
  readonly writer: Connection.Database;
  readonly statements: Statements;
  readonly clock: Clock;
}

/** `keep`: a full disk refuses it. `free`: it frees space, or ends what uses more, so it may use the reserve. */
export type VerbKind = 'keep' | 'free';

export interface PendingVerb {
  /** When it was requested, on the monotonic clock. */
  readonly askedAt: number;
  readonly kind: VerbKind;
  verb(tx: Transaction): Step<unknown>;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** The outcome of a commit: its events and the results of its verbs, or why it was rolled back. */
export type Commit =
  | { readonly ok: true; readonly events: readonly JournalEvent[]; readonly settle: () => void }
  | { readonly ok: false; readonly error: unknown };

/** Runs the verbs in one transaction that the caller has begun. */
export function commitBatch(engine: Engine, batch: readonly PendingVerb[]): Commit {
  const { writer, statements } = engine;
  const journal = openJournal(statements);
  const settled: (() => void)[] = [];
  try {
    for (const pending of batch) settled.push(runVerb(engine, pending, { journal, isAlone: batch.length === 1 }));
    // A lone verb that threw has ended it.
    if (writer.inTransaction) statements('COMMIT').run();
  } catch (error) {
    // The batch was rolled back, so all its verbs fail, including those that had succeeded.
    if (writer.inTransaction) statements('ROLLBACK').run();
    return { ok: false, error };
  }
  return {
    ok: true,
    events: journal.events,
    settle: () => {
      for (const settle of settled) settle();
    },
  };
}

interface Place {
  readonly journal: Journal;
  /** Whether the transaction has no other verb, so that it can be rolled back entirely. */
  readonly isAlone: boolean;
}

function runVerb(engine: Engine, { verb, resolve, reject }: PendingVerb, { journal, isAlone }: Place): () => void {
  const { writer, statements, clock } = engine;
  if (!isAlone) statements('SAVEPOINT verb').run();
  try {
    const tx = new StepTransaction(clock.now());
    const result = carryOut(statements, verb(tx));
    journal.write(tx.emitted, tx.now);
    if (!isAlone) statements('RELEASE verb').run();
    return () => resolve(result);
  } catch (error) {
    // When the disk refuses one verb, the whole commit fails: later verbs may depend on what was lost.
    if (!writer.inTransaction || faultKindOf(error) !== undefined) throw error;
    for (const sql of isAlone ? ['ROLLBACK'] : ['ROLLBACK TO verb', 'RELEASE verb']) statements(sql).run();
    journal.forget();
    return () => reject(error);
  }
}
