// Ends runs: finalizing when the agent has ended, settled when its message is written, interrupted when its worker is lost.
import type { NewEvent } from '../../domain/journal-event.ts';
import type { CallTiming } from '../../domain/sessions/call-timing.ts';
import type { JsonValue } from '../../domain/json.ts';
import {
  MAX_RESUMES,
  type Protocol,
  type RunError,
  type RunState,
  type RunStatus,
  type StopReason,
} from '../../domain/sessions/run.ts';
import type { SessionStatus } from '../../domain/sessions/session.ts';
import { type StopCause, STOPPED_MESSAGE } from '../../domain/sessions/stop.ts';
import type { Database } from '../engine/database.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import { endedIn } from '../schedules/follow-runs.ts';
import { discardIn } from '../sessions/erasures.ts';
import { addToTotals } from '../sessions/session-totals.ts';
import { concludeIn } from '../artifacts/record-artifacts.ts';
import { type Fence, holds, type Progress } from './record-progress.ts';
import { findLastText, IN_STEPS, previewOfReplies } from './replies.ts';
import { expireOfRun } from './wait-for-user.ts';
import { noteWork } from './work-time.ts';
import { IS_UNFINISHED } from './run-states.ts';

/** A run and its session. */
type RunPlace = Omit<Fence, 'attempt'>;

/** How the agent ended. */
export type Ending =
  | {
      readonly outcome: 'completed';
      readonly answer: string;
      readonly stopReason: StopReason;
      /** The result of a run with an output schema. */
      readonly structured?: { readonly value: JsonValue };
    }
  /** `call`: the model call that failed. */
  | { readonly outcome: 'failed' | 'incomplete'; readonly error: RunError; readonly call?: CallTiming | undefined };

/**
 * Why a run lost its worker. A crash counts against its resumes (D7). A drain does not, nor does the death of a thread that
 * any of several runs may have caused, nor a lock of another process on the database.
 */
export type Interruption = 'crash' | 'drain' | 'blameless';

/** The verbs that end a run. Each returns false when another move came first (D1). */
export function makeEndRun({ write }: Database) {
  return {
    /** running → finalizing. */
    finalize: write(function* (tx: Transaction, fence: Progress, ending: Ending): Step<boolean> {
      if (!(yield* holds(tx, fence))) return false;
      yield* noteWork(tx, fence);
      return yield* finalizeIn(tx, fence, ending);
    }),

    /**
     * finalizing → its outcome, with the final message, in one step. `untouched`: the run did nothing in the workspace, so
     * that there is nothing to collect.
     */
    settle: write(
      (tx: Transaction, fence: Fence, { untouched = false } = {}): Step<boolean> => settleIn(tx, fence, untouched),
    ),

    /** Returns a run whose worker is lost to the queue, or fails it when it was resumed too often. */
    interrupt: write(function* (tx: Transaction, fence: Progress, interruption: Interruption): Step<boolean> {
      if (!(yield* holds(tx, fence))) return false;
      yield* noteWork(tx, fence);
      return yield* interruptIn(tx, fence, interruption);
    }),
  };
}

function* finalizeIn(tx: Transaction, fence: Fence, ending: Ending): Step<boolean> {
  const completed = ending.outcome === 'completed';
  if (!completed) yield* discardIn(tx, fence.runSeq);
  const structured = completed ? ending.structured : undefined;
  const run = yield* tx.get<{ protocol: Protocol }>(
    `UPDATE runs SET status = 'finalizing', outcome = ?, answer = ?, stop_reason = ?, error = ?, structured_output = ?,
       lease_until = NULL
     WHERE seq = ? AND status = 'running' RETURNING protocol`,
    ending.outcome,
    completed && ending.answer !== (yield* findLastText(tx, fence.runSeq)) ? ending.answer : null,
    completed ? ending.stopReason : null,
    completed ? null : JSON.stringify(ending.error),
    structured === undefined ? null : JSON.stringify(structured.value),
    fence.runSeq,
  );
  if (structured !== undefined && run?.protocol === 'chat') {
    const payload = { structuredOutput: structured.value };
    tx.emit(fence.sessionSeq, fence.runSeq, { type: 'run.result', payload });
  }
  tx.emit(fence.sessionSeq, fence.runSeq, {
    type: 'run.finalizing',
    payload: {
      stopReason: completed ? ending.stopReason : null,
      usage: yield* readUsage(tx, fence.runSeq),
      ...(!completed && ending.call !== undefined && { failedCall: ending.call }),
    },
  });
  return true;
}

interface UsageRow {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
}

function* readUsage(tx: Transaction, runSeq: number): Step<UsageRow> {
  return (yield* tx.get<UsageRow>(
    `SELECT input_tokens AS inputTokens, output_tokens AS outputTokens, cache_read_tokens AS cacheReadTokens,
       cache_write_tokens AS cacheWriteTokens FROM runs WHERE seq = ?`,
    runSeq,
  ))!;
}

interface FinalizingRow {
  outcome: 'completed' | 'failed' | 'incomplete';
  error: string | null;
  /** For a chat run it was already reported as `run.result`. */
  structured_output: string | null;
}

/** Settles a finalizing run. Needs nothing but its rows, so a restart can do it as well. */
export function* settleIn(tx: Transaction, fence: Fence, untouched = false): Step<boolean> {
  const row = yield* tx.get<FinalizingRow>(
    `SELECT outcome, error, CASE protocol WHEN 'chat' THEN NULL ELSE structured_output END AS structured_output
     FROM runs WHERE seq = ? AND status = 'finalizing'`,
    fence.runSeq,
  );
  if (row === undefined) return false;
  yield* writeAssistantMessage(tx, fence, row);
  if (untouched) yield* concludeIn(tx, fence, row.outcome);
  if (row.outcome === 'completed') {
    yield* endIn(tx, fence, 'completed', { type: 'run.done', payload: { status: 'completed' } });
  } else {
    const error = JSON.parse(row.error!) as RunError;
    yield* endIn(tx, fence, row.outcome, { type: 'run.failed', payload: { status: row.outcome, error } });
  }
  return true;
}

function* writeAssistantMessage(tx: Transaction, fence: RunPlace, row: Omit<FinalizingRow, 'error'>): Step<void> {
  const preview = yield* previewOfReplies(tx, fence.runSeq);
  if (preview === undefined && row.outcome !== 'completed') return;
  const messageId = yield* tx.insert(
    `INSERT INTO messages (session_seq, run_seq, role, content, text_preview, created_at)
     VALUES (?, ?, 'assistant', ?, ?, ?)`,
    fence.sessionSeq,
    fence.runSeq,
    IN_STEPS,
    preview ?? '',
    tx.now,
  );
  yield* addToTotals(tx, fence.sessionSeq, { messages: 1 });
  const structured =
    row.structured_output === null ? {} : { structuredOutput: JSON.parse(row.structured_output) as JsonValue };
  tx.emit(fence.sessionSeq, fence.runSeq, {
    type: 'message',
    payload: {
      messageId,
      role: 'assistant',
      textPreview: preview ?? '',
      usage: yield* readUsage(tx, fence.runSeq),
      ...structured,
    },
  });
}

/** Cancels an unfinished run; what its agent has done is kept. Returns how many of its questions expired. */
export function* cancelIn(tx: Transaction, fence: RunPlace, cause: StopCause): Step<number> {
  yield* closeOpenBlock(tx, fence);
  const expired = yield* expireOfRun(tx, fence);
  yield* writeAssistantMessage(tx, fence, { outcome: 'failed', structured_output: null });
  yield* endIn(tx, fence, 'canceled', { type: 'run.stopped', payload: { reason: cause } });
  return expired;
}

const SESSION_STATUS_AFTER: Readonly<Partial<Record<RunStatus, SessionStatus>>> = {
  completed: 'completed',
  failed: 'failed',
  incomplete: 'failed',
  canceled: 'stopped',
};

function sessionStatusAfter(ended: RunStatus, next: RunState | undefined): SessionStatus {
  if (next === undefined) return SESSION_STATUS_AFTER[ended]!;
  return next === 'queued' ? 'pending' : 'running';
}

/** Lets the session's next run begin, unless the executor of a stopped one may still be in the workspace. */
function* makeReady(tx: Transaction, sessionSeq: number, runSeq: number): Step<void> {
  yield* tx.run(
    `UPDATE runs SET ready = 1 WHERE seq = ? AND NOT EXISTS (
       SELECT 1 FROM sessions WHERE seq = ? AND stop_requested_at IS NOT NULL AND stop_confirmed_at IS NULL)`,
    runSeq,
    sessionSeq,
  );
}

/** Writes the terminal state and event, and makes the session's next run claimable. */
export function* endIn(tx: Transaction, fence: RunPlace, status: RunStatus, event: NewEvent): Step<void> {
  // A run that never started has nothing to collect.
  const ended = (yield* tx.get<{ workedMs: number; attempt: number; isScheduled: number }>(
    `UPDATE runs SET status = ?, finished_at = ?, ready = 0, lease_until = NULL,
       artifact_status = CASE WHEN attempt = 0 AND artifact_status = 'pending' THEN 'failed' ELSE artifact_status END
     WHERE seq = ? RETURNING worked_ms AS workedMs, attempt, schedule_mode = 'scheduled' AS isScheduled`,
    status,
    tx.now,
    fence.runSeq,
  ))!;
  yield* addToTotals(tx, fence.sessionSeq, { workedMs: ended.workedMs });
  tx.emit(fence.sessionSeq, fence.runSeq, event);
  // Before the next run is looked for: it may be the one of the next step.
  if (ended.isScheduled === 1) {
    const message = messageOf(event);
    yield* endedIn(tx, { runSeq: fence.runSeq, status, hadBegun: ended.attempt > 0, message });
  }
  const next = yield* tx.get<{ seq: number; status: RunState }>(
    `SELECT seq, status FROM runs WHERE session_seq = ? AND ${IS_UNFINISHED}
     ORDER BY seq LIMIT 1`,
    fence.sessionSeq,
  );
  if (next?.status === 'queued') yield* makeReady(tx, fence.sessionSeq, next.seq);
  yield* tx.run(
    'UPDATE sessions SET status = ?, updated_at = ? WHERE seq = ?',
    sessionStatusAfter(status, next?.status),
    tx.now,
    fence.sessionSeq,
  );
}

/** What is reported of the end of a run (H12); null when it completed. */
function messageOf(event: NewEvent): string | null {
  if (event.type === 'run.failed') return event.payload.error.message;
  return event.type === 'run.stopped' ? STOPPED_MESSAGE : null;
}

/** Takes a running run from its lost worker: back to the queue, or failed once its resumes are used up. */
export function* interruptIn(tx: Transaction, fence: Fence, interruption: Interruption): Step<boolean> {
  yield* closeOpenBlock(tx, fence);
  const { resumes } = (yield* tx.get<{ resumes: number }>('SELECT resumes FROM runs WHERE seq = ?', fence.runSeq))!;
  if (interruption === 'crash' && resumes >= MAX_RESUMES) {
    const error: RunError = {
      type: 'interrupted_error',
      message: 'The run was interrupted too often and was given up.',
      retryable: true,
    };
    yield* finalizeIn(tx, fence, { outcome: 'failed', error });
    return yield* settleIn(tx, fence);
  }
  yield* discardIn(tx, fence.runSeq);
  const counted = resumes + (interruption === 'crash' ? 1 : 0);
  yield* tx.run(
    "UPDATE runs SET status = 'queued', ready = 1, resumes = ?, lease_until = NULL WHERE seq = ?",
    counted,
    fence.runSeq,
  );
  yield* tx.run("UPDATE sessions SET status = 'pending', updated_at = ? WHERE seq = ?", tx.now, fence.sessionSeq);
  tx.emit(fence.sessionSeq, fence.runSeq, { type: 'run.resumed', payload: { resumes: counted } });
  return true;
}

/** Ends a text block that the lost worker left open, so that every reader sees whole blocks. */
function* closeOpenBlock(tx: Transaction, fence: RunPlace): Step<void> {
  const last = yield* tx.get<{ type: string; payload: string }>(
    `SELECT type, payload FROM events WHERE run_seq = ? AND type LIKE 'content_block%' ORDER BY stream_seq DESC LIMIT 1`,
    fence.runSeq,
  );
  if (last === undefined || last.type === 'content_block_stop') return;
  const { index } = JSON.parse(last.payload) as { index: number };
  tx.emit(fence.sessionSeq, fence.runSeq, { type: 'content_block_stop', payload: { index } });
}
