// The journal: the events that a verb adds to a run in one insert, numbered within their runs.
import type { EventType, JournalEvent } from '../../../domain/sessions/journal-event.ts';
import { lastOfRun } from '../journal/places.ts';
import { carryOut, type Statements } from './execute.ts';
import { READER, type StepTransaction, type Value } from '../statement.ts';

/** The number of the last event of each run that had one lately, so that the table needn't be asked for the next. */
export interface StreamSeqs {
  /** Takes the next number of a run; the event of its acceptance is its first. */
  next(runSeq: number, type: EventType): number;
  /** Numbers that were taken may have been rolled back: the next ones are read from the table. */
  forget(): void;
}

/**
 * Maximum rows of one insert, so that there are few statements to prepare. All are of one run, since for an insert of several rows SQLite
 * copies each page that it changes, so that it can undo it, and above 64 KB into a file: each run has its own pages in the indexes.
 */
const ROWS = 16;
const INSERTS = Array.from(
  { length: ROWS + 1 },
  (_, rows) => `INSERT INTO events (session_seq, run_seq, stream_seq, type, payload, created_at)
  VALUES ${Array.from({ length: rows }, () => '(?, ?, ?, ?, ?, ?)').join(', ')}`,
);

/** Runs whose number is remembered: more than can execute at once. */
const MAX_RUNS = 4_096;

/** Makes them for the one connection that writes. */
export function makeStreamSeqs(statements: Statements): StreamSeqs {
  const last = new Map<number, number>();
  const read = (runSeq: number) => carryOut(statements, lastOfRun(READER, runSeq))?.streamSeq;
  return {
    next: (runSeq, type) => {
      const next = type === 'run.queued' ? 1 : (last.get(runSeq) ?? read(runSeq) ?? 0) + 1;
      if (last.size >= MAX_RUNS && !last.has(runSeq)) last.clear();
      last.set(runSeq, next);
      return next;
    },
    forget: () => last.clear(),
  };
}

/** Writes the events that a verb has emitted, as its last step. */
export function writeEvents(
  statements: Statements,
  streamSeqs: StreamSeqs,
  { emitted, now }: Emission,
): JournalEvent[] {
  const written: JournalEvent[] = [];
  for (let at = 0; at < emitted.length; ) {
    const end = endOfRows(emitted, at);
    insert(statements, streamSeqs, { emitted: emitted.slice(at, end), now }, written);
    at = end;
  }
  return written;
}

/** Where the rows end that one insert may have from a place on. */
function endOfRows(emitted: Emission['emitted'], from: number): number {
  const { runSeq } = emitted[from]!;
  const max = Math.min(from + ROWS, emitted.length);
  let end = from + 1;
  while (end < max && emitted[end]!.runSeq === runSeq) end += 1;
  return end;
}

/** What a verb has emitted, and its time. */
type Emission = Pick<StepTransaction, 'emitted' | 'now'>;

function insert(
  statements: Statements,
  streamSeqs: StreamSeqs,
  { emitted, now }: Emission,
  written: JournalEvent[],
): void {
  const values: Value[] = [];
  const numbers = emitted.map(({ sessionSeq, runSeq, event }) => {
    const streamSeq = runSeq === null ? null : streamSeqs.next(runSeq, event.type);
    values.push(sessionSeq, runSeq, streamSeq, event.type, JSON.stringify(event.payload), now);
    return streamSeq;
  });
  const before = Number(statements(INSERTS[emitted.length]!).statement.run(...values).lastInsertRowid) - emitted.length;
  for (const [at, { sessionSeq, runSeq, event }] of emitted.entries()) {
    written.push({ ...event, id: before + 1 + at, sessionSeq, runSeq, streamSeq: numbers[at] ?? null, createdAt: now });
  }
}
