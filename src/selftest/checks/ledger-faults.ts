// What is wrong with the ledger of a database: rows that do not add up to what is read of them. In the words of both engines.
import Connection from 'better-sqlite3';

const COUNTS = ['input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens'];
const QUARTER = 'x.at / 900000';
const TEAM = `coalesce(x.team_id, r.team_id, '')`;
const iif = (condition: string, then: string, otherwise: string) =>
  `CASE WHEN ${condition} THEN ${then} ELSE ${otherwise} END`;
const USER = iif(`${TEAM} = ''`, 'x.user_seq', '0');
/** In billionths: costs are added up in different orders. */
const rounded = (cost: string) => `round(${cost} * 1000000000)`;
const COST = rounded('coalesce(sum(x.cost_usd), 0.0)');
const FROM = 'usage_records x LEFT JOIN runs r ON r.seq = x.run_seq';
const bySource = (condition: string) => `coalesce(max(${iif(condition, QUARTER, 'NULL')}), 0)`;
/** Calls of a run, as long as it has its details. */
const CALLS = `(SELECT count(*) FROM tool_calls c WHERE c.run_seq = r.seq AND c.state = 'ended')`;
const KEPT_CALLS = iif('r.details_removed_at IS NULL', CALLS, 'r.tool_count');
const FILES = '(SELECT coalesce(sum(f.size), 0) FROM workspace_files f WHERE f.session_seq = s.seq)';

/** Of two tables that must be equal, what each is made of. */
const PAIRS: Readonly<Record<string, readonly [string, string]>> = {
  'usage of runs': [
    `SELECT seq, ${COUNTS.join()}, ${rounded('cost_usd')} FROM runs`,
    `SELECT r.seq, ${COUNTS.map((name) => `coalesce(sum(x.${name}), 0)`).join()}, ${COST}
     FROM runs r LEFT JOIN usage_records x ON x.run_seq = r.seq GROUP BY r.seq`,
  ],
  'quarters of an hour': [
    `SELECT quarter, team_id, user_seq, tokens, ${rounded('cost_usd')} FROM usage_quarters`,
    `SELECT ${QUARTER}, ${TEAM}, ${USER}, sum(x.input_tokens + x.output_tokens), ${COST}
     FROM ${FROM} GROUP BY 1, 2, 3`,
  ],
  'activity of sessions': [
    'SELECT session_seq, team_id, user_seq, quarter, normal_quarter, scheduled_quarter FROM session_activity',
    `SELECT x.session_seq, ${TEAM}, ${USER}, max(${QUARTER}), ${bySource("r.schedule_mode <> 'scheduled'")},
       ${bySource("r.schedule_mode = 'scheduled'")} FROM ${FROM} GROUP BY 1, 2, 3`,
  ],
  'usage of sessions': [
    `SELECT session_seq, ${COUNTS.join()}, ${rounded('cost_usd')} FROM session_totals`,
    `SELECT s.seq, ${COUNTS.map((name) => `coalesce(sum(x.${name}), 0)`).join()}, ${COST}
     FROM sessions s LEFT JOIN usage_records x ON x.session_seq = s.seq GROUP BY s.seq`,
  ],
  'counts of sessions': [
    `SELECT session_seq, message_count, run_count, tool_count, artifact_count FROM session_totals
     JOIN sessions s ON s.seq = session_seq WHERE s.deleted_at IS NULL`,
    `SELECT s.seq, (SELECT count(*) FROM messages m WHERE m.session_seq = s.seq),
       (SELECT count(*) FROM runs r WHERE r.session_seq = s.seq),
       (SELECT coalesce(sum(${KEPT_CALLS}), 0) FROM runs r WHERE r.session_seq = s.seq),
       (SELECT count(*) FROM runs r JOIN run_artifact_files f ON f.run_seq = r.seq WHERE r.session_seq = s.seq)
     FROM sessions s WHERE s.deleted_at IS NULL`,
  ],
  'space of sessions': [
    'SELECT session_seq, workspace_bytes FROM session_totals',
    `SELECT s.seq, ${iif('s.deleted_at IS NULL', FILES, '0')} FROM sessions s`,
  ],
  'space of users': [
    'SELECT seq, workspace_bytes FROM users',
    `SELECT u.seq, coalesce(sum(t.workspace_bytes), 0) FROM users u LEFT JOIN sessions s ON s.user_seq = u.seq
       LEFT JOIN session_totals t ON t.session_seq = s.seq GROUP BY u.seq`,
  ],
  'time at work in sessions': [
    'SELECT session_seq, worked_ms FROM session_totals',
    `SELECT s.seq, (SELECT coalesce(sum(r.worked_ms), 0) FROM runs r WHERE r.session_seq = s.seq AND r.finished_at IS NOT NULL)
     FROM sessions s`,
  ],
  'tool calls of runs': [
    `SELECT r.seq, r.tool_count FROM runs r JOIN sessions s ON s.seq = r.session_seq WHERE s.deleted_at IS NULL`,
    `SELECT r.seq, ${KEPT_CALLS}
     FROM runs r JOIN sessions s ON s.seq = r.session_seq WHERE s.deleted_at IS NULL`,
  ],
};

/** A line for each pair that differs, with the first row that only one of them has; none when all add up. `select`: executes a query. */
export function ledgerFaultsIn(select: (sql: string) => readonly unknown[]): string[] {
  return Object.entries(PAIRS).flatMap(([what, [kept, counted]]) => {
    const only = (a: string, b: string) => select(`SELECT * FROM (${a}) EXCEPT SELECT * FROM (${b}) LIMIT 1`)[0];
    const [left, right] = [only(kept, counted), only(counted, kept)];
    if (left === undefined && right === undefined) return [];
    return [`${what} do not add up: kept ${JSON.stringify(left)}, counted ${JSON.stringify(right)}`];
  });
}

/** The same of a SQLite file. */
export function ledgerFaults(file: string): string[] {
  const connection = new Connection(file, { readonly: true });
  try {
    return ledgerFaultsIn((sql) => connection.prepare(sql).raw().all());
  } finally {
    connection.close();
  }
}
