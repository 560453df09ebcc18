// A run's way to its structured result: submissions judged, corrections asked for and counted, until one fits or there are too many.
import type { ModelMessage } from 'ai';
import type { JsonObject, JsonValue } from '../../domain/json.ts';
import type { Outcome, RecordedStep, ToolCall, ToolResult } from '../port/protocol.ts';
import type { SettlingTool } from '../tools/tool.ts';
import {
  askToSubmit,
  type Judgement,
  makeResultTaker,
  MAX_CORRECTIONS,
  noResultError,
  submissionResult,
  submittedValue,
} from './structured-result.ts';

/** Goes through a turn's steps in order, those recorded before a crash first, so that it counts on where it stood. */
export interface ResultSearch {
  /** Takes the result. */
  readonly tool: SettlingTool;
  /** Whether a result that fits was submitted: no call after it is executed. */
  isOver(): boolean;
  /** What a call of the tool is answered. `fault`: why its arguments could not be read. */
  judge(call: ToolCall, fault: string | undefined): ToolResult;
  /** Takes note of a call of the tool that was answered before a crash. */
  recall(call: ToolCall, result: ToolResult): void;
  /** After all calls of a step: how the run ends with it, or null when it goes on. May add to the messages. */
  afterStep(step: RecordedStep, messages: ModelMessage[]): Outcome | null;
}

/** Begins a search for a result that fits a schema. */
export function searchResult(schema: JsonObject): ResultSearch {
  const taker = makeResultTaker(schema);
  let found: { readonly value: JsonValue } | null = null;
  /** Why the step under way gave no result; null when it did not try. */
  let refused: readonly string[] | null = null;
  let corrections = 0;

  function take(judgement: Judgement): void {
    if (judgement.ok) found = { value: judgement.value };
    else refused = judgement.faults;
  }

  function lookInText({ text }: RecordedStep, messages: ModelMessage[]): void {
    const judgement = taker.judgeText(text);
    take(judgement);
    if (judgement.ok) return;
    // Most servers refuse two messages of the user in a row.
    if (messages.at(-1)?.role !== 'assistant')
      messages.push({ role: 'assistant', content: [{ type: 'text', text: '(no answer)' }] });
    messages.push({ role: 'user', content: [{ type: 'text', text: askToSubmit(judgement.faults) }] });
  }

  return {
    tool: taker.tool,
    isOver: () => found !== null,
    judge: (call, fault) => {
      const judgement = taker.judgeCall(call, fault);
      take(judgement);
      return submissionResult(judgement);
    },
    recall: (call, { ok, output }) => {
      if (found !== null) return;
      take(ok ? { ok, value: submittedValue(call) } : { ok, faults: [output] });
    },
    afterStep: (step, messages) => {
      if (step.calls.length === 0) lookInText(step, messages);
      if (found !== null) return { status: 'completed', text: '', stopReason: 'end_turn', structured: found };
      if (refused === null) return null;
      // Several bad submissions of one reply are corrected together.
      corrections += 1;
      const last = refused;
      refused = null;
      return corrections > MAX_CORRECTIONS ? { status: 'incomplete', error: noResultError(last) } : null;
    },
  };
}
