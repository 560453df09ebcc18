// Ends runs: finalizing when the agent has ended, settled when its message is written.
import type { NewEvent } from '../../domain/sessions/journal-event.ts';
import type { Link } from '../../domain/sessions/continued/history-chain.ts';
import type { CallTiming } from '../../domain/sessions/call-timing.ts';
import type { JsonValue } from '../../domain/json.ts';
import {
  type Protocol,
  type RunError,
  type RunState,
  type RunStatus,
  type StopReason,
} from '../../domain/sessions/run.ts';
import type { SessionStatus } from '../../domain/sessions/session.ts';
import { type StopCause, STOPPED_MESSAGE } from '../../domain/sessions/stop.ts';
import type { Database } from '../engine/database.ts';
import type { Step, Transaction, Value } from '../engine/statement.ts';
import { endedIn } from '../firings/follow-runs.ts';
import { discardIn } from '../sessions/erasures.ts';
import { addToTotals } from '../sessions/session-totals.ts';
import { type Conclusion, findConclusion, leaveNothing, reportConclusion } from '../artifacts/conclusion.ts';
import { eventsOfResult } from '../journal/result-events.ts';
import { type Fence, OF_RUN, type Progress } from '../runs/fence.ts';
import { keepHistoryIn } from './keep-history.ts';
import { closeOpenBlock } from './record-progress.ts';
import { type UsageRow, usageOf, writeLastMessage } from './last-message.ts';
import { expireOfRun } from './wait-for-user.ts';
import { KEEP_WORK } from '../runs/work-time.ts';
import { IS_UNFINISHED, NOW_READY } from '../runs/run-states.ts';

/** A run and its session. */
type RunRef = Omit<Fence, 'attempt'>;

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

/** What a run has done to its workspace. */
export interface WorkspaceUse {
  /** Whether no call can have changed it. */
  readonly untouched?: boolean;
  /** Whether files of its user were put there before it began. */
  readonly hasUploads?: boolean;
}

/** The verbs that end a run. Each returns false when another move came first (D1). */
export function makeEndRun({ write }: Database) {
  return {
    /**
     * running → finalizing → its outcome, with the final message, in one step. A run that left its workspace as it was has nothing to
     * collect.
     */
    end: write(
      (tx: Transaction, fence: Progress, ending: Ending, use: WorkspaceUse = {}): Step<boolean> =>
        passIn(tx, fence, ending, use),
      OF_RUN,
    ),

    /** running → finalizing: the first half of `end`. */
    finalize: write(function* (tx: Transaction, fence: Progress, ending: Ending): Step<boolean> {
      const facts = yield* tx.get<EndFacts>(FINALIZE, ...outcomeOf(fence, ending));
      if (facts === undefined) return false;
      yield* reportOutcome(tx, fence, ending, facts);
      return true;
    }, OF_RUN),

    /** finalizing → its outcome: the second half. */
    settle: write(
      (tx: Transaction, fence: Fence, use: WorkspaceUse = {}): Step<boolean> => settleIn(tx, fence, use),
      OF_RUN,
    ),
  };
}

/** What a run was when it ended. */
interface EndFacts extends UsageRow {
  protocol: Protocol;
  workedMs: number;
  attempt: number;
  isScheduled: number;
  resultInContent: number;
  /** Null unless the client resends the conversation. */
  historyAsked: Link | null;
}

const END_FACTS = `protocol, worked_ms, attempt, schedule_mode = 'scheduled' AS isScheduled,
  input_tokens, output_tokens, cache_read_tokens,
  cache_write_tokens, result_in_content, history_asked`;

// An answer that is the text of the last step isn't stored a second time.
const OUTCOME = `outcome = ?, answer = nullif(?, (SELECT text FROM steps WHERE run_seq = runs.seq ORDER BY step DESC LIMIT 1)),
  stop_reason = ?, error = ?, structured_output = ?, ${KEEP_WORK}`;
// A run that never started has nothing to collect.
const LEAVE = `status = ?, finished_at = ?, ready = 0, lease_until = NULL, artifact_status =
  CASE WHEN artifact_status = 'pending' THEN coalesce(?, CASE attempt WHEN 0 THEN 'failed' ELSE 'pending' END) ELSE artifact_status END`;
const FENCED = "WHERE seq = ? AND attempt = ? AND status = 'running'";
const FINALIZE = `UPDATE runs SET status = 'finalizing', lease_until = NULL, ${OUTCOME} ${FENCED} RETURNING ${END_FACTS}`;
const PASS = `UPDATE runs SET ${LEAVE}, ${OUTCOME} ${FENCED} RETURNING ${END_FACTS}`;
const END = `UPDATE runs SET ${LEAVE} WHERE seq = ? RETURNING ${END_FACTS}`;

/** The values of `OUTCOME` and `FENCED`. */
function outcomeOf({ workedMs, runSeq, attempt }: Progress, ending: Ending): Value[] {
  const [answer, stopReason, error, structured] =
    ending.outcome === 'completed'
      ? [ending.answer, ending.stopReason, null, ending.structured]
      : [null, null, JSON.stringify(ending.error), undefined];
  const stored = structured === undefined ? null : JSON.stringify(structured.value);
  return [ending.outcome, answer, stopReason, error, stored, workedMs, workedMs, runSeq, attempt];
}

/** Takes a running run through `finalizing` to its outcome. One update: that of a run's state is the dearest of its indexes. */
export function* passIn(tx: Transaction, fence: Progress, ending: Ending, use: WorkspaceUse): Step<boolean> {
  const { outcome } = ending;
  const conclusion = yield* conclusionOf(tx, fence.runSeq, outcome, use);
  const left = [outcome, tx.now, conclusion?.status ?? null];
  const facts = yield* tx.get<EndFacts>(PASS, ...left, ...outcomeOf(fence, ending));
  if (facts === undefined) return false;
  yield* reportOutcome(tx, fence, ending, facts);
  const structured = outcome === 'completed' && facts.resultInContent === 0 ? ending.structured : undefined;
  const messages = yield* writeLastMessage(tx, fence, { outcome, structured, usage: facts });
  yield* concludeIn(tx, fence, conclusion, use);
  yield* leaveIn(tx, fence, facts, { messages, event: lastEventOf(ending) });
  return true;
}

/** Null when the workspace has to be looked at, even if the run itself has left nothing there. */
function* conclusionOf(
  tx: Transaction,
  runSeq: number,
  outcome: 'completed' | 'failed' | 'incomplete',
  { untouched = false, hasUploads = false }: WorkspaceUse,
): Step<Conclusion | null> {
  return untouched && !hasUploads ? yield* findConclusion(tx, runSeq, outcome) : null;
}

/** What is known of the workspace by the run's end. */
function* concludeIn(
  tx: Transaction,
  { sessionSeq, runSeq }: Fence,
  conclusion: Conclusion | null,
  { untouched = false }: WorkspaceUse,
): Step<void> {
  if (conclusion !== null) reportConclusion(tx, sessionSeq, conclusion);
  else if (untouched) yield* leaveNothing(tx, sessionSeq, runSeq);
}

function* reportOutcome(tx: Transaction, fence: Fence, ending: Ending, facts: EndFacts): Step<void> {
  const completed = ending.outcome === 'completed';
  if (!completed) yield* discardIn(tx, fence.runSeq);
  const inContent = completed && facts.resultInContent === 1 ? ending.structured : undefined;
  for (const event of eventsOfResult(facts.protocol, inContent)) tx.emit(fence.sessionSeq, fence.runSeq, event);
  tx.emit(fence.sessionSeq, fence.runSeq, {
    type: 'run.finalizing',
    payload: {
      stopReason: completed ? ending.stopReason : null,
      usage: usageOf(facts),
      ...(!completed && ending.call !== undefined && { failedCall: ending.call }),
    },
  });
}

type HowEnded =
  | { readonly outcome: 'completed' }
  | { readonly outcome: 'failed' | 'incomplete'; readonly error: RunError };

function lastEventOf(ending: HowEnded): EndEvent {
  if (ending.outcome === 'completed') return { type: 'run.done', payload: { status: 'completed' } };
  const { outcome, error } = ending;
  return { type: 'run.failed', payload: { status: outcome, error } };
}

interface FinalizingRow {
  outcome: 'completed' | 'failed' | 'incomplete';
  error: string | null;
  /** Null when it was already reported as `run.result`. */
  structuredOutput: string | null;
}

/** Settles a finalizing run. Needs nothing but its rows, so a restart can do it as well. */
export function* settleIn(tx: Transaction, fence: Fence, use: WorkspaceUse = {}): Step<boolean> {
  const row = yield* tx.get<FinalizingRow>(
    `SELECT outcome, error, CASE result_in_content WHEN 1 THEN NULL ELSE structured_output END AS structured_output
     FROM runs WHERE seq = ? AND status = 'finalizing'`,
    fence.runSeq,
  );
  if (row === undefined) return false;
  const { outcome, structuredOutput: stored } = row;
  const conclusion = yield* conclusionOf(tx, fence.runSeq, outcome, use);
  const facts = yield* moveToEnd(tx, fence, outcome, conclusion);
  const structured = stored === null ? undefined : { value: JSON.parse(stored) as JsonValue };
  const messages = yield* writeLastMessage(tx, fence, { outcome, structured, usage: facts });
  yield* concludeIn(tx, fence, conclusion, use);
  const event = lastEventOf(
    outcome === 'completed' ? { outcome } : { outcome, error: JSON.parse(row.error!) as RunError },
  );
  yield* leaveIn(tx, fence, facts, { messages, event });
  return true;
}

/** Why a run is canceled, and whether webhooks hear of it. */
export interface Cancellation {
  readonly cause: StopCause;
  readonly announced: boolean;
}

/** Cancels an unfinished run; what its agent has done is kept. Returns how many of its questions expired. */
export function* cancelIn(tx: Transaction, fence: RunRef, { cause, announced }: Cancellation): Step<number> {
  yield* closeOpenBlock(tx, fence);
  const expired = yield* expireOfRun(tx, fence);
  const facts = yield* moveToEnd(tx, fence, 'canceled');
  const messages = yield* writeLastMessage(tx, fence, { outcome: 'failed', structured: undefined, usage: facts });
  const payload = announced ? { reason: cause } : ({ reason: cause, unannounced: true } as const);
  yield* leaveIn(tx, fence, facts, { messages, event: { type: 'run.stopped', payload } });
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
    `UPDATE runs SET ${NOW_READY} WHERE seq = ? AND NOT EXISTS (
       SELECT 1 FROM sessions WHERE seq = ? AND stop_requested_at IS NOT NULL AND stop_confirmed_at IS NULL)`,
    tx.now,
    runSeq,
    sessionSeq,
  );
}

function* moveToEnd(
  tx: Transaction,
  { runSeq }: RunRef,
  status: RunStatus,
  conclusion: Conclusion | null = null,
): Step<EndFacts> {
  return (yield* tx.get<EndFacts>(END, status, tx.now, conclusion?.status ?? null, runSeq))!;
}

/** The terminal events. */
type EndEvent = Extract<NewEvent, { type: 'run.done' | 'run.failed' | 'run.stopped' }>;

/** Fails a run that no worker has taken. */
export function* failUnclaimedIn(tx: Transaction, fence: RunRef, error: RunError): Step<void> {
  const facts = yield* moveToEnd(tx, fence, 'failed');
  yield* leaveIn(tx, fence, facts, { messages: 0, event: lastEventOf({ outcome: 'failed', error }) });
}

/** Writes the terminal event of a run that has just ended, and makes the session's next run claimable. */
function* leaveIn(
  tx: Transaction,
  fence: RunRef,
  { workedMs, attempt, isScheduled, historyAsked }: EndFacts,
  { messages, event }: { readonly messages: number; readonly event: EndEvent },
): Step<void> {
  const status = event.type === 'run.stopped' ? 'canceled' : event.payload.status;
  yield* addToTotals(tx, fence.sessionSeq, { messages, workedMs });
  tx.emit(fence.sessionSeq, fence.runSeq, event);
  if (historyAsked !== null) yield* keepHistoryIn(tx, fence.runSeq, historyAsked);
  // Before the next run is looked for: it may be the one of the next step.
  if (isScheduled === 1) {
    yield* endedIn(tx, { runSeq: fence.runSeq, status, hadBegun: attempt > 0, message: messageOf(event) });
  }
  const next = yield* tx.get<{ seq: number; status: RunState }>(
    `SELECT seq, status FROM runs WHERE session_seq = ? AND ${IS_UNFINISHED} ORDER BY seq LIMIT 1`,
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
function messageOf(event: EndEvent): string | null {
  if (event.type === 'run.failed') return event.payload.error.message;
  return event.type === 'run.stopped' ? STOPPED_MESSAGE : null;
}
