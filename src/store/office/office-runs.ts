// Runs as Office Mode shows them: owner, team, progress, cost, and current activity (§2.14, G15).
import type { Listing, Page } from '../../domain/listing.ts';
import type { EventType } from '../../domain/sessions/journal-event.ts';
import type { CurrentCall, ModelWait, OfficeRun } from '../../domain/sessions/office-run.ts';
import { reportedStatus, type RunError } from '../../domain/sessions/run.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { textBehind } from '../engine/journal/places.ts';
import { BEFORE_TEXT } from '../engine/journal/rows.ts';
import { isReportedAs } from '../runs/run-states.ts';

export interface OfficeRunRow extends Omit<OfficeRun, 'error' | 'updatedAt' | 'call' | 'modelWait' | 'isWriting'> {
  readonly seq: number;
  readonly error: string | null;
  readonly createdAt: number;
  /** Its last event while it is live that isn't text: its id, type and time, and its payload when it waits for its model. */
  readonly lastId: number | null;
  readonly lastType: EventType | null;
  readonly lastAt: number | null;
  readonly waitsWith: string | null;
}

/** To be followed by a condition on the runs `r`. */
export const OFFICE_RUNS = `SELECT r.seq, r.id, r.status, r.error, r.created_at,
    r.started_at, r.finished_at, r.cost_usd,
    r.input_tokens + r.output_tokens AS totalTokens, r.tool_count, s.id AS sessionId,
    s.title AS sessionTitle, coalesce(nullif(m.text_preview, ''), s.title) AS title, u.id AS userId, u.username, u.full_name,
    coalesce(r.team_id, u.team_id) AS teamId, t.name AS teamName, n.name AS nodeName,
    coalesce(c.message_count, 0) AS messageCount, coalesce(c.artifact_count, 0) AS artifactCount,
    e.id AS lastId, e.type AS lastType,
    e.created_at AS lastAt, CASE WHEN e.type = 'model_wait.started' THEN e.payload END AS waitsWith,
    CASE WHEN ${isReportedAs('running')} THEN
      coalesce((SELECT step FROM steps WHERE run_seq = r.seq ORDER BY step DESC LIMIT 1), 0) ELSE 0 END AS steps
  FROM runs r JOIN sessions s ON s.seq = r.session_seq JOIN users u ON u.seq = r.user_seq
  LEFT JOIN messages m ON m.run_seq = r.seq AND m.role = 'user'
  LEFT JOIN events e ON r.finished_at IS NULL
    AND e.id = (SELECT id FROM events WHERE run_seq = r.seq AND type <> 'content_block_delta'
      ORDER BY stream_seq DESC LIMIT 1)
  LEFT JOIN teams t ON t.id = coalesce(r.team_id, u.team_id) LEFT JOIN worker_nodes n ON n.id = r.node_id
  LEFT JOIN session_totals c ON c.session_seq = r.session_seq`;

/** Enough for the argument that shows what a call is about. */
const INPUT_CHARACTERS = 1_000;
const CURRENT_CALL = `SELECT name, substr(input, 1, ${INPUT_CHARACTERS}) AS input FROM tool_calls
  WHERE run_seq = ? AND step = ? AND state = 'running' LIMIT 1`;

/** The runs of rows of `OFFICE_RUNS`, in order. */
export function* toOfficeRuns(tx: Reader, rows: readonly OfficeRunRow[]): Step<OfficeRun[]> {
  const runs: OfficeRun[] = [];
  for (const row of rows) {
    const { seq, error, createdAt, lastId, lastType, lastAt, waitsWith, ...rest } = row;
    const text = lastType !== null && BEFORE_TEXT.has(lastType) ? yield* textBehind(tx, seq, lastId!) : undefined;
    const isAtWork = reportedStatus(row.status) === 'running' && row.steps > 0;
    runs.push({
      ...rest,
      error: error === null ? null : (JSON.parse(error) as RunError),
      updatedAt: row.finishedAt ?? text?.createdAt ?? lastAt ?? row.startedAt ?? createdAt,
      isWriting: text !== undefined,
      modelWait: waitsWith === null ? null : { ...(JSON.parse(waitsWith) as Omit<ModelWait, 'since'>), since: lastAt! },
      call: (isAtWork ? yield* tx.get<CurrentCall>(CURRENT_CALL, seq, row.steps) : undefined) ?? null,
    });
  }
  return runs;
}

/** The verbs on the runs of one session. */
export function makeOfficeRuns({ read }: Database) {
  return {
    /** A page of a session's runs, the newest first. */
    listRuns: read(function* (tx: Reader, sessionSeq: number, { limit, offset }: Page): Step<Listing<OfficeRun>> {
      const rows = yield* tx.all<OfficeRunRow>(
        `${OFFICE_RUNS} WHERE r.seq IN (
             SELECT seq FROM runs WHERE session_seq = ? ORDER BY seq DESC LIMIT ? OFFSET ?) ORDER BY r.seq DESC`,
        sessionSeq,
        limit,
        offset,
      );
      return { items: yield* toOfficeRuns(tx, rows), total: yield* countRuns(tx, sessionSeq) };
    }),
  };
}

/** How many runs a session has, without counting them. */
export function* countRuns(tx: Reader, sessionSeq: number): Step<number> {
  const sql = 'SELECT run_count AS runs FROM session_totals WHERE session_seq = ?';
  return (yield* tx.get<{ runs: number }>(sql, sessionSeq))?.runs ?? 0;
}
