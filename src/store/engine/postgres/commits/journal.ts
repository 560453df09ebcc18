// The journal on PostgreSQL: the events that a verb adds, numbered within their runs, in one insert.
import type { EventType, JournalEvent } from '../../../../domain/sessions/journal-event.ts';
import { lastOfRun } from '../../journal/places.ts';
import { LOCKS } from '../opening/lock.ts';
import { type Emitted, READER, type Step, type Value } from '../../statement.ts';
import type { Answer } from '../connections/connection.ts';
import { carryOut, type Pipeline, prepare } from '../statements/execute.ts';

/** The number of the last event of each run that had one lately, so that the table needn't be asked for the next. */
export interface StreamSeqs {
  /** The numbers of these events; the event of a run's acceptance is its first. */
  number(emitted: readonly Emitted[]): Step<readonly (number | null)[]>;
  /** Numbers that were taken may have been rolled back: the next ones are read from the table. */
  forget(): void;
}

/** Runs whose number is remembered: more than can execute at once. */
const MAX_RUNS = 4_096;

/** Makes them for the one connection that writes. */
export function makeStreamSeqs(): StreamSeqs {
  const last = new Map<number, number>();

  function* lastOf(runSeq: number, type: EventType): Step<number> {
    if (type === 'run.queued') return 0;
    return last.get(runSeq) ?? (yield* lastOfRun(READER, runSeq))?.streamSeq ?? 0;
  }

  return {
    *number(emitted) {
      const numbers: (number | null)[] = [];
      for (const { runSeq, event } of emitted) {
        if (runSeq === null) {
          numbers.push(null);
          continue;
        }
        const next = (yield* lastOf(runSeq, event.type)) + 1;
        if (last.size >= MAX_RUNS && !last.has(runSeq)) last.clear();
        last.set(runSeq, next);
        numbers.push(next);
      }
      return numbers;
    },
    forget: () => last.clear(),
  };
}

/** Maximum rows of one insert, so that there are few statements to prepare. */
const ROWS = 16;
const INSERTS = Array.from(
  { length: ROWS + 1 },
  (_, rows) => `INSERT INTO events (session_seq, run_seq, stream_seq, type, payload, created_at)
  VALUES ${Array.from({ length: rows }, () => '(?, ?, ?, ?, ?, ?)').join(', ')} RETURNING id`,
);

/**
 * Where several processes write: who inserts events holds this lock until they are visible, so that numbers rise in the order in which they
 * become so. It belongs to the transaction.
 */
const IN_ORDER = { name: 'in_order', text: `SELECT pg_advisory_xact_lock(${LOCKS.class}, ${LOCKS.journal})` };

/** What a verb has emitted, and its time. */
interface Emission {
  readonly emitted: readonly Emitted[];
  readonly now: number;
}

/** How events of a transaction are added. */
export interface Adding {
  readonly streamSeqs: StreamSeqs;
  readonly isShared: boolean;
}

/** Sends the events that a verb has emitted, as its last step. The answer has their ids, once the server has answered. */
export async function sendEvents(
  pipeline: Pipeline,
  { streamSeqs, isShared }: Adding,
  { emitted, now }: Emission,
): Promise<() => Promise<readonly JournalEvent[]>> {
  if (emitted.length === 0) return async () => [];
  const numbers = await carryOut(pipeline, streamSeqs.number(emitted));
  if (isShared) pipeline.send(IN_ORDER, []);
  const answers: Promise<Answer>[] = [];
  for (let at = 0; at < emitted.length; at += ROWS) {
    const part = emitted.slice(at, at + ROWS);
    const values = part.flatMap(({ sessionSeq, runSeq, event }, index): Value[] => [
      sessionSeq,
      runSeq,
      numbers[at + index]!,
      event.type,
      JSON.stringify(event.payload),
      now,
    ]);
    const answer = pipeline.ask(prepare(INSERTS[part.length]!), values);
    // Whoever asks for the events learns of it.
    answer.catch(() => undefined);
    answers.push(answer);
  }
  return async () => {
    const ids = (await Promise.all(answers)).flatMap(({ rows }) => rows.map(([id]) => id as number));
    return emitted.map(({ sessionSeq, runSeq, event }, at) => ({
      ...event,
      id: ids[at]!,
      sessionSeq,
      runSeq,
      streamSeq: numbers[at]!,
      createdAt: now,
    }));
  };
}
