// What operators look at: sessions and runs of everybody, and the queue with the reason why each run waits.
import { type Run, RUN_STATUSES, type RunStatus, type ScheduleMode } from '../../domain/run.ts';
import type { Session } from '../../domain/session.ts';
import type { StopCause } from '../../domain/stop.ts';
import { conditions } from './conditions.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { RUN_COLUMNS, type RunRow, type SessionRow, toRun, toSession } from '../rows.ts';

/** A page of a list. */
export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** A session with the names of its owner and key. */
export interface SessionRecord extends Session {
  readonly userId: string;
  readonly username: string;
  readonly keyId: string | null;
  readonly stop: {
    readonly cause: StopCause;
    readonly requestedAt: number;
    readonly confirmedAt: number | null;
  } | null;
}

/** A run with the names of its owner and key. */
export interface RunRecord extends Run {
  /** Whether it waits for its user: `running`, without a worker (I2). */
  readonly waiting: boolean;
  readonly userId: string;
  readonly username: string;
  readonly keyId: string;
}

/** Null leaves a filter out. */
export interface SessionFilter extends Page {
  readonly userSeq: number | null;
  readonly keySeq: number | null;
}

export interface RunFilter extends Page {
  readonly sessionSeq: number | null;
  readonly status: RunStatus | null;
}

/** A queued run. `behindInSession` is the run of its session before it, `behindInKey` the one of its key. */
export interface WaitingRun {
  readonly runId: string;
  readonly sessionId: string;
  readonly username: string;
  readonly keyId: string;
  readonly scheduleMode: ScheduleMode;
  readonly resumes: number;
  readonly ready: boolean;
  readonly behindInSession: string | null;
  /** Whether that one waits for its user. */
  readonly behindQuestion: boolean;
  readonly behindInKey: string | null;
  /** On the clock that does not jump. */
  readonly queuedSteadyAt: number;
  readonly createdAt: number;
}

interface Listed<T> {
  readonly items: readonly T[];
  readonly total: number;
}

type Names = { user_id: string; username: string; key_id: string };
type SessionRecordRow = SessionRow & Omit<Names, 'key_id'> & { key_id: string | null };
type RunRecordRow = RunRow & Names & { waiting: number };

const SESSIONS = `SELECT s.*, u.id AS user_id, u.username, k.id AS key_id FROM sessions s
  JOIN users u ON u.seq = s.user_seq LEFT JOIN api_keys k ON k.seq = s.key_seq`;
const RUNS = `SELECT ${RUN_COLUMNS}, r.waiting, u.id AS user_id, u.username, k.id AS key_id FROM runs r
  JOIN sessions s ON s.seq = r.session_seq JOIN users u ON u.seq = r.user_seq JOIN api_keys k ON k.seq = r.key_seq`;

/** The verbs of the overview. Deleted sessions and their runs are left out. */
export function makeOverview({ read }: Database) {
  return {
    /** A session by its id, or undefined. */
    findSessionRecord: (id: string): Promise<SessionRecord | undefined> =>
      read(function* (tx) {
        const row = yield* tx.get<SessionRecordRow>(`${SESSIONS} WHERE s.id = ? AND s.deleted_at IS NULL`, id);
        return row === undefined ? undefined : toSessionRecord(row);
      }),

    /** Sessions, the newest first. */
    listSessionRecords: (filter: SessionFilter): Promise<Listed<SessionRecord>> =>
      read(function* (tx) {
        const { where, values } = conditions(['deleted_at IS NULL'], {
          'user_seq = ?': filter.userSeq,
          'key_seq = ?': filter.keySeq,
        });
        const { total } = (yield* tx.get<{ total: number }>(
          `SELECT count(*) AS total FROM sessions ${where}`,
          ...values,
        ))!;
        const items = yield* tx.all<SessionRecordRow>(
          `${SESSIONS} WHERE s.seq IN (SELECT seq FROM sessions ${where} ORDER BY seq DESC LIMIT ? OFFSET ?)
         ORDER BY s.seq DESC`,
          ...values,
          filter.limit,
          filter.offset,
        );
        return { items: items.map(toSessionRecord), total };
      }),

    /** A run by its id, or undefined. */
    findRunRecord: (id: string): Promise<RunRecord | undefined> =>
      read(function* (tx) {
        const row = yield* tx.get<RunRecordRow>(`${RUNS} WHERE r.id = ? AND s.deleted_at IS NULL`, id);
        return row === undefined ? undefined : toRunRecord(row);
      }),

    /** Runs, the newest first. */
    listRunRecords: (filter: RunFilter): Promise<Listed<RunRecord>> => read((tx) => listRunRecords(tx, filter)),

    /** Waiting runs in order of acceptance. */
    listWaiting: (page: Page): Promise<Listed<WaitingRun>> => read((tx) => listWaiting(tx, page)),
  };
}

function toSessionRecord(row: SessionRecordRow): SessionRecord {
  return {
    ...toSession(row),
    userId: row.user_id,
    username: row.username,
    keyId: row.key_id,
    stop:
      row.stop_requested_at === null
        ? null
        : { cause: row.stop_cause!, requestedAt: row.stop_requested_at, confirmedAt: row.stop_confirmed_at },
  };
}

function toRunRecord(row: RunRecordRow): RunRecord {
  const names = { userId: row.user_id, username: row.username, keyId: row.key_id };
  return { ...toRun(row), ...names, waiting: row.waiting === 1 };
}

/** Which partial index a status is found by: the queue stays quick however many runs have ended. */
const UNFINISHED = "r.status IN ('queued', 'running', 'finalizing')";

function* listRunRecords(tx: Reader, { sessionSeq, status, limit, offset }: RunFilter): Step<Listed<RunRecord>> {
  const isUnfinished = status !== null && RUN_STATUSES.indexOf(status) < RUN_STATUSES.indexOf('completed');
  const { where, values } = conditions(['s.deleted_at IS NULL', ...(isUnfinished ? [UNFINISHED] : [])], {
    'r.session_seq = ?': sessionSeq,
    'r.status = ?': status,
  });
  const from = `FROM runs r JOIN sessions s ON s.seq = r.session_seq ${where}`;
  const { total } = (yield* tx.get<{ total: number }>(`SELECT count(*) AS total ${from}`, ...values))!;
  const items = yield* tx.all<RunRecordRow>(
    `${RUNS} WHERE r.seq IN (SELECT r.seq ${from} ORDER BY ${isUnfinished ? '+r.seq' : 'r.seq'} DESC LIMIT ? OFFSET ?)
     ORDER BY r.seq DESC`,
    ...values,
    limit,
    offset,
  );
  return { items: items.map(toRunRecord), total };
}

type WaitingRow = Omit<WaitingRun, 'ready' | 'behindQuestion'> & {
  readonly ready: number;
  readonly behindQuestion: number | null;
};

/** One for each of the two indexes of claimable runs. */
const lastReadyBefore = (kind: string) => `(SELECT b.id FROM runs b WHERE b.key_seq = r.key_seq AND b.seq < r.seq
  AND b.status = 'queued' AND b.ready = 1 AND ${kind} ORDER BY b.seq DESC LIMIT 1)`;

const IS_WAITING = `${UNFINISHED} AND r.status = 'queued'`;
// Of what is unfinished there is little: it is found by its index and sorted. Without the plus it would be looked for in
// all runs, because they are in order. A cross join is read in its order: the page is short, the runs are not.
const WAITING = `WITH page AS MATERIALIZED (
    SELECT r.seq FROM runs r WHERE ${IS_WAITING} ORDER BY +r.seq LIMIT ? OFFSET ?)
  SELECT r.id AS runId, s.id AS sessionId, u.username, k.id AS keyId, r.schedule_mode AS scheduleMode,
    r.resumes, r.ready, r.queued_steady_at AS queuedSteadyAt, r.created_at AS createdAt,
    (SELECT b.id FROM runs b WHERE b.session_seq = r.session_seq AND b.seq < r.seq
       AND b.status IN ('queued', 'running', 'finalizing') ORDER BY b.seq DESC LIMIT 1) AS behindInSession,
    (SELECT b.waiting FROM runs b WHERE b.session_seq = r.session_seq AND b.seq < r.seq
       AND b.status IN ('queued', 'running', 'finalizing') ORDER BY b.seq DESC LIMIT 1) AS behindQuestion,
    iif(r.schedule_mode = 'background', ${lastReadyBefore("b.schedule_mode = 'background'")},
      ${lastReadyBefore("b.schedule_mode <> 'background'")}) AS behindInKey
  FROM page CROSS JOIN runs r ON r.seq = page.seq JOIN sessions s ON s.seq = r.session_seq JOIN users u ON u.seq = r.user_seq
  JOIN api_keys k ON k.seq = r.key_seq`;

function* listWaiting(tx: Reader, { limit, offset }: Page): Step<Listed<WaitingRun>> {
  const { total } = (yield* tx.get<{ total: number }>(`SELECT count(*) AS total FROM runs r WHERE ${IS_WAITING}`))!;
  const rows = yield* tx.all<WaitingRow>(`${WAITING} ORDER BY page.seq`, limit, offset);
  const items = rows.map((row) => ({ ...row, ready: row.ready === 1, behindQuestion: row.behindQuestion === 1 }));
  return { items, total };
}
