// Background runs that no worker took in time (§3.1, §8).
import type { RunError } from '../../domain/sessions/run.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { failUnclaimedIn } from './end-run.ts';
import { IS_BACKGROUND_WORK } from '../runs/run-states.ts';

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

/**
 * Of background runs that no worker has ever started; nobody waits for runs of scheduled tasks. The second condition selects
 * the index.
 */
const NEVER_STARTED = `status = 'queued' AND ${IS_BACKGROUND_WORK} AND schedule_mode = 'background' AND started_at IS NULL`;

/** How many fail in one commit: each costs a third of a millisecond. */
const EXPIRED_AT_ONCE = 50;

/** The verbs on waits in the queue. How long a run has waited is known to who calls them. */
export function makeExpireQueued({ write, read }: Database) {
  return {
    /**
     * queued → failed for the first background runs that no worker has ever started, up to the given one in order of acceptance.
     * Returns how many they were; call it again until none is left.
     */
    expireQueued: write(function* (tx: Transaction, newestSeq: number): Step<number> {
      const rows = yield* tx.all<WaitingRow>(
        `SELECT session_seq, seq AS runSeq, attempt FROM runs
           WHERE ${NEVER_STARTED} AND seq <= ? ORDER BY seq LIMIT ?`,
        newestSeq,
        EXPIRED_AT_ONCE,
      );
      const error = JSON.stringify(TIMED_OUT);
      for (const row of rows) {
        yield* tx.run('UPDATE runs SET error = ? WHERE seq = ?', error, row.runSeq);
        yield* failUnclaimedIn(tx, row, TIMED_OUT);
      }
      return rows.length;
    }),

    /** The newest background run that waits for its first worker; undefined when none waits. */
    findNewestQueued: read(function* (tx: Reader): Step<number | undefined> {
      return (yield* tx.get<{ seq: number }>(`SELECT seq FROM runs WHERE ${NEVER_STARTED} ORDER BY seq DESC LIMIT 1`))
        ?.seq;
    }),
  };
}
