// What teams used in the last hour, by quarters of an hour: sums, however many model calls they hold.
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import type { TeamId } from './attribution.ts';
import type { DayUsage } from './day-usage.ts';

/** What a team used in a quarter of an hour since 1970. A null team: usage without one. */
export interface QuarterUsage extends DayUsage {
  readonly team: TeamId;
  readonly quarter: number;
}

/** Quarters of an hour since 1970, both included. */
export interface Quarters {
  readonly first: number;
  readonly last: number;
}

/** The verb. */
export function makeLastHour({ read }: Database) {
  return {
    /** By team, without deleted teams, the oldest quarter first. Quarters in which a team used nothing are left out. */
    listQuarters: read(function* (tx: Reader, { first, last }: Quarters): Step<QuarterUsage[]> {
      return yield* tx.all<QuarterUsage>(
        `SELECT team, quarter, tokens, "costUsd"
         FROM (SELECT coalesce(nullif(usage_quarters.team_id, ''), u.team_id) AS team, quarter, sum(tokens) AS tokens,
                 sum(cost_usd) AS "costUsd"
               FROM usage_quarters LEFT JOIN users u ON u.seq = usage_quarters.user_seq
               WHERE quarter >= ? AND quarter <= ? GROUP BY 1, 2) sums
         WHERE team IS NULL OR EXISTS (SELECT 1 FROM teams WHERE teams.id = sums.team) ORDER BY team, quarter`,
        first,
        last,
      );
    }),
  };
}
