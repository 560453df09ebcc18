// The current queue: which runs wait, and for which run.
import type { Listing, Page } from '../../domain/listing.ts';
import type { ScheduleMode } from '../../domain/sessions/run.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { IS_AWAITED, IS_BACKGROUND_WORK, IS_UNFINISHED } from './run-states.ts';

/** A queued run. `behindInSession` is the run of its session before it, `behindInKey` the one of its key, or of its user's scheduled
 * tasks. */
export interface WaitingRun {
  readonly runId: string;
  readonly sessionId: string;
  readonly username: string;
  /** Null for a run of a scheduled task. */
  readonly keyId: string | null;
  readonly scheduleMode: ScheduleMode;
  readonly resumes: number;
  readonly ready: boolean;
  readonly behindInSession: string | null;
  /** Whether that run waits for its user. */
  readonly behindQuestion: boolean;
  readonly behindInKey: string | null;
  /** The current run of the firing that this one's firing waits for. */
  readonly behindInTask: string | null;
  readonly createdAt: number;
}

/** Makes the verb: waiting runs in order of acceptance. */
export function makeListWaiting({ read }: Database) {
  return read(listWaiting);
}

type WaitingRow = Omit<WaitingRun, 'ready' | 'behindQuestion'> & {
  readonly ready: number;
  readonly behindQuestion: number | null;
};

/** One query for each of the two indexes of claimable runs. */
const lastReadyBefore = (queue: 'key_seq' | 'lane', kind: string) => `(SELECT b.id FROM runs b
  WHERE b.${queue} = r.${queue} AND b.seq < r.seq AND b.status = 'queued' AND b.ready = 1 AND b.${kind}
  ORDER BY b.seq DESC LIMIT 1)`;

// The first condition selects the index: the query stays fast however many runs have ended.
const IS_WAITING = `r.${IS_UNFINISHED} AND r.status = 'queued'`;
// Few runs are unfinished: they are found by their index and sorted. Without the plus, SQLite would scan all runs, because
// they are already in order. A cross join is executed in the written order: the page is short, the table of runs is not.
const WAITING = `WITH page AS MATERIALIZED (
    SELECT r.seq FROM runs r WHERE ${IS_WAITING} ORDER BY +r.seq LIMIT ? OFFSET ?)
  SELECT r.id AS runId, s.id AS sessionId, u.username, k.id AS keyId, r.schedule_mode,
    r.resumes, r.ready, r.created_at,
    (SELECT b.id FROM runs b WHERE b.session_seq = r.session_seq AND b.seq < r.seq
       AND b.${IS_UNFINISHED} ORDER BY b.seq DESC LIMIT 1) AS behindInSession,
    (SELECT b.status = 'waiting' FROM runs b WHERE b.session_seq = r.session_seq AND b.seq < r.seq
       AND b.${IS_UNFINISHED} ORDER BY b.seq DESC LIMIT 1) AS behindQuestion,
    CASE WHEN r.${IS_BACKGROUND_WORK} THEN ${lastReadyBefore('lane', IS_BACKGROUND_WORK)}
      ELSE ${lastReadyBefore('key_seq', IS_AWAITED)} END AS behindInKey,
    CASE WHEN r.schedule_mode = 'scheduled' AND r.ready = 0 THEN (
      SELECT b.id FROM scheduled_runs x JOIN firings own ON own.id = x.firing_id
        JOIN firings f ON f.task_seq = own.task_seq AND f.ended_at IS NULL AND f.id < own.id JOIN runs b ON b.seq = f.run_seq
      WHERE x.run_seq = r.seq ORDER BY f.id DESC LIMIT 1) END AS behindInTask
  FROM page CROSS JOIN runs r ON r.seq = page.seq JOIN sessions s ON s.seq = r.session_seq JOIN users u ON u.seq = r.user_seq
  LEFT JOIN api_keys k ON k.seq = r.key_seq`;

function* listWaiting(tx: Reader, { limit, offset }: Page): Step<Listing<WaitingRun>> {
  const { total } = (yield* tx.get<{ total: number }>(`SELECT count(*) AS total FROM runs r WHERE ${IS_WAITING}`))!;
  const rows = yield* tx.all<WaitingRow>(`${WAITING} ORDER BY page.seq`, limit, offset);
  const items = rows.map((row) => ({ ...row, ready: row.ready === 1, behindQuestion: row.behindQuestion === 1 }));
  return { items, total };
}
