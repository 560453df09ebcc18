// Rescue: runs that lost their worker are settled, given back to the queue, or failed (D7).
import type { Database } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { interruptIn, settleIn } from './end-run.ts';
import { IS_EXECUTING, IS_UNFINISHED } from './run-states.ts';
import type { Progress } from './record-progress.ts';
import { KEEP_WORK } from './work-time.ts';

export interface Rescued {
  /** Runs whose agent had ended: they are settled now. */
  readonly settled: number;
  /** Runs that were executing: they are queued again, or failed once resumed too often. */
  readonly interrupted: number;
  /** Runs that wait in the queue as they did before. */
  readonly queued: number;
}

interface UnfinishedRow {
  sessionSeq: number;
  runSeq: number;
  attempt: number;
  status: 'queued' | 'running' | 'finalizing';
}

/** One question for each index: joined by UNION they would be merged in order of id, through all sessions. */
const EXECUTING_SESSIONS = [
  `SELECT s.id FROM runs r JOIN sessions s ON s.seq = r.session_seq
   WHERE r.${IS_EXECUTING} AND r.status = 'running'`,
  'SELECT id FROM sessions WHERE stop_requested_at IS NOT NULL AND stop_confirmed_at IS NULL',
];

const RENEW = `UPDATE runs SET lease_until = ?, ${KEEP_WORK} WHERE seq = ? AND attempt = ? AND status = 'running'`;

/** The verbs that find runs without a worker. */
export function makeRescueRuns({ write, read }: Database) {
  return {
    /** Sessions with an executor: before a rescue, those that a crash may have cut off in the middle of a write. */
    listExecutingSessions: read(function* (tx: Reader): Step<string[]> {
      const ids = new Set<string>();
      for (const sql of EXECUTING_SESSIONS) for (const { id } of yield* tx.all<{ id: string }>(sql)) ids.add(id);
      return [...ids];
    }),

    /** Rescues every unfinished run but those that wait for their user. Only for a start: no worker may hold a run. */
    rescue: write(function* (tx: Transaction): Step<Rescued> {
      const rows = yield* tx.all<UnfinishedRow>(
        `SELECT session_seq AS sessionSeq, seq AS runSeq, attempt, status FROM runs
           WHERE ${IS_UNFINISHED} AND status <> 'waiting' ORDER BY session_seq, seq`,
      );
      const count = { settled: 0, interrupted: 0, queued: 0 };
      for (const row of rows) {
        if (row.status === 'queued') count.queued += 1;
        else if (row.status === 'finalizing' && (yield* settleIn(tx, row))) count.settled += 1;
        else if (row.status === 'running' && (yield* interruptIn(tx, row, 'crash'))) count.interrupted += 1;
      }
      return count;
    }, 'free'),

    /** Extends the leases of the attempts that have a worker, then rescues runs whose lease ended. Answers how many. */
    renewLeases: write(function* (tx: Transaction, held: readonly Progress[], leaseMs: number): Step<number> {
      // In this order: after a jump of the clock every lease looks expired, also those that are held.
      for (const { runSeq, attempt, workedMs } of held) {
        yield* tx.run(RENEW, tx.now + leaseMs, workedMs, workedMs, runSeq, attempt);
      }
      const expired = yield* tx.all<UnfinishedRow>(
        `SELECT session_seq AS sessionSeq, seq AS runSeq, attempt, status FROM runs
           WHERE ${IS_EXECUTING} AND status = 'running' AND lease_until < ?`,
        tx.now,
      );
      for (const row of expired) yield* interruptIn(tx, row, 'crash');
      return expired.length;
    }),
  };
}
