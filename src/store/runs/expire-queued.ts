// Background runs that no worker took in time (§3.1, §8).
import type { RunError } from '../../domain/sessions/run.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { endIn } from './end-run.ts';

const TIMED_OUT: RunError = {
  type: 'queue_timeout_error',
  message: 'No worker took the run in time.',
  retryable: true,
};

interface WaitingRow {
  sessionSeq: number;
  runSeq: number;
  attempt: number;
}

/** The verbs on waits in the queue. Waits are measured on the clock that does not jump. */
export function makeExpireQueued({ write, read }: Database) {
  return {
    /** queued → failed for background runs that no worker has ever started and that wait longer than `waitMs`. */
    expireQueued: write(function* (tx: Transaction, waitMs: number): Step<number> {
      const rows = yield* tx.all<WaitingRow>(
        `SELECT session_seq AS sessionSeq, seq AS runSeq, attempt FROM runs
           WHERE status = 'queued' AND schedule_mode = 'background' AND started_at IS NULL AND queued_steady_at <= ?
           ORDER BY seq`,
        tx.steadyNow - waitMs,
      );
      const error = JSON.stringify(TIMED_OUT);
      for (const row of rows) {
        yield* tx.run('UPDATE runs SET error = ? WHERE seq = ?', error, row.runSeq);
        yield* endIn(tx, row, 'failed', { type: 'run.failed', payload: { status: 'failed', error: TIMED_OUT } });
      }
      return rows.length;
    }),

    /** When the longest waiting background run was queued, on the clock that does not jump; undefined when none waits. */
    oldestQueuedAt: read(function* (tx: Reader): Step<number | undefined> {
      return (yield* tx.get<{ queued_steady_at: number }>(
        `SELECT queued_steady_at FROM runs
         WHERE status = 'queued' AND schedule_mode = 'background' AND started_at IS NULL ORDER BY seq LIMIT 1`,
      ))?.queued_steady_at;
    }),
  };
}
