// Rounds of a session: what the user asked in a run, the tools that it used, and what the agent answered (G6).
import { KB } from '../../domain/byte-units.ts';
import { askedWords } from '../../domain/sessions/continued/clients-words.ts';
import { newTextOf, startOf, type UserBlock } from '../../domain/sessions/content.ts';
import type { RunState } from '../../domain/sessions/run.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { countRuns } from './office-runs.ts';
import { bytesOfStart } from '../runs/replies.ts';

export interface RoundTool {
  readonly toolUseId: string;
  readonly name: string;
  readonly status: 'waiting' | 'running' | 'completed' | 'failed';
  readonly durationMs: number | null;
}

export interface RunRound {
  /** The `seq` of its run. */
  readonly seq: number;
  readonly runId: string;
  readonly status: RunState;
  /** What the user says in it; of much, only the beginning. Messages have what their client has put before it. */
  readonly userMessage: string | null;
  /** The beginning of the agent's last text; null while it has said nothing. */
  readonly assistantMessage: string | null;
  readonly tools: readonly RoundTool[];
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
}

/** What a round shows of a message. */
const SHOWN_CHARACTERS = 4_000;
/** Maximum bytes of a user's message that is read in full; of a longer one the preview is shown. */
const READ_BYTES = 64 * KB;

const SAID = `coalesce(CAST(r.answer AS BLOB),
      (SELECT CAST(text AS BLOB) FROM steps WHERE run_seq = r.seq ORDER BY step DESC LIMIT 1))`;
const ROUNDS = `SELECT r.seq, r.id AS runId, r.status, r.input_tokens, r.output_tokens,
    r.cost_usd, r.started_at, r.finished_at, m.text_preview AS preview,
    CASE WHEN octet_length(m.content) <= ${READ_BYTES} THEN m.content END AS content,
    ${bytesOfStart(SAID, SHOWN_CHARACTERS)} AS said
  FROM runs r LEFT JOIN messages m ON m.run_seq = r.seq AND m.role = 'user'
  WHERE r.session_seq = ? AND r.seq > ? ORDER BY r.seq LIMIT ?`;

// Forces the runs to be found first, whatever the planner estimates.
const TOOLS = `SELECT c.run_seq, c.tool_use_id, c.name, c.state, c.ok, c.duration_ms
  FROM runs r CROSS JOIN tool_calls c ON c.run_seq = r.seq
  WHERE r.session_seq = ? AND r.seq >= ? AND r.seq <= ? ORDER BY r.seq, c.step, c.position`;

interface RoundRow extends Omit<RunRound, 'tools' | 'userMessage' | 'assistantMessage'> {
  readonly preview: string | null;
  readonly content: string | null;
  readonly said: Buffer | null;
}

interface ToolRow extends Omit<RoundTool, 'status'> {
  readonly runSeq: number;
  readonly state: 'waiting' | 'running' | 'ended';
  readonly ok: number | null;
}

/** The verbs. */
export function makeRunRounds({ read }: Database) {
  return {
    /** The number of rounds, and the run after which the rounds from `offset` on begin. */
    findRounds: read(function* (
      tx: Reader,
      sessionSeq: number,
      offset: number,
    ): Step<{ total: number; afterSeq: number }> {
      const total = yield* countRuns(tx, sessionSeq);
      const before = offset === 0 ? undefined : yield* runAt(tx, sessionSeq, offset - 1);
      return { total, afterSeq: before?.seq ?? (offset === 0 ? 0 : Number.MAX_SAFE_INTEGER) };
    }),

    /** Up to `limit` rounds after a run, oldest first. */
    listRounds: read(function* (tx: Reader, sessionSeq: number, afterSeq: number, limit: number): Step<RunRound[]> {
      const rows = yield* tx.all<RoundRow>(ROUNDS, sessionSeq, afterSeq, limit);
      if (rows.length === 0) return [];
      const tools = Map.groupBy(
        yield* tx.all<ToolRow>(TOOLS, sessionSeq, rows[0]!.seq, rows.at(-1)!.seq),
        ({ runSeq }) => runSeq,
      );
      return rows.map((row) => toRound(row, tools.get(row.seq) ?? []));
    }),
  };
}

function* runAt(tx: Reader, sessionSeq: number, offset: number): Step<{ seq: number } | undefined> {
  const sql = 'SELECT seq FROM runs WHERE session_seq = ? ORDER BY seq LIMIT 1 OFFSET ?';
  return yield* tx.get<{ seq: number }>(sql, sessionSeq, offset);
}

function toRound({ preview, content, said, ...row }: RoundRow, tools: readonly ToolRow[]): RunRound {
  const asked = content === null ? preview : askedWords(newTextOf(JSON.parse(content) as UserBlock[]));
  return {
    ...row,
    userMessage: asked === null ? null : asked.slice(0, SHOWN_CHARACTERS).toWellFormed(),
    assistantMessage: said === null || said.length === 0 ? null : startOf(said.toString(), SHOWN_CHARACTERS),
    tools: tools.map(toTool),
  };
}

function toTool({ toolUseId, name, state, ok, durationMs }: ToolRow): RoundTool {
  return { toolUseId, name, durationMs, status: state === 'ended' ? (ok === 1 ? 'completed' : 'failed') : state };
}
