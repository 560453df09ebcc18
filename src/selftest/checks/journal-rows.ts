// Reads the rows of a stopped daemon's database, grouped by run.
import { join } from 'node:path';
import Connection from 'better-sqlite3';

export interface RunRow {
  readonly seq: number;
  readonly id: string;
  readonly session_seq: number;
  readonly session_id: string;
  /** 1 when its session was deleted. */
  readonly deleted: number;
  readonly protocol: 'chat' | 'messages';
  readonly status: string;
  readonly schedule_mode: string;
  readonly attempt: number;
  readonly resumes: number;
  readonly include_usage: number;
  readonly idempotency_key: string | null;
  /** Of the replies in the ledger that were kept: calls that were stopped or broke off have no step. */
  readonly kept_input_tokens: number;
  readonly kept_output_tokens: number;
  readonly error: string | null;
  /** What a reader gets, wherever it is stored. */
  readonly answer: string | null;
  /** What is stored in the row itself. */
  readonly own_answer: string | null;
  readonly worked_ms: number;
  readonly started_at: number | null;
  readonly finished_at: number | null;
  /** That has claimed it last. */
  readonly node_id: string | null;
  /** That has the workspace of its session. */
  readonly workspace_node: string | null;
  readonly artifact_status: string;
}

export interface EventRow {
  readonly id: number;
  readonly run_seq: number;
  readonly stream_seq: number;
  readonly type: string;
  readonly payload: string;
  readonly created_at: number;
}

export interface StepRow {
  readonly run_seq: number;
  readonly step: number;
  readonly attempt: number;
  readonly message: string;
  readonly text: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
}

export interface CallRow {
  readonly run_seq: number;
  readonly step: number;
  readonly position: number;
  readonly tool_use_id: string;
  readonly name: string;
  readonly input: string;
  readonly state: string;
  readonly ok: number | null;
  readonly output: string | null;
}

export interface MessageRow {
  readonly run_seq: number;
  readonly role: 'user' | 'assistant';
  readonly content: string;
  readonly text_preview: string;
}

/** Streamed text that isn't part of any reply: after one event of the run's stream, up to the other. */
export interface DiscardedRow {
  readonly run_seq: number;
  readonly from_stream_seq: number;
  readonly to_stream_seq: number;
}

/** A run with everything that belongs to it, each list in order. */
export interface RunRecord {
  readonly run: RunRow;
  readonly events: readonly EventRow[];
  readonly steps: readonly StepRow[];
  readonly calls: readonly CallRow[];
  readonly messages: readonly MessageRow[];
  readonly discarded: readonly DiscardedRow[];
}

export interface StoredFacts {
  /** Runs of existing sessions, in order of acceptance. */
  readonly records: readonly RunRecord[];
  /** Runs of deleted sessions, which have lost their texts. */
  readonly erased: readonly RunRecord[];
  readonly sessions: readonly {
    readonly seq: number;
    readonly id: string;
    readonly status: string;
    readonly deleted: number;
    /** 1 when a stop waits for its executor to confirm. */
    readonly stopping: number;
  }[];
  /** Clean-ups that remain. */
  readonly cleanups: number;
  readonly attachments: readonly {
    readonly sha256: string;
    readonly workspace_path: string;
    readonly session_id: string;
    /** That has the workspace of its session. */
    readonly workspace_node: string | null;
  }[];
  /** Rows that deleted sessions left behind, a line for each table. */
  readonly remains: readonly string[];
  /** The faults that SQLite itself finds in the file. */
  readonly faults: readonly string[];
}

/** The database file of a daemon. */
export const databaseOf = ({ dataDir }: { readonly dataDir: string }): string => join(dataDir, 'errand.db');

/** The number of rows of a table; works while the daemon writes to it. */
export function readCount(file: string, table: 'cleanups'): number {
  const connection = new Connection(file, { readonly: true, timeout: 5_000 });
  try {
    return connection.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number;
  } finally {
    connection.close();
  }
}

/** The newest event's id: a sign of life. */
export function readNewestEvent(file: string): number {
  const connection = new Connection(file, { readonly: true, timeout: 5_000 });
  try {
    return (connection.prepare('SELECT max(id) FROM events').pluck().get() as number | null) ?? 0;
  } finally {
    connection.close();
  }
}

/** Runs by status; works without a daemon. */
export function readStatuses(file: string): Readonly<Record<string, number>> {
  const connection = new Connection(file, { timeout: 5_000 });
  try {
    const rows = connection.prepare('SELECT status, count(*) FROM runs GROUP BY status').raw().all();
    return Object.fromEntries(rows as [string, number][]);
  } finally {
    connection.close();
  }
}

const OF_RUNS = [
  'user_inputs',
  'insights',
  'discarded_texts',
  'run_artifacts',
  'run_artifact_files',
  'baseline_files',
  'screenshots',
];
const OF_SESSIONS = [
  'compactions',
  'workspaces',
  'workspace_files',
  'workspace_exports',
  'workspace_notes',
  'workspace_copies',
  'earlier_files',
  'session_origins',
];

/** What a deleted session must not leave behind, and how many rows there are of it. */
const REMAINS: readonly (readonly [string, string])[] = [
  ...OF_RUNS.map((table) => [table, `${table} x JOIN runs r ON r.seq = x.run_seq WHERE r.session_seq`] as const),
  ...OF_SESSIONS.map((table) => [table, `${table} x WHERE x.session_seq`] as const),
  ['attachments', 'attachments x JOIN messages m ON m.id = x.message_id WHERE m.session_seq'],
  ['titles', "sessions x WHERE x.title <> '' AND x.seq"],
  ['events of the session', "events x WHERE x.run_seq IS NULL AND x.type <> 'session.deleted' AND x.session_seq"],
];

const kept = (name: string) =>
  `(SELECT coalesce(sum(${name}), 0) FROM usage_records u
    WHERE u.session_seq = r.session_seq AND u.run_seq = r.seq AND u.purpose = 'reply' AND u.outcome = 'ok') AS kept_${name}`;

/** Reads a database file that nobody writes to. */
export function readStoredFacts(file: string): StoredFacts {
  const connection = new Connection(file, { readonly: true });
  try {
    const all = <Row>(sql: string) => connection.prepare(sql).all() as Row[];
    const events = byRun(all<EventRow>('SELECT * FROM events WHERE run_seq IS NOT NULL ORDER BY run_seq, stream_seq'));
    const steps = byRun(all<StepRow>('SELECT * FROM steps ORDER BY run_seq, step'));
    const calls = byRun(all<CallRow>('SELECT * FROM tool_calls ORDER BY run_seq, step, position'));
    const messages = byRun(all<MessageRow>('SELECT * FROM messages ORDER BY id'));
    const discarded = byRun(all<DiscardedRow>('SELECT * FROM discarded_texts ORDER BY run_seq, to_stream_seq'));
    const remains = REMAINS.map(([what, of]) => {
      const deleted = '(SELECT seq FROM sessions WHERE deleted_at IS NOT NULL)';
      return [what, connection.prepare(`SELECT count(*) FROM ${of} IN ${deleted}`).pluck().get() as number] as const;
    });
    const runs = all<RunRow>(
      `SELECT r.*, s.id AS session_id, s.deleted_at IS NOT NULL AS deleted, r.answer AS own_answer, s.workspace_node,
         ${kept('input_tokens')}, ${kept('output_tokens')},
         iif(r.outcome = 'completed', coalesce(r.answer,
           (SELECT text FROM steps WHERE run_seq = r.seq ORDER BY step DESC LIMIT 1)), NULL) AS answer
       FROM runs r JOIN sessions s ON s.seq = r.session_seq ORDER BY r.seq`,
    );
    const integrity = connection.pragma('integrity_check') as { integrity_check: string }[];
    const foreign = connection.pragma('foreign_key_check') as object[];
    const records = runs.map((run) => ({
      run,
      events: events.get(run.seq) ?? [],
      steps: steps.get(run.seq) ?? [],
      calls: calls.get(run.seq) ?? [],
      messages: messages.get(run.seq) ?? [],
      discarded: discarded.get(run.seq) ?? [],
    }));
    return {
      records: records.filter(({ run }) => run.deleted === 0),
      erased: records.filter(({ run }) => run.deleted === 1),
      sessions: all(
        `SELECT seq, id, status, deleted_at IS NOT NULL AS deleted,
           stop_requested_at IS NOT NULL AND stop_confirmed_at IS NULL AS stopping FROM sessions ORDER BY seq`,
      ),
      remains: remains.flatMap(([what, count]) => (count === 0 ? [] : [`${count} ${what} of deleted sessions`])),
      cleanups: all('SELECT session_seq FROM cleanups').length,
      attachments: all(
        `SELECT a.sha256, a.workspace_path, s.id AS session_id, s.workspace_node FROM attachments a
         JOIN messages m ON m.id = a.message_id JOIN sessions s ON s.seq = m.session_seq
         WHERE s.deleted_at IS NULL`,
      ),
      faults: [
        ...integrity.flatMap((row) => (row.integrity_check === 'ok' ? [] : [`integrity: ${row.integrity_check}`])),
        ...foreign.map((row) => `foreign key: ${JSON.stringify(row)}`),
      ],
    };
  } finally {
    connection.close();
  }
}

function byRun<Row extends { readonly run_seq: number }>(rows: readonly Row[]): Map<number, Row[]> {
  return Map.groupBy(rows, (row) => row.run_seq);
}
