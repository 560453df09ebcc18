// A run's way to its structured result: submissions judged, corrections asked for and counted, until one fits or there are too many.
import type { ModelMessage, ToolSet } from 'ai';
import type { JsonObject, JsonValue } from '../../domain/json.ts';
import { type Outcome, type RecordedStep, SUBMIT_RESULT, type ToolCall, type ToolResult } from '../port/protocol.ts';
import {
  askToSubmit,
  type Judgement,
  makeResultTaker,
  MAX_CORRECTIONS,
  NOT_RUN,
  noResultError,
  submissionResult,
  submittedValue,
} from './structured-result.ts';

/** Goes through a turn's steps in order, those recorded before a crash first, so that it counts on where it stood. */
export interface ResultSearch {
  /** The `submit_result` tool as the model is offered it. */
  readonly offer: ToolSet[string];
  /** The result of a call that this search answers; undefined for calls of other tools, as long as they are to run. */
  answer(call: ToolCall, fault: string | undefined): ToolResult | undefined;
  /** Takes note of a call that was answered before a crash. */
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
    offer: taker.offer,
    answer: (call, fault) => {
      if (found !== null) return NOT_RUN;
      if (call.name !== SUBMIT_RESULT) return undefined;
      const judgement = taker.judgeCall(call, fault);
      take(judgement);
      return submissionResult(judgement);
    },
    recall: (call, { ok, output }) => {
      if (call.name !== SUBMIT_RESULT || found !== null) return;
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
