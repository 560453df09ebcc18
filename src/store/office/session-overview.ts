// A session as a whole: its owner, its current run and its totals (§2.14, G2, G4).
import type { RunError, RunState } from '../../domain/sessions/run.ts';
import type { Database } from '../engine/database.ts';
import type { Reader, Step } from '../engine/statement.ts';
import { HAS_FAILED, IS_UNFINISHED } from '../runs/run-states.ts';

/** The run of a session that is in progress, or the first that waits. `steps`: replies of its model. */
export interface CurrentRun {
  readonly id: string;
  readonly status: RunState;
  readonly startedAt: number | null;
  readonly steps: number;
}

export interface SessionOverview {
  readonly fullName: string;
  /** The team of the newest run, else that of the owner today (§4.8 rule 2); null without any. */
  readonly teamId: string | null;
  readonly teamName: string | null;
  readonly currentRun: CurrentRun | null;
  /** Of the newest run that failed. */
  readonly lastError: RunError | null;
}

/** The totals of a session. Tokens as counted by model servers: input tokens include the cached ones. */
export interface SessionTotals {
  readonly messageCount: number;
  readonly runCount: number;
  /** Finished tool calls. */
  readonly toolCount: number;
  readonly artifactCount: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
}

/** The totals, with what only the summary shows. */
export interface SessionSummary extends SessionTotals {
  /** Milliseconds that workers spent on its runs. */
  readonly workedMs: number;
  readonly firstPreview: string | null;
  readonly lastPreview: string | null;
  readonly lastError: RunError | null;
}

const NOTHING: SessionTotals = {
  messageCount: 0,
  runCount: 0,
  toolCount: 0,
  artifactCount: 0,
  inputTokens: 0,
  outputTokens: 0,
  costUsd: 0,
};

/** The verbs. */
export function makeSessionOverview({ read }: Database) {
  return {
    getOverview: read(function* (tx: Reader, sessionSeq: number): Step<SessionOverview> {
      const owner = (yield* tx.get<Pick<SessionOverview, 'fullName' | 'teamId' | 'teamName'>>(
        `SELECT u.full_name, coalesce(r.team_id, u.team_id) AS teamId, t.name AS teamName
           FROM sessions s JOIN users u ON u.seq = s.user_seq
           LEFT JOIN runs r ON r.seq = (SELECT max(seq) FROM runs WHERE session_seq = s.seq)
           LEFT JOIN teams t ON t.id = coalesce(r.team_id, u.team_id) WHERE s.seq = ?`,
        sessionSeq,
      ))!;
      const currentRun = (yield* findCurrentRun(tx, sessionSeq)) ?? null;
      return { ...owner, currentRun, lastError: yield* lastErrorOf(tx, sessionSeq) };
    }),

    getTotals: read((tx: Reader, sessionSeq: number): Step<SessionTotals> => totalsOf(tx, sessionSeq)),

    getSummary: read(function* (tx: Reader, sessionSeq: number): Step<SessionSummary> {
      return {
        ...(yield* totalsOf(tx, sessionSeq)),
        workedMs: yield* workedMsOf(tx, sessionSeq),
        firstPreview: yield* messagePreview(tx, sessionSeq, 'ASC'),
        lastPreview: yield* messagePreview(tx, sessionSeq, 'DESC'),
        lastError: yield* lastErrorOf(tx, sessionSeq),
      };
    }),
  };
}

function* findCurrentRun(tx: Reader, sessionSeq: number): Step<CurrentRun | undefined> {
  return yield* tx.get<CurrentRun>(
    `SELECT r.id, r.status, r.started_at,
       coalesce((SELECT step FROM steps WHERE run_seq = r.seq ORDER BY step DESC LIMIT 1), 0) AS steps
     FROM runs r WHERE r.session_seq = ? AND r.${IS_UNFINISHED} ORDER BY r.seq LIMIT 1`,
    sessionSeq,
  );
}

function* lastErrorOf(tx: Reader, sessionSeq: number): Step<RunError | null> {
  const row = yield* tx.get<{ error: string }>(
    `SELECT error FROM runs WHERE session_seq = ? AND ${HAS_FAILED} ORDER BY seq DESC LIMIT 1`,
    sessionSeq,
  );
  return row === undefined ? null : (JSON.parse(row.error) as RunError);
}

function* totalsOf(tx: Reader, sessionSeq: number): Step<SessionTotals> {
  const found = yield* tx.get<SessionTotals>(
    `SELECT message_count, run_count, tool_count,
       artifact_count, input_tokens, output_tokens,
       cost_usd FROM session_totals WHERE session_seq = ?`,
    sessionSeq,
  );
  return found ?? NOTHING;
}

function* messagePreview(tx: Reader, sessionSeq: number, order: 'ASC' | 'DESC'): Step<string | null> {
  const sql = `SELECT text_preview AS preview FROM messages WHERE session_seq = ? ORDER BY id ${order} LIMIT 1`;
  return (yield* tx.get<{ preview: string }>(sql, sessionSeq))?.preview ?? null;
}

/** It is stored for ended runs; the others are few. */
function* workedMsOf(tx: Reader, sessionSeq: number): Step<number> {
  const row = yield* tx.get<{ workedMs: number }>(
    `SELECT t.worked_ms + (SELECT coalesce(sum(r.worked_ms), 0) FROM runs r
       WHERE r.session_seq = t.session_seq AND r.${IS_UNFINISHED}) AS workedMs
     FROM session_totals t WHERE t.session_seq = ?`,
    sessionSeq,
  );
  return row?.workedMs ?? 0;
}
