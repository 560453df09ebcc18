// Rows of the largest kind that a tenant may have, put directly into the database of a stopped daemon.
import { randomUUID } from 'node:crypto';
import Connection from 'better-sqlite3';
import { randomCode } from '../../../src/domain/ids.ts';

type Row = Record<string, unknown>;

/** How rows of any kind are added. */
export type LargeRows = ReturnType<typeof openLargeStore>['adding'];

/** Makes sessions of a key, by its public id; of the daemon's first one when absent. */
export function openLargeStore(file: string, keyId: string | null = null) {
  const db = new Connection(file);
  db.pragma('foreign_keys = ON');
  db.pragma('synchronous = OFF');
  const statements = new Map<string, Connection.Statement<Row>>();
  const insert = (table: string, row: Row) => {
    const names = Object.keys(row);
    const sql = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map((name) => `@${name}`).join(', ')})`;
    const statement = statements.get(sql) ?? db.prepare<Row>(sql);
    statements.set(sql, statement);
    return Number(statement.run(row).lastInsertRowid);
  };
  const sql = 'SELECT seq, user_seq FROM api_keys WHERE id = coalesce(?, id) ORDER BY seq LIMIT 1';
  const key = db.prepare<[string | null], { seq: number; user_seq: number }>(sql).get(keyId)!;
  const owned = { user_seq: key.user_seq, key_seq: key.seq };
  const times = { created_at: Date.now(), updated_at: Date.now() };

  function session() {
    const id = randomUUID();
    const seq = insert('sessions', { id, ...owned, kind: 'api', title: 'Large', status: 'completed', ...times });
    return { id, seq };
  }

  /** A run that has ended, without messages. */
  function run(sessionSeq: number, fields: Row = {}) {
    const id = randomUUID();
    const at = Date.now();
    const ends = { created_at: at, started_at: at, finished_at: at };
    const states = { protocol: 'messages', status: 'completed', schedule_mode: 'immediate', ready: 1 };
    const rest = { requested_model: 'm', include_usage: 0, opened_session: 0, target: 'free', outcome: 'completed' };
    const row = {
      id,
      session_seq: sessionSeq,
      ...owned,
      ...states,
      ...rest,
      answer: '',
      artifact_status: 'ready',
      ...ends,
    };
    return { id, seq: insert('runs', { ...row, ...fields }) };
  }

  const said = (sessionSeq: number, runSeq: number, role: 'user' | 'assistant', content: string) => {
    const place = { session_seq: sessionSeq, run_seq: runSeq, role };
    insert('messages', { ...place, content, text_preview: '', created_at: Date.now() });
  };

  const addStep = (runSeq: number, step: number, text: string) => {
    const usage = { input_tokens: 1, output_tokens: 1, cache_read_tokens: 0, cache_write_tokens: 0 };
    insert('steps', {
      run_seq: runSeq,
      step,
      attempt: 1,
      kind: 'final',
      message: 'null',
      text,
      ...usage,
      created_at: 1,
    });
  };

  const addCall = (runSeq: number, step: number, text: string) => {
    const call = { tool_use_id: `t${step}`, name: 'shell', input: JSON.stringify({ command: text }) };
    const end = { state: 'ended', ok: 1, output: text, duration_ms: 1, created_at: 1 };
    insert('tool_calls', { run_seq: runSeq, step, position: 0, ...call, ...end });
  };

  const whole = <T>(work: () => T): T => db.transaction(work)();
  return {
    /** How rows are added, for more kinds of them. */
    adding: { insert, session, run, whole, owned, times },

    /** The user and the key that all is of, as rows name them. */
    owned,

    session,
    run,

    /** So many rows of a table; answers their keys. */
    rows: (table: string, count: number, rowOf: (number: number) => Row) =>
      whole(() => Array.from({ length: count }, (_, number) => insert(table, rowOf(number)))),

    /** A workspace of so many files, as recorded after a run that has added all of them. */
    workspace: (files: number, pathOf: (index: number) => string) =>
      whole(() => {
        const { id, seq } = session();
        const { id: runId, seq: runSeq } = run(seq);
        const size = 1;
        for (let index = 0; index < files; index += 1) {
          const file = { path: pathOf(index), size, sha256: index.toString(16).padStart(64, '0') };
          insert('workspace_files', { session_seq: seq, ...file });
          insert('run_artifact_files', { run_seq: runSeq, state: 'added', ...file });
        }
        const archive = { archive_key: 'a'.repeat(64), archive_size: 1 };
        const sizes = { file_count: files, total_size: files, ...archive };
        insert('run_artifacts', { run_seq: runSeq, ...sizes, skipped: '{}', created_at: 1, archived_at: Date.now() });
        insert('workspace_exports', { session_seq: seq, run_seq: runSeq, status: 'ready', ...sizes, updated_at: 1 });
        return { sessionId: id, sessionSeq: seq, runId };
      }),

    /** A session of so many turns, in which both say so much. */
    conversation: (turns: number, text: string) =>
      whole(() => {
        const { id, seq } = session();
        for (let turn = 0; turn < turns; turn += 1) {
          const { seq: runSeq } = run(seq);
          said(seq, runSeq, 'user', JSON.stringify([{ type: 'text', text }]));
          addStep(runSeq, 1, text);
          said(seq, runSeq, 'assistant', '');
        }
        return { sessionId: id };
      }),

    /** A session of one run of so many steps, each with a call of a tool: all three texts are the same. */
    longRun: (steps: number, text: string) =>
      whole(() => {
        const { id, seq } = session();
        const { id: runId, seq: runSeq } = run(seq);
        said(seq, runSeq, 'user', JSON.stringify([{ type: 'text', text: 'Go on.' }]));
        for (let step = 1; step <= steps; step += 1) {
          addStep(runSeq, step, text);
          addCall(runSeq, step, text);
        }
        said(seq, runSeq, 'assistant', '');
        return { sessionId: id, runId };
      }),

    /** A page on the board with one version of so many files. Answers its key. */
    page: (files: number, pathOf: (index: number) => string, description = '') =>
      whole(() => {
        const { seq } = session();
        const key = randomCode(16);
        const owner = { user_seq: owned.user_seq, session_seq: seq, entry_path: pathOf(0) };
        const named = { name: 'Large', search_name: 'large', description, tags: '[]', origin: 'existing_session' };
        const flags = { is_on_board: 1, is_distraction_free: 0, open_versions: 1, latest_published_at: Date.now() };
        const page_id = insert('publish_pages', { key, ...owner, ...named, ...flags, ...times });
        const published = { page_id, no: 1, share_code: randomCode(22), published_at: Date.now(), is_open: 1 };
        const kind = { share_type: 'page', trigger_type: 'manual', file_count: files, total_size: files };
        const version_seq = insert('publish_versions', { ...owner, ...published, ...kind });
        for (let index = 0; index < files; index += 1)
          insert('publish_files', { version_seq, path: pathOf(index), size: 1, sha256: 'f'.repeat(64) });
        return key;
      }),

    /** The share code of the version of such a page. */
    shareOf: (pageKey: string) => {
      const of = 'SELECT share_code FROM publish_versions WHERE page_id = (SELECT id FROM publish_pages WHERE key = ?)';
      return db.prepare<[string], { share_code: string }>(of).get(pageKey)!.share_code;
    },

    /** So many nodes that were never online, each with all it may say of itself. */
    nodes: (count: number) =>
      whole(() => {
        const texts = { place: 'p'.repeat(100), name: 'n'.repeat(64), version: '1.0.0', address: '127.0.0.1:8484' };
        const labels = JSON.stringify(Array.from({ length: 16 }, (_, at) => `${at}=${'x'.repeat(60)}`));
        const counts = { slots: 4, running: 0, draining: 0, noticed: 0, beats: 1, contests: 0 };
        for (let no = 0; no < count; no += 1)
          insert('worker_nodes', {
            id: randomUUID(),
            ...texts,
            labels,
            ...counts,
            last_beat_at: Date.now() - 60_000 - no,
            registered_at: 0,
          });
      }),

    /** So many users, each with a key. */
    people: (count: number) =>
      whole(() => {
        for (let number = 0; number < count; number += 1) {
          const id = randomUUID();
          const named = {
            username: `person-${number}`,
            account: `person-${number}`,
            full_name: `Person ${number}`,
            department: 'Large',
          };
          const user_seq = insert('users', { id, ...named, role: 'user', password_hash: 'x', ...times });
          const secret = { last_four: 'abcd', secret_sha256: Buffer.alloc(32), name: '', scope: 'conversation' };
          insert('api_keys', { id: randomCode(8), user_seq, ...secret, target: 'free', created_at: 1 });
        }
      }),

    /** Deletes a session as its owner does: its rows and files are still to be removed. */
    remove: (sessionId: string) => {
      const { seq } = db.prepare<[string], { seq: number }>('SELECT seq FROM sessions WHERE id = ?').get(sessionId)!;
      db.prepare('UPDATE sessions SET deleted_at = 1 WHERE seq = ?').run(seq);
      insert('cleanups', { session_seq: seq, created_at: 1 });
    },

    change: (statement: string) => void db.exec(statement),

    close: () => void db.close(),
  };
}
