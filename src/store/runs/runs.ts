// Rows of runs, read.
import type { Run, RunState, UNFINISHED } from '../../domain/sessions/run.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { IS_AWAITED, IS_BACKGROUND_WORK, IS_UNFINISHED } from './run-states.ts';
import { OUTCOME, OUTCOME_COLUMNS, RUN, RUN_COLUMNS, type RunOutcome } from '../rows.ts';

/** One query for each of the two indexes of claimable runs. */
const CLAIMABLE = `SELECT ${[IS_AWAITED, IS_BACKGROUND_WORK]
  .map((kind) => `EXISTS (SELECT 1 FROM runs WHERE status = 'queued' AND ready = 1 AND ${kind})`)
  .join(' OR ')} AS found`;

/** The reading verbs on runs. */
export function makeRuns({ read }: Database) {
  const select = `SELECT ${RUN_COLUMNS} FROM runs r JOIN sessions s ON s.seq = r.session_seq`;
  return {
    /** How a run has ended, or its current state. */
    getOutcome: read(function* (tx: Reader, seq: number): Step<RunOutcome> {
      return (yield* tx.rows(OUTCOME).get(`SELECT ${OUTCOME_COLUMNS} FROM runs r WHERE r.seq = ?`, seq))!;
    }),

    /** The run as it is now. */
    get: read(function* (tx: Reader, seq: number): Step<Run> {
      return (yield* tx.rows(RUN).get(`${select} WHERE r.seq = ?`, seq))!;
    }),

    /** The background run of a key's idempotency key whose session is not deleted, or undefined (D4). */
    findBackground: read(function* (tx: Reader, keySeq: number, idempotencyKey: string): Step<Run | undefined> {
      return yield* tx.rows(RUN).get(
        `${select} WHERE r.schedule_mode = 'background' AND r.key_seq = ? AND r.idempotency_key = ?
           AND s.deleted_at IS NULL`,
        keySeq,
        idempotencyKey,
      );
    }),

    /** A waiting background run's place in the global queue, from 1. */
    queuePosition: read(function* (tx: Reader, seq: number): Step<number> {
      return (yield* tx.get<{ runs: number }>(
        `SELECT count(*) AS runs FROM runs WHERE status = 'queued' AND ${IS_BACKGROUND_WORK} AND seq <= ?`,
        seq,
      ))!.runs;
    }),

    /**
     * Whether a waiting run may start now. Checked at the end of every run. During a sync, too: turns that come meanwhile would take
     * the free slots for their acceptance, again and again.
     */
    anyClaimable: read(function* (tx: Reader): Step<boolean> {
      return (yield* tx.get<{ found: number }>(CLAIMABLE))!.found === 1;
    }, 'committed'),

    /** The number of unfinished runs by status; those that wait for their user are counted separately. */
    countUnfinished: read(function* (tx: Reader): Step<Record<(typeof UNFINISHED)[number], number>> {
      const rows = yield* tx.all<{ status: RunState; runs: number }>(
        `SELECT status, count(*) AS runs FROM runs WHERE ${IS_UNFINISHED} GROUP BY 1`,
      );
      const of = (status: RunState) => rows.find((row) => row.status === status)?.runs ?? 0;
      return { queued: of('queued'), running: of('running'), waiting: of('waiting'), finalizing: of('finalizing') };
    }),
  };
}
