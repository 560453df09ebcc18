// Reads what an agent said from its steps: a text is stored in its step, and not a second time for readers.
import type { AssistantBlock } from '../../../domain/sessions/content.ts';
import { previewOf } from '../../../domain/sessions/content.ts';
import type { JsonObject } from '../../../domain/json.ts';
import type { Reader, Step } from '../../engine/statement.ts';

/**
 * The content of an assistant's message whose blocks are made from its run's steps. Messages of earlier versions have them
 * as JSON.
 */
export const IN_STEPS = '';

/** The answer of a run `r`: the text of its last step, unless it has another one, such as a structured result. */
export const ANSWER = `CASE WHEN r.outcome = 'completed' THEN coalesce(r.answer,
  (SELECT last.text FROM steps last WHERE last.run_seq = r.seq ORDER BY last.step DESC LIMIT 1)) END AS answer`;

/** More than a preview shows. */
const PREVIEW_SOURCE = 2_000;

/** The beginning of what a run's agent said; undefined when it neither said nor did anything. */
export function* previewOfReplies(tx: Reader, runSeq: number): Step<string | undefined> {
  const texts = yield* tx.all<{ text: string }>(
    "SELECT substr(text, 1, ?) AS text FROM steps WHERE run_seq = ? AND text <> '' ORDER BY step LIMIT ?",
    PREVIEW_SOURCE,
    runSeq,
    PREVIEW_SOURCE,
  );
  if (texts.length > 0) return previewOf(texts.map(({ text }) => text).join('\n'));
  return (yield* tx.get('SELECT 1 FROM tool_calls WHERE run_seq = ? LIMIT 1', runSeq)) === undefined ? undefined : '';
}

interface StepRow {
  step: number;
  text: string;
}

interface CallRow {
  step: number;
  tool_use_id: string;
  name: string;
  input: string;
  ok: number | null;
  output: string | null;
}

/** What the agent said and did in a run, as blocks of one message (E2). */
export function* readRepliesOfRun(tx: Reader, runSeq: number): Step<AssistantBlock[]> {
  return yield* readBlocks(tx, 'run_seq = ?', [runSeq]);
}

/** The same in one step. */
export function* readReply(tx: Reader, runSeq: number, step: number): Step<AssistantBlock[]> {
  return yield* readBlocks(tx, 'run_seq = ? AND step = ?', [runSeq, step]);
}

function* readBlocks(tx: Reader, where: string, values: readonly number[]): Step<AssistantBlock[]> {
  const steps = yield* tx.all<StepRow>(`SELECT step, text FROM steps WHERE ${where} ORDER BY step`, ...values);
  const calls = yield* tx.all<CallRow>(
    `SELECT step, tool_use_id, name, input, ok, output FROM tool_calls WHERE ${where} ORDER BY step, position`,
    ...values,
  );
  const byStep = Map.groupBy(calls, ({ step }) => step);
  return steps.flatMap(({ step, text }) => blocksOf(text, byStep.get(step) ?? []));
}

function blocksOf(text: string, calls: readonly CallRow[]): AssistantBlock[] {
  const said: AssistantBlock[] = text === '' ? [] : [{ type: 'text', text }];
  const asked = calls.map(
    (call): AssistantBlock => ({
      type: 'tool_use',
      id: call.tool_use_id,
      name: call.name,
      input: JSON.parse(call.input) as JsonObject,
    }),
  );
  const answered = calls.flatMap((call): AssistantBlock[] =>
    call.output === null
      ? []
      : [{ type: 'tool_result', toolUseId: call.tool_use_id, ok: call.ok === 1, output: call.output }],
  );
  return [...said, ...asked, ...answered];
}
