// Records what a running run produces: its stream, its model replies, its tool results. Every write is fenced by the
// attempt.
import { previewOf } from '../../domain/sessions/content.ts';
import { firstBytes } from '../../domain/excerpt.ts';
import type { JsonObject, JsonValue } from '../../domain/json.ts';
import { MAX_PREVIEW_BYTES, type NewEvent } from '../../domain/sessions/journal-event.ts';
import type { CallPurpose, CallTiming } from '../../domain/sessions/call-timing.ts';
import type { CallEnding } from '../../domain/sessions/model-call.ts';
import type { RunSetup } from '../../domain/sessions/run-setup.ts';
import type { CallUsage, ContextParts } from '../../domain/sessions/usage.ts';
import type { BudgetKit } from '../budgets/budget-kit.ts';
import type { Database } from '../engine/database.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import { discardIn } from '../sessions/erasures.ts';
import { addToTotals } from '../sessions/session-totals.ts';
import { addToAny, addToHeld, type PricedModel, recordUsage, usedCall } from '../budgets/record-usage.ts';
import { type Fence, holding, holds, OF_RUN, type Progress } from '../runs/fence.ts';
import { addSetup, SETUP_BY_HASH } from '../runs/run-setups.ts';
import { KEEP_WORK } from '../runs/work-time.ts';

/** A model reply to record. `message` is opaque to everyone but the agent. */
export interface NewStep extends CallUsage {
  readonly step: number;
  readonly kind: string;
  readonly message: JsonValue;
  readonly text: string;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly input: JsonObject }[];
  readonly context: ContextParts;
  readonly timing: CallTiming;
  /** In the first reply of an attempt. */
  readonly setup: RunSetup | null;
  /** The last of its stream, which is not in the journal yet. */
  readonly stream?: readonly NewEvent[];
}

/** A model call of a sub-agent, or for a summary, to record. */
export interface SpentCall extends CallUsage {
  readonly purpose: 'agent' | 'summary';
  readonly agent: string | null;
  readonly timing: CallTiming;
}

/** A call whose reply was not kept, to record. */
export interface UnkeptCall extends CallUsage {
  readonly outcome: Exclude<CallEnding, 'ok' | 'lost'>;
  readonly purpose: CallPurpose;
  readonly agent: string | null;
  readonly timing: CallTiming;
}

export interface NewToolResult {
  readonly step: number;
  readonly toolUseId: string;
  readonly name: string;
  readonly ok: boolean;
  readonly output: string;
  readonly durationMs: number;
}

/** The verbs of a running run. Each returns false, and writes nothing, when the attempt no longer holds the run (D7). */
export function makeRecordProgress({ write, writeAll }: Database, kit: BudgetKit) {
  const appendAll = writeAll(appendPieces, { sizeOf: charactersOf, scope: ({ fence }) => [fence.sessionSeq] });
  return {
    /** Adds stream events to the journal, in order. */
    appendStream: (fence: Fence, events: readonly NewEvent[]): Promise<boolean> => appendAll({ fence, events }),

    /** Records that the text since the last reply belongs to one that broke off, and is asked for again. */
    discardText: write(function* (tx: Transaction, fence: Fence): Step<boolean> {
      if (!(yield* holds(tx, fence))) return false;
      yield* discardIn(tx, fence.runSeq);
      return true;
    }, OF_RUN),

    /**
     * Records a model reply before any of its tool calls is executed, after the last of its stream; the first call counts as
     * begun.
     */
    recordStep: write(function* (tx: Transaction, fence: Progress, step: NewStep, model: PricedModel): Step<boolean> {
      const facts = { purpose: 'reply', step: step.step, agent: null, outcome: 'ok', timing: step.timing } as const;
      const call = usedCall(step, model, facts);
      const run = yield* addToHeld(tx, fence, call);
      if (run === undefined) return false;
      for (const event of step.stream ?? []) tx.emit(fence.sessionSeq, fence.runSeq, event);
      yield* insertStep(tx, fence, step);
      yield* recordUsage(tx, kit, { ...fence, run }, call);
      emitStep(tx, fence, step);
      return true;
    }, OF_RUN),

    /** Adds a call of a sub-agent, or for a summary, to the run's usage. */
    recordSpent: write(function* (
      tx: Transaction,
      fence: Progress,
      spent: SpentCall,
      model: PricedModel,
    ): Step<boolean> {
      const { purpose, agent, timing } = spent;
      const call = usedCall(spent, model, { purpose, step: null, agent, outcome: 'ok', timing });
      const run = yield* addToHeld(tx, fence, call);
      if (run !== undefined) yield* recordUsage(tx, kit, { ...fence, run }, call);
      return run !== undefined;
    }, OF_RUN),

    /** Adds a call whose reply was not kept, whatever has become of its run meanwhile: it has cost all the same. */
    recordUnkept: write(function* (
      tx: Transaction,
      fence: Fence,
      unkept: UnkeptCall,
      model: PricedModel,
    ): Step<boolean> {
      const { purpose, agent, outcome, timing } = unkept;
      const call = usedCall(unkept, model, { purpose, step: null, agent, outcome, timing });
      const run = yield* addToAny(tx, fence.runSeq, call);
      yield* recordUsage(tx, kit, { ...fence, run }, call);
      return true;
    }, OF_RUN),

    /** Records a tool's result; the reply's next call counts as begun. A call that already has a result keeps it. */
    recordToolResult: write(recordResult, OF_RUN),
  };
}

/** What one run has streamed. */
interface StreamPiece {
  readonly fence: Fence;
  readonly events: readonly NewEvent[];
}

function charactersOf({ events }: StreamPiece): number {
  return events.reduce((sum, { type, payload }) => sum + (type === 'content_block_delta' ? payload.text.length : 0), 0);
}

/** The pieces of many runs that stream at once: their events share inserts. */
function* appendPieces(tx: Transaction, pieces: readonly StreamPiece[]): Step<readonly boolean[]> {
  const held = yield* holding(
    tx,
    pieces.map(({ fence }) => fence),
  );
  for (const [at, { fence, events }] of pieces.entries()) {
    if (held[at]) for (const event of events) tx.emit(fence.sessionSeq, fence.runSeq, event);
  }
  return held;
}

function* recordResult(tx: Transaction, fence: Progress, result: NewToolResult): Step<boolean> {
  if (!(yield* holds(tx, fence))) return false;
  const isKept = yield* keepToolResult(tx, fence, result);
  yield* tx.run(
    `UPDATE runs SET tool_count = tool_count + ?, ${KEEP_WORK} WHERE seq = ?`,
    Number(isKept),
    fence.workedMs,
    fence.workedMs,
    fence.runSeq,
  );
  if (isKept) yield* addToTotals(tx, fence.sessionSeq, { tools: 1 });
  return true;
}

function emitStep(tx: Transaction, { sessionSeq, runSeq }: Fence, { step, usage, text, calls }: NewStep): void {
  const { inputTokens, outputTokens } = usage;
  const named = calls.map(({ id, name }) => ({ id, name }));
  const payload = { step, inputTokens, outputTokens, textPreview: previewOf(text), calls: named };
  tx.emit(sessionSeq, runSeq, { type: 'run.step', payload });
  for (const { id, name, input } of calls) {
    tx.emit(sessionSeq, runSeq, { type: 'tool_use', payload: { step, toolUseId: id, name, input } });
  }
}

function* insertStep(tx: Transaction, fence: Fence, step: NewStep): Step<void> {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = step.usage;
  const kept = yield* tx.get<{ setup: number | null }>(
    `INSERT INTO steps (run_seq, step, attempt, kind, message, text, input_tokens, output_tokens, cache_read_tokens,
       cache_write_tokens, system_tokens, history_tokens, tools_tokens, created_at, setup)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ${SETUP_BY_HASH}) RETURNING setup`,
    fence.runSeq,
    step.step,
    fence.attempt,
    step.kind,
    JSON.stringify(step.message),
    step.text,
    inputTokens,
    outputTokens,
    cacheReadTokens,
    cacheWriteTokens,
    step.context.system,
    step.context.history,
    step.context.tools,
    tx.now,
    step.setup?.sha256 ?? null,
  );
  if (step.setup !== null && kept?.setup === null) yield* addSetup(tx, step.setup, fence.runSeq, step.step);
  for (const [position, call] of step.calls.entries()) {
    yield* tx.run(
      `INSERT INTO tool_calls (run_seq, step, position, tool_use_id, name, input, state, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      fence.runSeq,
      step.step,
      position,
      call.id,
      call.name,
      JSON.stringify(call.input),
      position === 0 ? 'running' : 'waiting',
      tx.now,
    );
  }
}

/** Returns false when the call already has a result, which it keeps. */
function* keepToolResult(tx: Transaction, fence: Fence, result: NewToolResult): Step<boolean> {
  const kept = yield* tx.get<{ position: number }>(
    `UPDATE tool_calls SET state = 'ended', ok = ?, output = ?, duration_ms = ?
     WHERE run_seq = ? AND step = ? AND tool_use_id = ? AND state <> 'ended' RETURNING position`,
    Number(result.ok),
    result.output,
    Math.round(result.durationMs),
    fence.runSeq,
    result.step,
    result.toolUseId,
  );
  if (kept === undefined) return false;
  yield* tx.run(
    "UPDATE tool_calls SET state = 'running' WHERE run_seq = ? AND step = ? AND position = ? AND state = 'waiting'",
    fence.runSeq,
    result.step,
    kept.position + 1,
  );
  const output = firstBytes(result.output, MAX_PREVIEW_BYTES);
  tx.emit(fence.sessionSeq, fence.runSeq, {
    type: 'tool_result',
    payload: {
      toolUseId: result.toolUseId,
      name: result.name,
      ok: result.ok,
      output,
      ...(output.length < result.output.length && { truncated: true }),
      durationMs: Math.round(result.durationMs),
    },
  });
  return true;
}

/** Ends a text block that the lost worker left open, so that every reader sees whole blocks. */
export function* closeOpenBlock(tx: Transaction, fence: Omit<Fence, 'attempt'>): Step<void> {
  const last = yield* tx.get<{ type: string; payload: string }>(
    `SELECT type, payload FROM events WHERE run_seq = ? AND type <> 'content_block_delta'
       AND type IN ('content_block_start', 'content_block_stop') ORDER BY stream_seq DESC LIMIT 1`,
    fence.runSeq,
  );
  if (last === undefined || last.type === 'content_block_stop') return;
  const { index } = JSON.parse(last.payload) as { index: number };
  tx.emit(fence.sessionSeq, fence.runSeq, { type: 'content_block_stop', payload: { index } });
}
