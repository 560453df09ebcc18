// The journal on PostgreSQL: the events that the verbs of a transaction add, numbered within their runs, in one insert.
import type { EventType, JournalEvent } from '../../../../domain/sessions/journal-event.ts';
import { lastOfRun } from '../../journal/places.ts';
import { type Emitted, READER, type Step, type Value } from '../../statement.ts';
import type { Answer } from '../connections/connection.ts';
import { carryOut, type Pipeline, prepare } from '../statements/execute.ts';

/** The number of the last event of each run that had one lately, so that the table needn't be asked for the next. */
export interface StreamSeqs {
  /** The numbers of these events; the event of a run's acceptance is its first. */
  number(emitted: readonly Emitted[]): Step<readonly (number | null)[]>;
  /** The next numbers of these runs are read from the table: others have written there, or what was written may have been rolled back. */
  forget(runs: readonly number[] | 'all'): void;
}

/** Runs whose number is remembered: more than can execute at once, and than one transaction has. */
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
        // The one of longest ago goes: those of this emission are not in the table yet.
        last.delete(runSeq);
        last.set(runSeq, next);
        if (last.size > MAX_RUNS) last.delete(last.keys().next().value!);
        numbers.push(next);
      }
      return numbers;
    },
    forget: (runs) => {
      if (runs === 'all') last.clear();
      else for (const run of runs) last.delete(run);
    },
  };
}

/** Rows of one insert, so that there are few statements to prepare. */
const [MANY, FEW] = [64, 16];
const inserting = (rows: number) => `INSERT INTO events (session_seq, run_seq, stream_seq, type, payload, created_at)
  VALUES ${Array.from({ length: rows }, () => '(?, ?, ?, ?, ?, ?)').join(', ')} RETURNING id`;
const INSERTS: ReadonlyMap<number, string> = new Map(
  [...Array.from({ length: FEW }, (_, at) => at + 1), MANY].map((rows) => [rows, inserting(rows)]),
);

/** What a verb has emitted, and its time. */
interface Emission {
  readonly emitted: readonly Emitted[];
  readonly now: number;
}

/** The events of one transaction. */
export interface AddedEvents {
  /** Adds those of a verb, as its last step. */
  add(emission: Emission): Promise<void>;
  /** Sends what was added since: with the commit, or before a statement that looks for it. */
  send(): void;
  isEmpty(): boolean;
  /** All that were sent, with their ids, once the server has answered. */
  written(): Promise<readonly JournalEvent[]>;
}

/** An event and its place in its run. */
interface Placed extends Emitted {
  readonly streamSeq: number | null;
  readonly createdAt: number;
  /** As it is stored. */
  readonly payload: string;
}

export function makeAddedEvents(pipeline: Pipeline, streamSeqs: StreamSeqs): AddedEvents {
  const sent: Placed[] = [];
  let added: Placed[] = [];
  const answers: Promise<Answer>[] = [];

  function insert(events: readonly Placed[]): void {
    const values = events.flatMap(({ sessionSeq, runSeq, streamSeq, event, payload, createdAt }): Value[] => [
      sessionSeq,
      runSeq,
      streamSeq,
      event.type,
      payload,
      createdAt,
    ]);
    const answer = pipeline.ask(prepare(INSERTS.get(events.length)!), values);
    // Whoever asks for the events learns of it.
    answer.catch(() => undefined);
    answers.push(answer);
    sent.push(...events);
  }

  return {
    add: async ({ emitted, now }) => {
      if (emitted.length === 0) return;
      const numbers = await carryOut(pipeline, streamSeqs.number(emitted));
      for (const [at, one] of emitted.entries()) {
        const payload = JSON.stringify(one.event.payload);
        added.push({ ...one, streamSeq: numbers[at]!, createdAt: now, payload });
      }
    },
    send: () => {
      if (added.length === 0) return;
      const events = added;
      added = [];
      for (let [at, rows] = [0, 0]; at < events.length; at += rows) {
        const left = events.length - at;
        rows = left >= MANY ? MANY : Math.min(left, FEW);
        insert(events.slice(at, at + rows));
      }
    },
    isEmpty: () => sent.length === 0,
    written: async () => {
      const ids = (await Promise.all(answers)).flatMap(({ rows }) => rows.map(([id]) => id as number));
      return sent.map(({ event, sessionSeq, runSeq, streamSeq, createdAt }, at) => ({
        ...event,
        id: ids[at]!,
        sessionSeq,
        runSeq,
        streamSeq,
        createdAt,
      }));
    },
  };
}
