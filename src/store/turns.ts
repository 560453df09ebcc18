// The turns of a session as an agent needs them: what the user said, and each run's recorded steps.
import type { Attachment, UserBlock } from '../domain/content.ts';
import type { JsonObject, JsonValue } from '../domain/json.ts';
import type { Usage } from '../domain/usage.ts';
import type { Database, Reader } from './database.ts';
import { type AttachmentRow, toAttachment } from './sessions.ts';

/** A recorded tool call. `running`: it had begun and has no recorded result. */
export interface StoredCall {
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
  readonly state: 'waiting' | 'running' | 'ended';
  readonly ok: boolean;
  readonly output: string;
}

export interface StoredStep {
  readonly step: number;
  readonly kind: string;
  readonly message: JsonValue;
  readonly text: string;
  readonly usage: Usage;
  readonly calls: readonly StoredCall[];
}

export interface StoredTurn {
  readonly runSeq: number;
  readonly user: readonly UserBlock[];
  readonly attachments: readonly Attachment[];
  readonly steps: readonly StoredStep[];
}

/** Turns are read this many at a time, newest first, until the budget is spent. */
const PAGE = 32;

/** The verbs that read turns. */
export function makeTurns({ reader }: Database) {
  return {
    /** The turn of one run. A run that was never attempted before has no steps to read. */
    get: async (runSeq: number, attempt: number): Promise<StoredTurn> => readTurn(reader, runSeq, attempt > 1),

    /** The turns before a run, oldest first, as many of the newest as about `characters` allow. */
    listBefore: async (sessionSeq: number, runSeq: number, characters: number): Promise<StoredTurn[]> => {
      const turns: StoredTurn[] = [];
      let before = runSeq;
      let left = characters;
      while (left > 0) {
        const page = reader.all<{ seq: number }>(
          'SELECT seq FROM runs WHERE session_seq = ? AND seq < ? ORDER BY seq DESC LIMIT ?',
          sessionSeq,
          before,
          PAGE,
        );
        for (const { seq } of page) {
          if (left <= 0) break;
          const turn = readTurn(reader, seq, true);
          left -= sizeOf(turn);
          turns.push(turn);
        }
        if (page.length < PAGE) break;
        before = page.at(-1)!.seq;
      }
      return turns.toReversed();
    },

    /** The index that the next text block of a run's stream takes. */
    nextBlockIndex: async (runSeq: number): Promise<number> => {
      const last = reader.get<{ payload: string }>(
        `SELECT payload FROM events WHERE run_seq = ? AND type = 'content_block_start' ORDER BY stream_seq DESC LIMIT 1`,
        runSeq,
      );
      return last === undefined ? 0 : (JSON.parse(last.payload) as { index: number }).index + 1;
    },
  };
}

function sizeOf(turn: StoredTurn): number {
  let size = 0;
  for (const block of turn.user) size += block.type === 'text' ? block.text.length : 0;
  for (const step of turn.steps) {
    size += step.text.length;
    for (const call of step.calls) size += call.output.length + 100;
  }
  return size + 50;
}

function readTurn(reader: Reader, runSeq: number, withSteps: boolean): StoredTurn {
  const message = reader.get<{ id: number; content: string }>(
    "SELECT id, content FROM messages WHERE run_seq = ? AND role = 'user'",
    runSeq,
  )!;
  const user = JSON.parse(message.content) as UserBlock[];
  const hasAttachments = user.some((block) => block.type === 'attachment');
  const attachments = hasAttachments
    ? reader
        .all<AttachmentRow>('SELECT * FROM attachments WHERE message_id = ? ORDER BY seq', message.id)
        .map((row) => toAttachment(row))
    : [];
  return { runSeq, user, attachments, steps: withSteps ? readSteps(reader, runSeq) : [] };
}

interface StepRow {
  step: number;
  kind: string;
  message: string;
  text: string;
  input_tokens: number;
  output_tokens: number;
  cache_read_tokens: number;
  cache_write_tokens: number;
}

interface ToolCallRow {
  step: number;
  tool_use_id: string;
  name: string;
  input: string;
  state: StoredCall['state'];
  ok: number | null;
  output: string | null;
}

function readSteps(reader: Reader, runSeq: number): StoredStep[] {
  const steps = reader.all<StepRow>('SELECT * FROM steps WHERE run_seq = ? ORDER BY step', runSeq);
  if (steps.length === 0) return [];
  const calls = reader.all<ToolCallRow>('SELECT * FROM tool_calls WHERE run_seq = ? ORDER BY step, position', runSeq);
  return steps.map((row) => ({
    step: row.step,
    kind: row.kind,
    message: JSON.parse(row.message) as JsonValue,
    text: row.text,
    usage: {
      inputTokens: row.input_tokens,
      outputTokens: row.output_tokens,
      cacheReadTokens: row.cache_read_tokens,
      cacheWriteTokens: row.cache_write_tokens,
    },
    calls: calls.filter((call) => call.step === row.step).map(toStoredCall),
  }));
}

function toStoredCall(row: ToolCallRow): StoredCall {
  return {
    id: row.tool_use_id,
    name: row.name,
    input: JSON.parse(row.input) as JsonObject,
    state: row.state,
    ok: row.ok === 1,
    output: row.output ?? '',
  };
}
