// Erases texts from the database, a bounded number of rows per commit: those of deleted sessions (E9), and streamed text
// that was discarded. The sums for usage stay (§4.8 rule 7).
import { type Database, FREES } from '../engine/database.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import { firstMarkFrom, lastOfRun, lastIdBefore } from '../engine/journal/places.ts';
import { removeFirst } from '../journal/remove.ts';
import { listOfRun } from '../journal/run-pages.ts';
import { lastHeld, releaseOrigins } from '../forks/origins.ts';
import { FORGET_SETUPS } from '../runs/run-setups.ts';

/** Removes or blanks up to a number of rows; a finished row is not matched again. Parameters: which, and how many. */
interface Erasure {
  readonly sql: string;
  /** The cost of a row, in rows of the journal: rows that may be large cost more. */
  readonly weight: number;
}

/** The budget of one commit, in rows of the journal. */
const BUDGET = 1_000;
const LARGE = 50;

/** By run, after its journal. Rows of steps and messages stay: they record when tokens were used, and their ids must not be reused. */
const TEXTS_OF_RUN: readonly Erasure[] = [
  { sql: 'DELETE FROM tool_calls WHERE run_seq = ? LIMIT ?', weight: LARGE },
  {
    sql: "UPDATE steps SET message = 'null', text = '' WHERE run_seq = ? AND (message <> 'null' OR text <> '') LIMIT ?",
    weight: LARGE,
  },
  ...FORGET_SETUPS.map((sql) => ({ sql, weight: LARGE })),
  {
    sql: "UPDATE messages SET content = '[]', text_preview = '' WHERE run_seq = ? AND content <> '[]' LIMIT ?",
    weight: LARGE,
  },
  { sql: 'DELETE FROM user_inputs WHERE run_seq = ? LIMIT ?', weight: LARGE },
  { sql: 'DELETE FROM insights WHERE run_seq = ? LIMIT ?', weight: LARGE },
  { sql: 'DELETE FROM discarded_texts WHERE run_seq = ? LIMIT ?', weight: 1 },
  { sql: 'DELETE FROM baseline_files WHERE run_seq = ? LIMIT ?', weight: 1 },
  {
    sql: `UPDATE runs SET answer = NULL, structured_output = NULL, output_schema = NULL, background_payload = NULL,
            response = CASE WHEN response IS NULL THEN NULL ELSE '{}' END,
            error = json_set(error, '$.message', '')
          WHERE seq = ? AND (answer IS NOT NULL OR output_schema IS NOT NULL OR background_payload IS NOT NULL OR response <> '{}'
            OR error ->> '$.message' <> '') LIMIT ?`,
    weight: LARGE,
  },
];

/** By session. The event of the deletion stays: it is the newest of its session, so that no id is reused. */
const TEXTS_OF_SESSION: readonly Erasure[] = [
  {
    sql: "DELETE FROM events WHERE session_seq = ? AND run_seq IS NULL AND type <> 'session.deleted' LIMIT ?",
    weight: 1,
  },
  {
    sql: `UPDATE events SET payload = '{"title":""}' WHERE session_seq = ? AND run_seq IS NULL
            AND type = 'session.deleted' AND payload <> '{"title":""}' LIMIT ?`,
    weight: 1,
  },
  // What forks have of the session stays.
  {
    sql: `DELETE FROM compactions WHERE session_seq = ? AND run_seq > ${lastHeld('compactions.session_seq')} LIMIT ?`,
    weight: LARGE,
  },
  { sql: 'DELETE FROM workspace_copies WHERE session_seq = ? LIMIT ?', weight: 1 },
  { sql: 'DELETE FROM workspaces WHERE session_seq = ? LIMIT ?', weight: 1 },
  { sql: 'DELETE FROM workspace_notes WHERE session_seq = ? LIMIT ?', weight: LARGE },
  // A pending one is still sent: it is erased when it ends.
  {
    sql: `UPDATE webhook_deliveries SET body = '' WHERE session_seq = ? AND state <> 'pending' AND body <> '' LIMIT ?`,
    weight: LARGE,
  },
  {
    sql: `UPDATE webhook_attempts SET response_excerpt = NULL WHERE (delivery_id, no) IN (
            SELECT a.delivery_id, a.no FROM webhook_deliveries d CROSS JOIN webhook_attempts a ON a.delivery_id = d.id
            WHERE d.session_seq = ? AND a.response_excerpt IS NOT NULL LIMIT ?)`,
    weight: 1,
  },
  {
    sql: "UPDATE sessions SET title = '', orchestration = NULL, lead_model = NULL WHERE seq = ? AND (title <> '' OR orchestration IS NOT NULL) LIMIT ?",
    weight: 1,
  },
];

const DOCUMENT_TEXTS = `DELETE FROM document_texts WHERE sha256 IN (
    SELECT a.sha256 FROM messages m JOIN attachments a ON a.message_id = m.id WHERE m.session_seq = ?)
  AND NOT EXISTS (
    SELECT 1 FROM attachments a JOIN messages m ON m.id = a.message_id JOIN sessions s ON s.seq = m.session_seq
    WHERE a.sha256 = document_texts.sha256 AND (s.deleted_at IS NULL OR m.run_seq <= ${lastHeld('s.seq')})) LIMIT ?`;

const inRunsOf = (table: string, key: string, blob: string) => `DELETE FROM ${table} WHERE (${key}) IN (
  SELECT ${key} FROM runs r CROSS JOIN ${table} x ON x.run_seq = r.seq WHERE r.session_seq = ? LIMIT ?)
  RETURNING ${blob} AS blob`;

/** Rows that name blobs. Each gives those of the rows that it removes. Parameters: which, and how many. */
const NAMES_OF_BLOBS: readonly string[] = [
  `DELETE FROM attachments WHERE seq IN (
     SELECT a.seq FROM messages m CROSS JOIN attachments a ON a.message_id = m.id
     WHERE m.session_seq = ? AND m.run_seq > ${lastHeld('m.session_seq')} LIMIT ?)
   RETURNING sha256 AS blob`,
  inRunsOf('run_artifact_files', 'run_seq, path', 'sha256'),
  inRunsOf('run_artifacts', 'run_seq', 'archive_key'),
  inRunsOf('screenshots', 'run_seq, tool_use_id', 'sha256'),
  'DELETE FROM workspace_files WHERE session_seq = ? RETURNING sha256 AS blob LIMIT ?',
  'DELETE FROM earlier_files WHERE session_seq = ? RETURNING sha256 AS blob LIMIT ?',
  'DELETE FROM workspace_exports WHERE session_seq = ? RETURNING archive_key AS blob LIMIT ?',
];

/** For this long, a rejoined stream still shows what others have seen, including text that was discarded since. */
const KEEP_DISCARDED_MS = 86_400_000;
/** The oldest: later ones are due later, or not much earlier. The start of its block says when it was. */
const DISCARDED = `SELECT discarded_texts.run_seq, from_stream_seq AS "from", to_stream_seq AS "to",
    e.created_at AS streamedAt
  FROM discarded_texts CROSS JOIN events e ON e.id = (SELECT id FROM events WHERE run_seq = discarded_texts.run_seq
    AND type <> 'content_block_delta' AND stream_seq <= discarded_texts.to_stream_seq ORDER BY stream_seq DESC LIMIT 1)
  ORDER BY discarded_texts.run_seq, to_stream_seq LIMIT 1`;
/** The events stay, without their text: a reader would take a gap in the stream for lost events. */
const EMPTY_DELTA = `UPDATE events SET payload = json_set(payload, '$.text', '')
  WHERE id = ? AND run_seq = ? AND type = 'content_block_delta'`;

/** The verbs. Each is one commit, and is called until it reports that nothing is left; a crash in between does no harm. */
export function makeErasures({ write }: Database) {
  return {
    /** Erases texts of a deleted session's runs after `afterRunSeq`, but those that forks have of it. Returns the run to continue after; null at the end. */
    eraseRuns: write(function* (tx: Transaction, sessionSeq: number, afterRunSeq: number): Step<number | null> {
      const { held } = (yield* tx.get<{ held: number }>(`SELECT ${lastHeld('?')} AS held`, sessionSeq))!;
      let [after, left] = [Math.max(afterRunSeq, held), BUDGET];
      while (left > 0) {
        const run = yield* tx.get<{ seq: number }>(
          'SELECT seq FROM runs WHERE session_seq = ? AND seq > ? ORDER BY seq LIMIT 1',
          sessionSeq,
          after,
        );
        if (run === undefined) return null;
        left -= 1 + (yield* removeFirst(tx, run.seq, left - 1));
        left = yield* eraseIn(tx, TEXTS_OF_RUN, { key: run.seq, budget: left });
        if (left > 0) after = run.seq;
      }
      return after;
    }, FREES),

    /** Erases the other texts of a deleted session. Returns whether any may be left. */
    eraseSession: write(function* (tx: Transaction, sessionSeq: number): Step<boolean> {
      return (yield* eraseIn(tx, TEXTS_OF_SESSION, { key: sessionSeq, budget: BUDGET })) === 0;
    }, FREES),

    /**
     * Erases rows that name files of a deleted session, and returns their blobs, which nothing else says from now on. Once there were
     * none, removes its clean-up, and returns null: what a fork has held of deleted sessions is to be cleaned up next.
     */
    finishCleanup: write(function* (tx: Transaction, sessionSeq: number): Step<readonly string[] | null> {
      // First: the rows of attachments say whose texts these are.
      const texts = yield* tx.count(DOCUMENT_TEXTS, sessionSeq, BUDGET / LARGE);
      if (texts === BUDGET / LARGE) return [];
      const blobs = new Set<string>();
      let left = BUDGET - LARGE * texts;
      for (const sql of NAMES_OF_BLOBS) {
        if (left <= 0) break;
        const rows = yield* tx.all<{ blob: string | null }>(sql, sessionSeq, left);
        left -= rows.length;
        for (const { blob } of rows) if (blob !== null) blobs.add(blob);
      }
      if (left < BUDGET) return [...blobs];
      yield* tx.run('DELETE FROM cleanups WHERE session_seq = ?', sessionSeq);
      yield* releaseOrigins(tx, sessionSeq);
      return null;
    }, FREES),

    /** Empties deltas of text that was discarded a day ago. `more`: some may be left; `later`: they are not due yet. */
    eraseDiscarded: write(function* (tx: Transaction): Step<'more' | 'later' | 'none'> {
      const text = yield* tx.get<{ runSeq: number; from: number; to: number; streamedAt: number }>(DISCARDED);
      if (text === undefined) return 'none';
      const { runSeq, from, to } = text;
      if (text.streamedAt > tx.now - KEEP_DISCARDED_MS) return 'later';
      const reached = Math.min(from + BUDGET, to);
      yield* emptyIn(tx, runSeq, { from: from + 1, before: reached + 1 });
      const which = 'WHERE run_seq = ? AND to_stream_seq = ?';
      if (reached === to) yield* tx.run(`DELETE FROM discarded_texts ${which}`, runSeq, to);
      else yield* tx.run(`UPDATE discarded_texts SET from_stream_seq = ? ${which}`, reached, runSeq, to);
      return 'more';
    }),
  };
}

/** Returns what is left of the budget; 0 when there may be more to erase. */
function* eraseIn(
  tx: Transaction,
  erasures: readonly Erasure[],
  { key, budget }: { readonly key: number; readonly budget: number },
): Step<number> {
  let left = budget;
  for (const { sql, weight } of erasures) {
    if (left <= 0) return 0;
    left -= weight * (yield* tx.count(sql, key, Math.ceil(left / weight)));
  }
  return Math.max(left, 0);
}

/** Empties the text of a run between two places of its stream. */
function* emptyIn(
  tx: Transaction,
  runSeq: number,
  locations: { readonly from: number; readonly before: number },
): Step<void> {
  const afterId = yield* lastIdBefore(tx, runSeq, locations.from);
  const beforeId = (yield* lastIdBefore(tx, runSeq, locations.before)) + 1;
  const rows = yield* listOfRun(tx, { seq: runSeq, id: '' }, { afterId, beforeId, order: 'asc', limit: BUDGET });
  for (const { id } of rows) yield* tx.run(EMPTY_DELTA, id, runSeq);
}

const LAST_OF_TYPE = `SELECT stream_seq FROM events WHERE run_seq = ? AND type <> 'content_block_delta' AND type = ?
  ORDER BY stream_seq DESC LIMIT 1`;

/** Records that the text streamed since the run's last recorded reply is not part of any reply. */
export function* discardIn(tx: Transaction, runSeq: number): Step<void> {
  const from = (yield* tx.get<{ streamSeq: number }>(LAST_OF_TYPE, runSeq, 'run.step'))?.streamSeq ?? 0;
  const start = (yield* tx.get<{ streamSeq: number }>(LAST_OF_TYPE, runSeq, 'content_block_start'))?.streamSeq ?? 0;
  if (start <= from) return;
  const next = yield* firstMarkFrom(tx, runSeq, start + 1);
  const to = next === undefined ? (yield* lastOfRun(tx, runSeq))!.streamSeq! : next.streamSeq! - 1;
  yield* tx.run(
    'INSERT INTO discarded_texts (run_seq, from_stream_seq, to_stream_seq) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    runSeq,
    from,
    to,
  );
}
