// Automatic publishing: a job for each page of a task whose firing has completed, until it succeeds or fails (F12, F14).
import { MAX_PUBLISH_ATTEMPTS, PUBLISH_PAUSES_MS } from '../../domain/publishing/page.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';

/** A firing whose last step has completed. */
export interface CompletedFiring {
  readonly taskId: string;
  readonly firingSeq: number;
  readonly sessionSeq: number;
  /** Its last run. */
  readonly runSeq: number;
}

/** A job that is due. */
export interface PublishJob {
  readonly id: number;
  readonly pageId: number;
  readonly pageKey: string;
  readonly sessionSeq: number;
  readonly entryPath: string;
}

/** What a failed attempt leads to. `gone`: the page was deleted, or the session, so that nothing is left to do. */
export type FailedAttempt = 'retry' | 'failed' | 'gone';

const LONGEST_PAUSE_MS = Math.max(...PUBLISH_PAUSES_MS);
/** How long a job waits that no attempt was made for: the files of its run are not known yet. */
const PUT_OFF_MS = 30_000;
const JOBS = `SELECT j.id, j.page_id, p.key AS pageKey, j.session_seq, p.entry_path
  FROM publish_jobs j CROSS JOIN publish_pages p ON p.id = j.page_id`;
const PAGES_OF_TASK = 'FROM publish_pages WHERE task_id = ? AND deleted_at IS NULL';

/** Adds a job for each page of a task, in the commit that ends its firing. */
export function* enqueueJobsIn(tx: Transaction, firing: CompletedFiring): Step<void> {
  const { taskId, firingSeq, sessionSeq, runSeq } = firing;
  yield* tx.run(
    'UPDATE publish_pages SET session_seq = ? WHERE task_id = ? AND deleted_at IS NULL',
    sessionSeq,
    taskId,
  );
  yield* tx.run(
    `INSERT INTO publish_jobs (page_id, firing_seq, session_seq, run_seq, next_attempt_at, created_at)
     SELECT id, ?, ?, ?, ?, ? ${PAGES_OF_TASK} ORDER BY id ON CONFLICT DO NOTHING`,
    firingSeq,
    sessionSeq,
    runSeq,
    tx.now,
    tx.now,
    taskId,
  );
}

/** The verbs. */
export function makePublishJobs({ write, read }: Database) {
  return {
    /** Some jobs that are due, the longest-waiting first. One that is put off for too long is due: the clock was set back. */
    listDue: read(function* (tx: Reader, now: number, limit: number): Step<PublishJob[]> {
      const due = `${JOBS} WHERE j.next_attempt_at <= ? ORDER BY j.next_attempt_at, j.id LIMIT ?`;
      const late = `${JOBS} WHERE j.next_attempt_at > ? ORDER BY j.next_attempt_at, j.id LIMIT ?`;
      const found = yield* tx.all<PublishJob>(due, now, limit);
      return found.length > 0 ? found : yield* tx.all<PublishJob>(late, now + LONGEST_PAUSE_MS, limit);
    }),

    /** When the next job is due, epoch ms; undefined without any. */
    nextAt: read(function* (tx: Reader): Step<number | undefined> {
      const sql = 'SELECT next_attempt_at AS at FROM publish_jobs ORDER BY next_attempt_at LIMIT 1';
      return (yield* tx.get<{ at: number }>(sql))?.at;
    }),

    /** Looks at a job again later: the files of its run are not known yet. */
    putOff: write(function* (tx: Transaction, id: number): Step<void> {
      yield* tx.run('UPDATE publish_jobs SET next_attempt_at = ? WHERE id = ?', tx.now + PUT_OFF_MS, id);
    }),

    /** Jobs of a session that were put off are due now. Returns how many. */
    hasten: write(
      (tx: Transaction, sessionSeq: number): Step<number> =>
        tx.count(
          'UPDATE publish_jobs SET next_attempt_at = ? WHERE session_seq = ? AND attempt_count = 0 AND next_attempt_at > ?',
          tx.now,
          sessionSeq,
          tx.now,
        ),
    ),

    /** Records a failed attempt: another one later, or the end with its event. */
    fail: write((tx: Transaction, id: number, message: string): Step<FailedAttempt> => failIn(tx, id, message)),
  };
}

interface FailingRow {
  sessionSeq: number;
  attemptCount: number;
  runId: string;
  pageId: number;
  name: string;
  key: string;
  taskId: string;
  isGone: number;
}

const FAILING = `SELECT j.session_seq, j.attempt_count, r.id AS run_id, p.id AS page_id, p.name, p.key, p.task_id,
    p.deleted_at IS NOT NULL OR s.deleted_at IS NOT NULL AS is_gone
  FROM publish_jobs j CROSS JOIN publish_pages p ON p.id = j.page_id CROSS JOIN sessions s ON s.seq = j.session_seq
    CROSS JOIN runs r ON r.seq = j.run_seq WHERE j.id = ?`;

function* failIn(tx: Transaction, id: number, message: string): Step<FailedAttempt> {
  const row = yield* tx.get<FailingRow>(FAILING, id);
  if (row === undefined) return 'gone';
  const attemptCount = row.attemptCount + 1;
  const pauseMs = PUBLISH_PAUSES_MS[attemptCount - 1];
  if (row.isGone === 0 && pauseMs !== undefined) {
    const sql = 'UPDATE publish_jobs SET attempt_count = ?, next_attempt_at = ? WHERE id = ?';
    yield* tx.run(sql, attemptCount, tx.now + pauseMs, id);
    return 'retry';
  }
  yield* tx.run('DELETE FROM publish_jobs WHERE id = ?', id);
  if (row.isGone === 1) return 'gone';
  tx.emit(row.sessionSeq, null, {
    type: 'publish_page.failed',
    payload: {
      page: { id: row.pageId, name: row.name, key: row.key },
      job: {
        id: String(id),
        runId: row.runId,
        scheduledTaskId: row.taskId,
        attemptCount,
        maxAttempts: MAX_PUBLISH_ATTEMPTS,
        message,
      },
    },
  });
  return 'failed';
}
