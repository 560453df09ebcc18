// Reads what an agent said from its steps: a text is stored in its step, and not a second time for readers.
import type { AssistantBlock } from '../../domain/sessions/content.ts';
import { previewOf } from '../../domain/sessions/content.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Reader, Step } from '../engine/statement.ts';

/**
 * The content of an assistant's message whose blocks are made from its run's steps. Messages of earlier versions have them
 * as JSON.
 */
export const IN_STEPS = '';

/** More characters than a preview shows. */
const PREVIEW_SOURCE = 2_000;

/**
 * Reads the first `characters` of a text as bytes, maybe some more of them; the last one may be cut. The engines disagree about U+0000 in
 * functions of text: for SQLite it is the end.
 */
export const bytesOfStart = (text: string, characters: number): string =>
  `substr(${text}, 1, ${characters * MOST_BYTES})`;
/** Of a character, in UTF-8 and as the engines store it. */
const MOST_BYTES = 4;

/** The beginning of what a run's agent said; undefined when it neither said nor did anything. */
export function* previewOfReplies(tx: Reader, runSeq: number): Step<string | undefined> {
  const texts = yield* tx.all<{ text: Buffer }>(
    `SELECT ${bytesOfStart('CAST(text AS BLOB)', PREVIEW_SOURCE)} AS text FROM steps
     WHERE run_seq = ? AND text <> '' ORDER BY step LIMIT ?`,
    runSeq,
    PREVIEW_SOURCE,
  );
  if (texts.length > 0) return previewOf(texts.map(({ text }) => text.toString()).join('\n'));
  return (yield* tx.get('SELECT 1 FROM tool_calls WHERE run_seq = ? LIMIT 1', runSeq)) === undefined ? undefined : '';
}

interface StepRow {
  runSeq: number;
  step: number;
  text: string;
}

interface CallRow {
  runSeq: number;
  step: number;
  toolUseId: string;
  name: string;
  input: string;
  ok: number | null;
  output: string | null;
}

/** What agents said and did in the runs of some messages `m`, as blocks of one message each, by run (E2). */
export function* readReplies(
  tx: Reader,
  where: string,
  values: readonly number[],
): Step<Map<number, readonly AssistantBlock[]>> {
  const from = (table: string) => `FROM messages m CROSS JOIN ${table} ON t.run_seq = m.run_seq
    WHERE ${where} AND m.role = 'assistant'`;
  const steps = yield* tx.all<StepRow>(
    `SELECT t.run_seq, t.step, t.text ${from('steps t')} ORDER BY m.id, t.step`,
    ...values,
  );
  const calls = yield* tx.all<CallRow>(
    `SELECT t.run_seq, t.step, t.tool_use_id, t.name, t.input, t.ok, t.output ${from('tool_calls t')}
     ORDER BY m.id, t.step, t.position`,
    ...values,
  );
  return blocksByRun(steps, calls);
}

/** A long block as it is stored: texts in UTF-8, and an input as JSON that has not been parsed. */
export type StoredBlock =
  | { readonly type: 'text'; readonly text: Buffer }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: Buffer }
  | { readonly type: 'tool_result'; readonly toolUseId: string; readonly ok: boolean; readonly output: Buffer };

interface StoredCallRow extends Pick<CallRow, 'toolUseId' | 'name' | 'ok'> {
  input: Buffer;
  output: Buffer | null;
}

/** What an agent said and did in one step; nothing when its details were removed. */
export function* readStoredReply(tx: Reader, runSeq: number, step: number): Step<StoredBlock[]> {
  const said = 'SELECT CAST(text AS BLOB) AS text FROM steps WHERE run_seq = ? AND step = ?';
  const row = yield* tx.get<{ text: Buffer }>(said, runSeq, step);
  if (row === undefined) return [];
  const { text } = row;
  const calls = yield* tx.all<StoredCallRow>(
    `SELECT tool_use_id, name, CAST(input AS BLOB) AS input, ok, CAST(output AS BLOB) AS output FROM tool_calls
     WHERE run_seq = ? AND step = ? ORDER BY position`,
    runSeq,
    step,
  );
  const asked = calls.map(({ toolUseId: id, name, input }) => ({ type: 'tool_use', id, name, input }) as const);
  const answered = calls.flatMap(({ toolUseId, ok, output }) =>
    output === null ? [] : [{ type: 'tool_result', toolUseId, ok: ok === 1, output } as const],
  );
  return [...(text.length === 0 ? [] : [{ type: 'text', text } as const]), ...asked, ...answered];
}

function blocksByRun(steps: readonly StepRow[], rows: readonly CallRow[]): Map<number, readonly AssistantBlock[]> {
  const calls = Map.groupBy(rows, ({ runSeq, step }) => `${runSeq}/${step}`);
  const replies = new Map<number, AssistantBlock[]>();
  for (const { runSeq, step, text } of steps) {
    const blocks = replies.get(runSeq) ?? [];
    blocks.push(...blocksOf(text, calls.get(`${runSeq}/${step}`) ?? []));
    replies.set(runSeq, blocks);
  }
  return replies;
}

function blocksOf(text: string, calls: readonly CallRow[]): AssistantBlock[] {
  const said: AssistantBlock[] = text === '' ? [] : [{ type: 'text', text }];
  const asked = calls.map(
    (call): AssistantBlock => ({
      type: 'tool_use',
      id: call.toolUseId,
      name: call.name,
      input: JSON.parse(call.input) as JsonObject,
    }),
  );
  const answered = calls.flatMap((call): AssistantBlock[] =>
    call.output === null
      ? []
      : [{ type: 'tool_result', toolUseId: call.toolUseId, ok: call.ok === 1, output: call.output }],
  );
  return [...said, ...asked, ...answered];
}
