// What was used since a day began, by team: sums of quarters of an hour, never of single model calls.
import type { Reader, Step } from '../engine/statement.ts';
import type { TeamId } from './attribution.ts';

export interface DayUsage {
  readonly tokens: number;
  readonly costUsd: number;
}

/** By team: deleted teams have theirs, too, and null is usage without a team. */
export function* readDayUsage(tx: Reader, since: number): Step<ReadonlyMap<TeamId, DayUsage>> {
  const rows = yield* tx.all<DayUsage & { team: TeamId }>(
    `SELECT coalesce(nullif(sums.team_id, ''), u.team_id) AS team, sum(sums.tokens) AS tokens, sum(sums.cost_usd) AS "costUsd"
     FROM (SELECT team_id, user_seq, sum(tokens) AS tokens, sum(cost_usd) AS cost_usd FROM usage_quarters
           WHERE quarter >= ? GROUP BY team_id, user_seq) sums LEFT JOIN users u ON u.seq = sums.user_seq
     GROUP BY 1`,
    since,
  );
  return new Map(rows.map(({ team, tokens, costUsd }) => [team, { tokens, costUsd }]));
}
