// The journal of one commit: the events of each verb in one insert, numbered within their runs.
import type { JournalEvent } from '../../domain/journal-event.ts';
import type { Statements } from './sqlite.ts';
import type { Emitted, Value } from './statement.ts';

export interface Journal {
  /** The events of the verbs that succeeded, in order. */
  readonly events: readonly JournalEvent[];
  /** Writes the events that a verb has emitted, as its last step. */
  write(emitted: readonly Emitted[], now: number): void;
  /** Numbered events may have been rolled back: the next numbers are read from the table. */
  forget(): void;
}

const LAST_STREAM_SEQ = 'SELECT stream_seq FROM events WHERE run_seq = ? ORDER BY stream_seq DESC LIMIT 1';
/** Maximum rows of one insert, so that there are few statements to prepare. */
const ROWS = 16;
const INSERTS = Array.from(
  { length: ROWS + 1 },
  (_, rows) => `INSERT INTO events (session_seq, run_seq, stream_seq, type, payload, created_at)
  VALUES ${Array.from({ length: rows }, () => '(?, ?, ?, ?, ?, ?)').join(', ')}`,
);

export function openJournal(statements: Statements): Journal {
  const events: JournalEvent[] = [];
  /** The last `stream_seq` of each run with an event among them: saves asking the table again for the next. */
  const lastStreamSeqs = new Map<number, number>();

  function nextStreamSeq(runSeq: number): number {
    const last =
      lastStreamSeqs.get(runSeq) ??
      (statements(LAST_STREAM_SEQ).get(runSeq) as { stream_seq: number } | undefined)?.stream_seq ??
      0;
    lastStreamSeqs.set(runSeq, last + 1);
    return last + 1;
  }

  function insert(emitted: readonly Emitted[], now: number, written: JournalEvent[]): void {
    const values: Value[] = [];
    const streamSeqs = emitted.map(({ sessionSeq, runSeq, event }) => {
      const streamSeq = runSeq === null ? null : nextStreamSeq(runSeq);
      values.push(sessionSeq, runSeq, streamSeq, event.type, JSON.stringify(event.payload), now);
      return streamSeq;
    });
    const before = Number(statements(INSERTS[emitted.length]!).run(...values).lastInsertRowid) - emitted.length;
    for (const [at, { sessionSeq, runSeq, event }] of emitted.entries()) {
      const streamSeq = streamSeqs[at] ?? null;
      written.push({ ...event, id: before + 1 + at, sessionSeq, runSeq, streamSeq, createdAt: now });
    }
  }

  return {
    events,
    write: (emitted, now) => {
      const written: JournalEvent[] = [];
      for (let at = 0; at < emitted.length; at += ROWS) insert(emitted.slice(at, at + ROWS), now, written);
      events.push(...written);
    },
    forget: () => lastStreamSeqs.clear(),
  };
}
