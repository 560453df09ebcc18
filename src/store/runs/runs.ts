// Rows of runs, read.
import type { Run, RunStatus } from '../../domain/run.ts';
import type { Database } from '../engine/database.ts';
import { ANSWER } from './replies.ts';
import {
  OUTCOME_COLUMNS,
  type OutcomeRow,
  RUN_COLUMNS,
  type RunOutcome,
  type RunRow,
  toOutcome,
  toRun,
} from '../rows.ts';

const OUTCOME = `SELECT ${OUTCOME_COLUMNS.map((column) => (column === 'answer' ? ANSWER : `r.${column}`)).join(', ')}
  FROM runs r WHERE r.seq = ?`;

/** One question for each of the two indexes of claimable runs. */
const CLAIMABLE = ["schedule_mode <> 'background'", "schedule_mode = 'background'"].map(
  (kind) => `SELECT 1 FROM runs WHERE status = 'queued' AND ready = 1 AND ${kind} LIMIT 1`,
);

/** The reading verbs on runs. */
export function makeRuns({ reader }: Database) {
  const select = `SELECT ${RUN_COLUMNS} FROM runs r JOIN sessions s ON s.seq = r.session_seq`;
  return {
    /** The run of an id whose session is not deleted, or undefined. */
    find: async (id: string): Promise<Run | undefined> => {
      const row = reader.get<RunRow>(`${select} WHERE r.id = ? AND s.deleted_at IS NULL`, id);
      return row === undefined ? undefined : toRun(row);
    },

    /** How a run has ended, or stands now. */
    getOutcome: async (seq: number): Promise<RunOutcome> => toOutcome(reader.get<OutcomeRow>(OUTCOME, seq)!),

    /** The run as it is now. */
    get: async (seq: number): Promise<Run> => toRun(reader.get<RunRow>(`${select} WHERE r.seq = ?`, seq)!),

    /** The background run of a key's idempotency key whose session is not deleted, or undefined (D4). */
    findBackground: async (keySeq: number, idempotencyKey: string): Promise<Run | undefined> => {
      const row = reader.get<RunRow>(
        `${select} WHERE r.schedule_mode = 'background' AND r.key_seq = ? AND r.idempotency_key = ?
           AND s.deleted_at IS NULL`,
        keySeq,
        idempotencyKey,
      );
      return row === undefined ? undefined : toRun(row);
    },

    /** A waiting background run's place in the global queue, from 1. */
    queuePosition: async (seq: number): Promise<number> =>
      reader.get<{ runs: number }>(
        "SELECT count(*) AS runs FROM runs WHERE status = 'queued' AND schedule_mode = 'background' AND seq <= ?",
        seq,
      )!.runs,

    /** Whether a run waits that may start now. Answers at once: it is asked at the end of every run. */
    anyClaimable: (): boolean => CLAIMABLE.some((sql) => reader.get(sql) !== undefined),

    /** How many unfinished runs there are of each status; those that wait for their user are counted apart. */
    countUnfinished: async (): Promise<Record<'queued' | 'running' | 'waiting' | 'finalizing', number>> => {
      const rows = reader.all<{ status: RunStatus | 'waiting'; runs: number }>(
        `SELECT iif(waiting = 1, 'waiting', status) AS status, count(*) AS runs FROM runs
         WHERE status IN ('queued', 'running', 'finalizing') GROUP BY 1`,
      );
      const of = (status: RunStatus | 'waiting') => rows.find((row) => row.status === status)?.runs ?? 0;
      return { queued: of('queued'), running: of('running'), waiting: of('waiting'), finalizing: of('finalizing') };
    },
  };
}
