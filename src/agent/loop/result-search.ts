// A run's search for its structured result: checks submissions, and asks for corrections until one fits or the limit is
// reached.
import type { JsonObject, JsonValue } from '../../domain/json.ts';
import type { ModelMessage } from '../models/message.ts';
import type { Outcome, RecordedStep, ToolCall, ToolResult } from '../port/protocol.ts';
import type { SettlingTool } from '../port/tool.ts';
import {
  askToSubmit,
  type Verdict,
  makeResultTaker,
  MAX_CORRECTIONS,
  noResultError,
  submissionResult,
  submittedValue,
} from '../result/structured-result.ts';

/** Processes a turn's steps in order, including those recorded before a crash, so that its counts continue. */
export interface ResultSearch {
  /** The tool that takes the result. */
  readonly tool: SettlingTool;
  /** Whether nothing but the result is left to do: one was refused, or this is the last correction. */
  isDue(): boolean;
  /** Whether a fitting result was submitted: calls after it are not executed. */
  isOver(): boolean;
  /** The result of a call of the tool. `fault`: why its arguments could not be read. */
  check(call: ToolCall, fault: string | undefined): ToolResult;
  /** Records a call of the tool that was answered before a crash. */
  recall(call: ToolCall, result: ToolResult): void;
  /** After all calls of a step: the run's outcome, or null when it continues. May add to the messages. */
  afterStep(step: RecordedStep, messages: ModelMessage[]): Outcome | null;
}

/** Starts a search for a result that fits a schema. */
export function searchResult(schema: JsonObject): ResultSearch {
  const taker = makeResultTaker(schema);
  let found: { readonly value: JsonValue } | null = null;
  /** Why the current step gave no result; null when it did not try. */
  let refused: readonly string[] | null = null;
  let corrections = 0;
  let isDue = false;

  function take(verdict: Verdict): void {
    if (verdict.ok) found = { value: verdict.value };
    else refused = verdict.faults;
  }

  function lookInText({ text }: RecordedStep, messages: ModelMessage[]): void {
    const verdict = taker.checkText(text);
    take(verdict);
    if (verdict.ok) return;
    // Most servers refuse two user messages in a row.
    if (messages.at(-1)?.role !== 'assistant')
      messages.push({ role: 'assistant', parts: [{ type: 'text', text: '(no answer)' }] });
    messages.push({ role: 'user', parts: [{ type: 'text', text: askToSubmit(verdict.faults) }] });
  }

  return {
    tool: taker.tool,
    isDue: () => isDue,
    isOver: () => found !== null,
    check: (call, fault) => {
      const verdict = taker.checkCall(call, fault);
      take(verdict);
      return submissionResult(verdict);
    },
    recall: (call, { ok, output }) => {
      if (found !== null) return;
      take(ok ? { ok, value: submittedValue(call) } : { ok, faults: [output] });
    },
    afterStep: (step, messages) => {
      if (step.calls.length === 0) lookInText(step, messages);
      if (found !== null) return { status: 'completed', text: '', stopReason: 'end_turn', structured: found };
      if (refused === null) return null;
      // Words that aren't JSON may announce work that is still to be done.
      isDue = refused.length > 0 || corrections + 1 >= MAX_CORRECTIONS;
      // Several bad submissions of one reply count as one correction.
      corrections += 1;
      const last = refused;
      refused = null;
      return corrections > MAX_CORRECTIONS ? { status: 'incomplete', error: noResultError(last) } : null;
    },
  };
}
