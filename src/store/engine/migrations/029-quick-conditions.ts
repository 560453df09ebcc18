// Conditions of tables and indexes that SQLite evaluates with each row that a run writes. For a list of more than two values it
// builds a temporary table every time (2.3 µs, 46 of them a run); comparisons cost almost nothing. What they admit is the same.

/** Columns and what they may be; `written` is how the list begins in the table's words, where it isn't as usual. */
type List = readonly [table: string, column: string, values: readonly string[], written?: string];

const LISTS: readonly List[] = [
  ['sessions', 'kind', ['chat', 'api', 'scheduled']],
  ['sessions', 'status', ['pending', 'running', 'completed', 'failed', 'stopped']],
  ['sessions', 'stop_cause', ['user_requested_stop', 'operator_requested_stop', 'session_deleted']],
  [
    'runs',
    'status',
    ['queued', 'running', 'waiting', 'finalizing', 'completed', 'failed', 'canceled', 'incomplete'],
    'status IN\n                       (',
  ],
  ['runs', 'schedule_mode', ['immediate', 'queued', 'background', 'scheduled']],
  ['runs', 'artifact_status', ['pending', 'ready', 'failed', 'unavailable']],
  ['runs', 'outcome', ['completed', 'failed', 'incomplete']],
  ['runs', 'status', ['completed', 'failed', 'canceled', 'incomplete']],
  ['usage_records', 'purpose', ['reply', 'agent', 'summary']],
  ['usage_records', 'outcome', ['ok', 'failed', 'stopped', 'lost']],
];

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;
const listOf = (values: readonly string[]) => values.map(literal).join(', ');
const anyOf = (column: string, values: readonly string[]) =>
  values.map((value) => `${column} = ${literal(value)}`).join(' OR ');

function inWords([table, column, values, written]: List): string {
  const list = `${written ?? `${column} IN (`}${listOf(values)})`;
  return `UPDATE sqlite_schema SET sql = replace(sql, ${literal(list)}, ${literal(anyOf(column, values))})
  WHERE type = 'table' AND name = '${table}';`;
}

const ENDS = ['run.done', 'run.failed', 'run.stopped'];
const FOR_WEBHOOKS = [
  ...ENDS,
  'scheduled_task.run_status_changed',
  'user_input.requested',
  'user_input.answered',
  'insight.status_changed',
  'publish_page.published',
  'publish_page.failed',
  'workspace_export.completed',
];

export const quickConditions = `
-- Only the words of the tables change. The new indexes have SQLite read them anew, in other processes too.
PRAGMA writable_schema = ON;
${LISTS.map(inWords).join('\n')}
PRAGMA writable_schema = RESET;

-- A run is unfinished as long as it has no end.
DROP INDEX runs_unfinished;
CREATE INDEX runs_unfinished ON runs (session_seq, seq) WHERE finished_at IS NULL;
DROP INDEX runs_unfinished_background;
CREATE INDEX runs_unfinished_background ON runs (user_seq, key_seq)
  WHERE finished_at IS NULL AND schedule_mode IN ('background', 'scheduled');
DROP INDEX runs_ended;
CREATE INDEX runs_ended ON runs (finished_at, status, session_seq) WHERE finished_at IS NOT NULL;
DROP INDEX events_terminal;
CREATE UNIQUE INDEX events_terminal ON events (run_seq) WHERE ${anyOf('type', ENDS)};
DROP INDEX events_for_webhooks;
CREATE INDEX events_for_webhooks ON events (type) WHERE ${anyOf('type', FOR_WEBHOOKS)};
`;
