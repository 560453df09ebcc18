// Today's runs of a team, in pages of its sessions (§4.8 rules 3-8).
import type { RunSource } from '../../domain/sessions/office.ts';
import type { OfficeRun } from '../../domain/sessions/office-run.ts';
import { QUARTER_MS } from '../../domain/time-zone.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { STEP_OF_RUN, TASK_OF_RUN } from '../firings/task-of-run.ts';
import { activeSessions, type Basis, countActive, listLiveUnused, type TeamId } from './attribution.ts';
import type { DayUsage } from './day-usage.ts';
import { readRuns } from './snapshot.ts';

/** `since`: the quarter of an hour in which today began. `source` null: any source. */
export interface TodayQuery {
  readonly team: TeamId;
  readonly source: RunSource | null;
  readonly since: number;
  readonly limit: number;
  readonly offset: number;
}

/** A run of today. */
export interface TodayRun {
  readonly run: OfficeRun;
  readonly source: RunSource;
  /** The ids of its scheduled task and of the step that it is; null for other runs. */
  readonly taskId: string | null;
  readonly stepId: string | null;
  /** Whether its session was deleted. */
  readonly isDeleted: boolean;
  /** What its session used today, for any team (rule 8). */
  readonly usage: DayUsage;
}

export interface TodayPage {
  /** Runs of the page's sessions. */
  readonly items: readonly TodayRun[];
  /** Sessions that count (rule 3). */
  readonly total: number;
  /** The number of them that have runs to show (rules 4 and 5). */
  readonly itemTotal: number;
}

/** A session of the page, with its runs, the newest first. */
interface Shown {
  readonly sessionSeq: number;
  readonly runSeqs: readonly number[];
}

/** The verbs. */
export function makeToday({ read }: Database) {
  return {
    hasTeam: read(function* (tx: Reader, id: string): Step<boolean> {
      return (yield* tx.get('SELECT 1 FROM teams WHERE id = ?', id)) !== undefined;
    }),

    listToday: read(listToday),
  };
}

function* listToday(tx: Reader, query: TodayQuery): Step<TodayPage> {
  const { team, source, since, limit, offset } = query;
  const live = team === null ? bySession(yield* listLiveUnused(tx, source, since)) : [];
  const total = live.length + (yield* countActive(tx, team, source ?? 'any', since));
  const itemTotal = live.length + (yield* countActive(tx, team, source ?? 'run', since));
  const shown = live.slice(offset, offset + limit);
  const wanted = { limit: limit - shown.length, offset: Math.max(0, offset - live.length) };
  const sessions = wanted.limit === 0 ? [] : yield* pageOf(tx, query, wanted);
  for (const sessionSeq of sessions) shown.push({ sessionSeq, runSeqs: yield* usedRuns(tx, sessionSeq, query) });
  const items: TodayRun[] = [];
  for (const one of shown) items.push(...(yield* itemsOf(tx, one, since)));
  return { items, total, itemTotal };
}

function bySession(runs: readonly { readonly seq: number; readonly sessionSeq: number }[]): Shown[] {
  return [...Map.groupBy(runs, ({ sessionSeq }) => sessionSeq)].map(([sessionSeq, own]) => ({
    sessionSeq,
    runSeqs: own.map(({ seq }) => seq),
  }));
}

/** The most recently used sessions come first; within a quarter of an hour, the newest. */
function* pageOf(
  tx: Reader,
  { team, source, since }: TodayQuery,
  { limit, offset }: Pick<TodayQuery, 'limit' | 'offset'>,
): Step<number[]> {
  const basis: Basis = source ?? 'run';
  const { text, values } = activeSessions(team, basis, since);
  const rows = yield* tx.all<{ sessionSeq: number }>(
    `SELECT session_seq FROM (${text}) active ORDER BY quarter DESC, session_seq DESC LIMIT ? OFFSET ?`,
    ...values,
    limit,
    offset,
  );
  return rows.map((row) => row.sessionSeq);
}

const OF_SOURCE: Readonly<Record<RunSource, string>> = {
  normal_session: "AND r.schedule_mode <> 'scheduled'",
  scheduled_task: "AND r.schedule_mode = 'scheduled'",
};

/** Runs of a session with usage for the team today, the newest first. */
function* usedRuns(tx: Reader, sessionSeq: number, { team, source, since }: TodayQuery): Step<number[]> {
  const rows = yield* tx.all<{ seq: number }>(
    `SELECT DISTINCT r.seq FROM usage_records x JOIN runs r ON r.seq = x.run_seq JOIN users u ON u.seq = x.user_seq
     WHERE x.session_seq = ? AND x.at >= ? AND coalesce(x.team_id, r.team_id, u.team_id, '') = ?
       ${source === null ? '' : OF_SOURCE[source]} ORDER BY r.seq DESC`,
    sessionSeq,
    since * QUARTER_MS,
    team ?? '',
  );
  return rows.map(({ seq }) => seq);
}

const ORIGIN = `SELECT CASE r.schedule_mode WHEN 'scheduled' THEN 'scheduled_task' ELSE 'normal_session' END AS source,
    ${TASK_OF_RUN} AS "taskId", ${STEP_OF_RUN} AS "stepId" FROM runs r WHERE r.seq = ?`;

function* itemsOf(tx: Reader, { sessionSeq, runSeqs }: Shown, since: number): Step<TodayRun[]> {
  const usage = (yield* tx.get<DayUsage>(
    `SELECT coalesce(sum(input_tokens + output_tokens), 0) AS tokens, coalesce(sum(cost_usd), 0) AS "costUsd"
     FROM usage_records WHERE session_seq = ? AND at >= ?`,
    sessionSeq,
    since * QUARTER_MS,
  ))!;
  const session = yield* tx.get<{ deletedAt: number | null }>(
    'SELECT deleted_at FROM sessions WHERE seq = ?',
    sessionSeq,
  );
  const items: TodayRun[] = [];
  const runs = yield* readRuns(tx, runSeqs);
  for (const [index, run] of runs.entries()) {
    const origin = (yield* tx.get<Pick<TodayRun, 'source' | 'taskId' | 'stepId'>>(ORIGIN, runSeqs[index]!))!;
    items.push({ run, ...origin, usage, isDeleted: session?.deletedAt !== null });
  }
  return items;
}
