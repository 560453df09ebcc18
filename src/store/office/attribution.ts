// Attributes usage to teams: the sums of a day by team, and the sessions that count for a team (§4.8 rules 1-4).
import type { RunSource } from '../../domain/sessions/office.ts';
import { larger } from '../engine/larger.ts';
import type { Reader, Step, Value } from '../engine/statement.ts';

// Usage without a known team counts for its user's current team (rule 2). So a team's sums are those under its id, and those
// of its current members under no team. A session may have both if its user joined the team today; it counts once.

/** A team's id, or null for those without a team. */
export type TeamId = string | null;

/** The column of `session_activity` with the last use of a session: by anything, by a run, or by a run of one source. */
export type Basis = 'any' | 'run' | RunSource;

const LAST: Readonly<Record<Basis, (row: string) => string>> = {
  any: (row) => `${row}.quarter`,
  run: (row) => larger(`${row}.normal_quarter`, `${row}.scheduled_quarter`),
  normal_session: (row) => `${row}.normal_quarter`,
  scheduled_task: (row) => `${row}.scheduled_quarter`,
};

/** Parameters: team, quarter, quarter. Searched by `quarter`, which is never less than the others. */
const OF_TEAM = (basis: Basis) => `SELECT a.session_seq, a.quarter FROM session_activity a
  WHERE a.team_id = ? AND a.user_seq = 0 AND a.quarter >= ? AND ${LAST[basis]('a')} >= ?`;

/** Parameters: team, quarter, quarter, quarter. */
const OF_MEMBERS = (basis: Basis) => `SELECT a.session_seq, a.quarter FROM users u CROSS JOIN session_activity a
    ON a.team_id = '' AND a.user_seq = u.seq AND a.quarter >= ?
  WHERE u.team_id = ? AND ${LAST[basis]('a')} >= ? AND NOT EXISTS (
    SELECT 1 FROM session_activity b
    WHERE b.session_seq = a.session_seq AND b.team_id = u.team_id AND ${LAST[basis]('b')} >= ?)`;

/** Parameters: quarter, quarter. */
const OF_NOBODY = (basis: Basis) => `SELECT a.session_seq, a.quarter FROM users u CROSS JOIN session_activity a
    ON a.team_id = '' AND a.user_seq = u.seq AND a.quarter >= ?
  WHERE u.team_id IS NULL AND ${LAST[basis]('a')} >= ?`;

export interface Sql {
  readonly text: string;
  readonly values: readonly Value[];
}

/** Selects the sessions that a team has used since a quarter of an hour, each once, with the quarter of their last use. */
export function activeSessions(team: TeamId, basis: Basis, since: number): Sql {
  if (team === null) return { text: OF_NOBODY(basis), values: [since, since] };
  return {
    text: `${OF_TEAM(basis)} UNION ALL ${OF_MEMBERS(basis)}`,
    values: [team, since, since, since, team, since, since],
  };
}

/** How many sessions a team has used since a quarter. */
export function* countActive(tx: Reader, team: TeamId, basis: Basis, since: number): Step<number> {
  const { text, values } = activeSessions(team, basis, since);
  const sql = `SELECT count(*) AS sessions FROM (${text}) active`;
  return (yield* tx.get<{ sessions: number }>(sql, ...values))!.sessions;
}

/** Parameters: quarter, quarter, quarter. */
const BY_TEAM = `SELECT team, count(*) AS sessions FROM (
    SELECT teams.id AS team FROM teams CROSS JOIN session_activity a
      ON a.team_id = teams.id AND a.user_seq = 0 AND a.quarter >= ?
    UNION ALL SELECT u.team_id FROM users u CROSS JOIN session_activity a
      ON a.team_id = '' AND a.user_seq = u.seq AND a.quarter >= ?
    WHERE u.team_id IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM session_activity b
      WHERE b.session_seq = a.session_seq AND b.team_id = u.team_id AND b.quarter >= ?)
  ) active GROUP BY team`;

/** The same of all teams that have used any, in one statement: there may be a thousand teams. */
export function* countActiveByTeam(tx: Reader, since: number): Step<ReadonlyMap<string, number>> {
  const rows = yield* tx.all<{ team: string; sessions: number }>(BY_TEAM, since, since, since);
  return new Map(rows.map(({ team, sessions }) => [team, sessions]));
}

/** Runs that have not ended and have no team, with their owners. */
const LIVE_OF_NOBODY = `FROM runs r CROSS JOIN users u ON u.seq = r.user_seq
  WHERE r.finished_at IS NULL AND r.team_id IS NULL AND u.team_id IS NULL`;

const OF_SOURCE: Readonly<Record<RunSource, string>> = {
  normal_session: "AND r.schedule_mode <> 'scheduled'",
  scheduled_task: "AND r.schedule_mode = 'scheduled'",
};

/**
 * Live runs without a team, in sessions without usage that has no team since a quarter (rules 3 and 6), newest first. With a
 * source, only its runs and usage.
 */
export function* listLiveUnused(
  tx: Reader,
  source: RunSource | null,
  since: number,
): Step<{ seq: number; sessionSeq: number }[]> {
  const runs = yield* tx.all<{ seq: number; sessionSeq: number }>(
    `SELECT r.seq, r.session_seq ${LIVE_OF_NOBODY} ${source === null ? '' : OF_SOURCE[source]}
       AND NOT EXISTS (SELECT 1 FROM session_activity a
         WHERE a.session_seq = r.session_seq AND a.team_id = '' AND ${LAST[source ?? 'any']('a')} >= ?)`,
    since,
  );
  return runs.sort((a, b) => b.sessionSeq - a.sessionSeq || b.seq - a.seq);
}

/** Whether any run without a team is live (rule 1). */
export function* hasLiveOfNobody(tx: Reader): Step<boolean> {
  return (yield* tx.get(`SELECT 1 ${LIVE_OF_NOBODY} LIMIT 1`)) !== undefined;
}
