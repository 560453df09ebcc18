// Today's figures in the snapshot of Office Mode must equal the sums of the ledger's rows.
import Connection from 'better-sqlite3';
import type { Subject } from '../subject.ts';
import type { SnapshotWire } from '../../../src/wire/office/snapshot.ts';
import { databaseOf } from '../../../src/selftest/checks/journal-rows.ts';

interface Sums {
  readonly tokens: number;
  readonly cost: number;
  readonly sessions: number;
}

/** Costs are added up in different orders. */
const ROUNDING = 1e-9;

/** Returns the differences, in words. The daemon must be running, without a run in progress. */
export async function checkToday(daemon: Pick<Subject, 'admin' | 'dataDir'>): Promise<string[]> {
  const snapshot = (await daemon.admin('GET', '/api/v1/office-mode/snapshot?tz=UTC')) as SnapshotWire;
  const rows = sumsSince(databaseOf(daemon), Date.parse(`${snapshot.generated_at.slice(0, 10)}T00:00:00Z`));
  const { overview, teams } = snapshot;
  const sumOf = (name: 'today_total_tokens' | 'today_cost_usd' | 'today_active') =>
    teams.reduce((sum, team) => sum + team[name], 0);
  const figures: readonly (readonly [what: string, reported: number, counted: number])[] = [
    ['tokens', overview.total_tokens, rows.tokens],
    ['cost', overview.total_cost_usd, rows.cost],
    ['tokens of all teams', sumOf('today_total_tokens'), rows.tokens],
    ['cost of all teams', sumOf('today_cost_usd'), rows.cost],
    ['active sessions of all teams', sumOf('today_active'), rows.sessions],
  ];
  return figures.flatMap(([what, reported, counted]) =>
    Math.abs(reported - counted) <= ROUNDING
      ? []
      : [`today's ${what}: the snapshot says ${reported}, the rows ${counted}`],
  );
}

/** Nobody changes teams, so that each session counts for one. */
function sumsSince(file: string, at: number): Sums {
  const connection = new Connection(file, { readonly: true });
  try {
    return connection
      .prepare<[number], Sums>(
        `SELECT coalesce(sum(input_tokens + output_tokens), 0) AS tokens, total(cost_usd) AS cost,
           count(DISTINCT session_seq) AS sessions FROM usage_records WHERE at >= ?`,
      )
      .get(at)!;
  } finally {
    connection.close();
  }
}
