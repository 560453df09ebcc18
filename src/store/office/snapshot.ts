// A snapshot of Office Mode: the runs, their totals, what each team used today, and the sessions that changed last (G13).
import type { OfficeRun } from '../../domain/sessions/office-run.ts';
import { BEGUN, type RunState, type RunStatus, reportedStatus } from '../../domain/sessions/run.ts';
import type { SessionStatus } from '../../domain/sessions/session.ts';
import type { Team } from '../../domain/people/user.ts';
import { QUARTER_MS } from '../../domain/time-zone.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { IS_ENDED, isIn } from '../runs/run-states.ts';
import { SELECT_TEAM } from '../rows.ts';
import { countActive, countActiveByTeam, hasLiveOfNobody, listLiveUnused } from './attribution.ts';
import { type DayUsage, readDayUsage } from './day-usage.ts';
import { OFFICE_RUNS, type OfficeRunRow, toOfficeRuns } from './office-runs.ts';

/** What to include: how many runs, and the quarter of an hour in which today began. */
export interface SnapshotQuery {
  readonly limit: number;
  readonly since: number;
}

/** A team and its figures of today. */
export interface TeamDay extends Team, DayUsage, TeamFigures {}

interface TeamFigures {
  /** Distinct sessions with usage (§4.8 rule 3). */
  readonly active: number;
  /** Enabled tasks of its members. */
  readonly scheduledTasks: number;
}

/** A session that changed recently, with its newest run. */
export interface RecentSession {
  readonly sessionId: string;
  readonly title: string;
  readonly status: SessionStatus;
  readonly runId: string | null;
  readonly userId: string;
  readonly username: string;
  readonly fullName: string;
  readonly teamId: string | null;
  readonly teamName: string | null;
  readonly updatedAt: number;
}

export interface OfficeSnapshot {
  /** Live runs and those that ended today, by status. Those of deleted sessions are left out. */
  readonly runCounts: Readonly<Partial<Record<RunStatus, number>>>;
  /** Their distinct sessions. */
  readonly sessionCount: number;
  /** Of all users. */
  readonly usage: DayUsage;
  readonly teams: readonly TeamDay[];
  /** What counts for no team; null when there is nothing and nobody to show (rule 1). */
  readonly unassigned: (DayUsage & TeamFigures) | null;
  readonly runs: readonly OfficeRun[];
  readonly recent: readonly RecentSession[];
}

const RECENT_SESSIONS = 24;
const NOTHING: DayUsage = { tokens: 0, costUsd: 0 };

/** The verb. Everything in the result is from one snapshot. */
export function makeSnapshot({ read }: Database) {
  return {
    getSnapshot: read(function* (tx: Reader, query: SnapshotQuery): Step<OfficeSnapshot> {
      const usages = yield* readDayUsage(tx, query.since);
      const tasks = yield* countTasks(tx);
      return {
        ...(yield* countRuns(tx, query.since)),
        usage: [...usages.values()].reduce(add, NOTHING),
        teams: yield* readTeams(tx, { usages, tasks }, query.since),
        unassigned: yield* readUnassigned(tx, { usages, tasks }, query.since),
        runs: yield* listRuns(tx, query),
        recent: yield* listRecent(tx),
      };
    }),
  };
}

function add(one: DayUsage, other: DayUsage): DayUsage {
  return { tokens: one.tokens + other.tokens, costUsd: one.costUsd + other.costUsd };
}

const ENDED = `r.${IS_ENDED}`;
/** Few sessions were deleted since: the runs that ended in them are subtracted. */
const DELETED_SINCE = `SELECT r.status, r.session_seq FROM sessions s CROSS JOIN runs r ON r.session_seq = s.seq
  WHERE s.deleted_at >= ? AND r.finished_at >= ?`;

function* countRuns(tx: Reader, since: number): Step<Pick<OfficeSnapshot, 'runCounts' | 'sessionCount'>> {
  const at = since * QUARTER_MS;
  const runCounts: Partial<Record<RunStatus, number>> = {};
  const rows = yield* tx.all<{ status: RunState; runs: number }>(
    `SELECT status, count(*) AS runs FROM runs r WHERE r.finished_at IS NULL GROUP BY status
     UNION ALL SELECT status, count(*) FROM runs r WHERE ${ENDED} AND r.finished_at >= ? GROUP BY status
     UNION ALL SELECT status, -count(*) FROM (${DELETED_SINCE}) deleted GROUP BY status`,
    at,
    at,
    at,
  );
  for (const { status: state, runs } of rows) {
    const status = reportedStatus(state);
    runCounts[status] = (runCounts[status] ?? 0) + runs;
  }
  const { sessions } = (yield* tx.get<{ sessions: number }>(
    `SELECT (SELECT count(DISTINCT session_seq) FROM (SELECT session_seq FROM runs r WHERE r.finished_at IS NULL
         UNION ALL SELECT session_seq FROM runs r WHERE ${ENDED} AND r.finished_at >= ?) seen)
       - (SELECT count(DISTINCT session_seq) FROM (${DELETED_SINCE}) deleted) AS sessions`,
    at,
    at,
    at,
  ))!;
  return { runCounts, sessionCount: sessions };
}

/** By team; null for those without one. */
interface Counted {
  readonly usages: ReadonlyMap<string | null, DayUsage>;
  readonly tasks: ReadonlyMap<string | null, number>;
}

function* countTasks(tx: Reader): Step<Counted['tasks']> {
  const rows = yield* tx.all<{ team: string | null; tasks: number }>(
    `SELECT u.team_id AS team, sum(sums.tasks) AS tasks FROM
       (SELECT user_seq, count(*) AS tasks FROM scheduled_tasks WHERE enabled = 1 GROUP BY user_seq) AS sums
       CROSS JOIN users u ON u.seq = sums.user_seq GROUP BY u.team_id`,
  );
  return new Map(rows.map(({ team, tasks }) => [team, tasks]));
}

function* readTeams(tx: Reader, { usages, tasks }: Counted, since: number): Step<TeamDay[]> {
  const active = yield* countActiveByTeam(tx, since);
  return (yield* tx.all<Team>(`${SELECT_TEAM} ORDER BY name`)).map((row) => ({
    ...row,
    ...(usages.get(row.id) ?? NOTHING),
    active: active.get(row.id) ?? 0,
    scheduledTasks: tasks.get(row.id) ?? 0,
  }));
}

function* readUnassigned(tx: Reader, { usages, tasks }: Counted, since: number): Step<OfficeSnapshot['unassigned']> {
  const used = yield* countActive(tx, null, 'any', since);
  if (used === 0 && !(yield* hasLiveOfNobody(tx))) return null;
  const live = new Set((yield* listLiveUnused(tx, null, since)).map(({ sessionSeq }) => sessionSeq));
  const figures = { active: used + live.size, scheduledTasks: tasks.get(null) ?? 0 };
  return { ...(usages.get(null) ?? NOTHING), ...figures };
}

/**
 * Live runs first, those that wait for a worker last among them; then those that ended today. The newest first in each
 * group.
 */
function* listRuns(tx: Reader, { limit, since }: SnapshotQuery): Step<OfficeRun[]> {
  const seqs: number[] = [];
  const live = 'SELECT seq FROM runs WHERE finished_at IS NULL AND';
  const ended = `SELECT r.seq FROM runs r JOIN sessions s ON s.seq = r.session_seq
    WHERE ${ENDED} AND r.finished_at >= ? AND s.deleted_at IS NULL ORDER BY r.finished_at DESC, r.seq DESC`;
  const parts: readonly (readonly [sql: string, ...values: number[]])[] = [
    [`${live} ${isIn('status', BEGUN)} ORDER BY seq DESC`],
    [`${live} status = 'queued' ORDER BY seq DESC`],
    [ended, since * QUARTER_MS],
  ];
  for (const [sql, ...values] of parts) {
    if (seqs.length === limit) break;
    const found = yield* tx.all<{ seq: number }>(`${sql} LIMIT ?`, ...values, limit - seqs.length);
    seqs.push(...found.map(({ seq }) => seq));
  }
  return yield* readRuns(tx, seqs);
}

/** The runs of these rows, in the same order. */
export function* readRuns(tx: Reader, seqs: readonly number[]): Step<OfficeRun[]> {
  const rows: OfficeRunRow[] = [];
  for (const seq of seqs) rows.push((yield* tx.get<OfficeRunRow>(`${OFFICE_RUNS} WHERE r.seq = ?`, seq))!);
  return yield* toOfficeRuns(tx, rows);
}

function* listRecent(tx: Reader): Step<RecentSession[]> {
  return yield* tx.all<RecentSession>(
    `SELECT s.id AS "sessionId", s.title, s.status, s.updated_at, u.id AS "userId", u.username,
       u.full_name, coalesce(r.team_id, u.team_id) AS "teamId", t.name AS "teamName", r.id AS "runId"
     FROM (SELECT seq FROM sessions WHERE deleted_at IS NULL ORDER BY updated_at DESC LIMIT ${RECENT_SESSIONS}) latest
       JOIN sessions s ON s.seq = latest.seq JOIN users u ON u.seq = s.user_seq
       LEFT JOIN runs r ON r.seq = (SELECT max(seq) FROM runs WHERE session_seq = s.seq)
       LEFT JOIN teams t ON t.id = coalesce(r.team_id, u.team_id)
     ORDER BY s.updated_at DESC, s.seq DESC`,
  );
}
