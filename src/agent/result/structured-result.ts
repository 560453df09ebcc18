// The structured result of a run: the tool that takes it, how it is checked, and what the model sees when it does not fit.
import { isJsonObject, type JsonObject, type JsonValue, nestsDeeperThan } from '../../domain/json.ts';
import { mapSchemas } from '../../domain/schema/json-schema.ts';
import type { RunError } from '../../domain/sessions/run.ts';
import { SUBMIT_RESULT, type ToolCall, type ToolResult } from '../port/protocol.ts';
import type { SettlingTool } from '../port/tool.ts';
import { compileResultCheck, type ResultCheck } from './result-schema.ts';

/** How often the model is asked to correct its result (C14). */
export const MAX_CORRECTIONS = 3;

/** A result that fits, or its faults. A fitting `null` is a value like any other. */
export type Verdict =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly faults: readonly string[] };

/** Takes the result of a run with a schema. */
export interface ResultTaker {
  readonly tool: SettlingTool;
  /** `fault`: why the arguments could not be read at all. */
  checkCall(call: ToolCall, fault: string | undefined): Verdict;
  /** Looks for the result in a text, which some models write instead of a call. */
  checkText(text: string): Verdict;
}

const DESCRIPTION =
  'Submits the result of this turn and ends the turn. Call it once, when the work is done, with the complete result.';
const MAX_RESULT_DEPTH = 200;
const MAX_KEPT = 32;
/** Compiled checks of this thread, by the schema's text. */
const checks = new Map<string, ResultCheck>();

/** Makes the taker of an already accepted schema. It coerces nothing and fills in no defaults (C14). */
export function makeResultTaker(schema: JsonObject): ResultTaker {
  const check = checkOf(schema);
  const verdictOn = (value: JsonValue): Verdict => {
    const faults = check(value);
    return faults.length === 0 ? { ok: true, value } : { ok: false, faults };
  };
  return {
    tool: { kind: 'settles', name: SUBMIT_RESULT, description: DESCRIPTION, inputSchema: parametersOf(schema) },
    checkCall: ({ input }, fault) => {
      if (fault !== undefined) return { ok: false, faults: [fault] };
      const extra = Object.keys(input).find((name) => name !== 'result');
      if (!Object.hasOwn(input, 'result') || extra !== undefined)
        return { ok: false, faults: ['The arguments must be an object with one field, "result".'] };
      return verdictOn(asKept(input['result']!));
    },
    checkText: (text) => {
      const value = valueIn(text);
      return value === undefined ? { ok: false, faults: [] } : verdictOn(value);
    },
  };
}

function checkOf(schema: JsonObject): ResultCheck {
  const name = JSON.stringify(schema);
  const known = checks.get(name);
  if (known !== undefined) return known;
  if (checks.size >= MAX_KEPT) checks.clear();
  const fresh = compileResultCheck(schema);
  checks.set(name, fresh);
  return fresh;
}

/** The tool's parameters: the schema nested one level, with its references adjusted. */
export function parametersOf(schema: JsonObject): JsonObject {
  const moved = mapSchemas(schema, (inner) => {
    const { $ref } = inner;
    return typeof $ref === 'string' ? { ...inner, $ref: `#/properties/result${$ref.slice(1)}` } : inner;
  });
  return { type: 'object', properties: { result: moved }, required: ['result'], additionalProperties: false };
}

/** The value as it will be read back: numbers too large for JSON become null before the check, not after it. */
function asKept(value: JsonValue): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue;
}

const FENCED = /```(?:json)?[^\S\n]*\n([^]*?)```/gi;

/** The JSON value of a text, or of its last fenced block. */
function valueIn(text: string): JsonValue | undefined {
  const blocks = Array.from(text.matchAll(FENCED), ([, block]) => block ?? '');
  for (const candidate of [text, ...blocks.toReversed()]) {
    if (nestsDeeperThan(candidate, MAX_RESULT_DEPTH)) continue;
    try {
      return asKept(JSON.parse(candidate) as JsonValue);
    } catch {
      // Not JSON: try the next candidate.
    }
  }
  return undefined;
}

/** The result of a submitting call. */
export function submissionResult(verdict: Verdict): ToolResult {
  if (verdict.ok) return { ok: true, output: 'The result was submitted.' };
  const faults = verdict.faults.join('; ');
  return { ok: false, output: `The result does not fit its schema: ${faults}. Correct it and submit it again.` };
}

/** The result of calls that follow a fitting result. */
export const NOT_RUN: ToolResult = { ok: false, output: 'Not run: the result was submitted.' };

/** The user message in reply to a text instead of a result. */
export function askToSubmit(faults: readonly string[]): string {
  const why = faults.length === 0 ? '' : ` Your text does not fit the schema: ${faults.join('; ')}.`;
  return `This turn ends with a result that you submit by calling ${SUBMIT_RESULT}; text alone is not accepted.${why}`;
}

/** Follows the instructions where the reply itself is the result. */
export function replyInstead(schema: JsonObject): string {
  return `In this reply, ${SUBMIT_RESULT} can't be called: the reply itself is the result, as JSON that fits this schema, and nothing else: ${JSON.stringify(schema)}`;
}

/** The value that was accepted earlier, read back from its call. */
export function submittedValue({ input }: ToolCall): JsonValue {
  return isJsonObject(input) ? asKept(input['result'] ?? null) : null;
}

/** The error of an incomplete run (D6). */
export function noResultError(faults: readonly string[]): RunError {
  const last = faults.length === 0 ? '' : ` The last one: ${faults.join('; ')}.`;
  const message = `The agent submitted no result that fits the schema, after ${MAX_CORRECTIONS} corrections.${last}`;
  return { type: 'structured_output_error', message, retryable: true };
}
