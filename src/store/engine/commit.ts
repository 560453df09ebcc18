// One commit: every verb of a tick in one transaction, each in its own savepoint, with the events they add to the journal.
import type Connection from 'better-sqlite3';
import type { Clock } from '../../domain/clock.ts';
import type { JournalEvent } from '../../domain/journal-event.ts';
import { makeReader, type Statements } from './connection.ts';
import type { Transaction, VerbKind } from './database.ts';
import { faultKindOf } from './storage-fault.ts';

export interface Engine {
  readonly writer: Connection.Database;
  readonly statements: Statements;
  readonly clock: Clock;
}

export interface PendingVerb {
  /** When it was asked for, on the monotonic clock. */
  readonly askedAt: number;
  readonly kind: VerbKind;
  body(tx: Transaction): unknown;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** What became of a commit: its events and what to tell its verbs, or why nothing of it was kept. */
export type Commit =
  | { readonly ok: true; readonly events: readonly JournalEvent[]; readonly settle: () => void }
  | { readonly ok: false; readonly error: unknown };

/** Runs the verbs in one transaction that the caller has begun. */
export function commitBatch(engine: Engine, batch: readonly PendingVerb[]): Commit {
  const { writer, statements } = engine;
  const journal: Journal = { events: [], lastStreamSeqs: new Map() };
  const settled: (() => void)[] = [];
  try {
    for (const verb of batch) settled.push(runVerb(engine, verb, journal));
    statements('COMMIT').run();
  } catch (error) {
    // Nothing of the batch was kept, so every verb of it fails, also those that had succeeded.
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

function runVerb(engine: Engine, verb: PendingVerb, journal: Journal): () => void {
  const { writer, statements } = engine;
  const before = journal.events.length;
  statements('SAVEPOINT verb').run();
  try {
    const result = verb.body(makeTransaction(engine, journal));
    statements('RELEASE verb').run();
    return () => verb.resolve(result);
  } catch (error) {
    // A disk that refuses one verb refuses the whole commit: what comes after may build on what was lost.
    if (!writer.inTransaction || faultKindOf(error) !== undefined) throw error;
    statements('ROLLBACK TO verb').run();
    statements('RELEASE verb').run();
    journal.events.length = before;
    // Some of them may be of rows that are gone again; the table knows.
    journal.lastStreamSeqs.clear();
    return () => verb.reject(error);
  }
}

const LAST_STREAM_SEQ = 'SELECT stream_seq FROM events WHERE run_seq = ? ORDER BY stream_seq DESC LIMIT 1';
const INSERT_EVENT = `INSERT INTO events (session_seq, run_seq, stream_seq, type, payload, created_at)
  VALUES (?, ?, ?, ?, ?, ?)`;

/** What the verbs of one commit have added to the journal so far. */
interface Journal {
  readonly events: JournalEvent[];
  /** The last `stream_seq` of each run with an event among them: saves asking the table again for the next. */
  readonly lastStreamSeqs: Map<number, number>;
}

function makeTransaction({ statements, clock }: Engine, { events, lastStreamSeqs }: Journal): Transaction {
  const now = clock.now();

  function nextStreamSeq(runSeq: number): number {
    const last =
      lastStreamSeqs.get(runSeq) ??
      (statements(LAST_STREAM_SEQ).get(runSeq) as { stream_seq: number } | undefined)?.stream_seq ??
      0;
    lastStreamSeqs.set(runSeq, last + 1);
    return last + 1;
  }

  return {
    ...makeReader(statements),
    now,
    steadyNow: clock.steady(),
    run: (sql, ...values) => statements(sql).run(...values).changes,
    insert: (sql, ...values) => Number(statements(sql).run(...values).lastInsertRowid),
    emit: (sessionSeq, runSeq, event) => {
      const payload = JSON.stringify(event.payload);
      const streamSeq = runSeq === null ? null : nextStreamSeq(runSeq);
      const { lastInsertRowid } = statements(INSERT_EVENT).run(sessionSeq, runSeq, streamSeq, event.type, payload, now);
      events.push({ ...event, id: Number(lastInsertRowid), sessionSeq, runSeq, streamSeq, createdAt: now });
    },
  };
}
