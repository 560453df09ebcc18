// The final message of a run: what its agent said, with its result and its usage.
import type { JsonValue } from '../../domain/json.ts';
import type { Step, Transaction } from '../engine/statement.ts';
import type { Fence } from '../runs/fence.ts';
import { IN_STEPS, previewOfReplies } from '../runs/replies.ts';

export interface UsageRow {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
}

export function usageOf({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: UsageRow): UsageRow {
  return { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens };
}

/** The final message of a run. */
export interface LastWords {
  readonly outcome: 'completed' | 'failed' | 'incomplete';
  readonly structured: { readonly value: JsonValue } | undefined;
  readonly usage: UsageRow;
}

/** Returns how many messages it wrote: none for a run that came to nothing. */
export function* writeLastMessage(
  tx: Transaction,
  { sessionSeq, runSeq }: Omit<Fence, 'attempt'>,
  { outcome, structured, usage }: LastWords,
): Step<number> {
  const preview = yield* previewOfReplies(tx, runSeq);
  if (preview === undefined && outcome !== 'completed') return 0;
  const messageId = yield* tx.insert(
    `INSERT INTO messages (session_seq, run_seq, role, content, text_preview, created_at)
     VALUES (?, ?, 'assistant', ?, ?, ?)`,
    sessionSeq,
    runSeq,
    IN_STEPS,
    preview ?? '',
    tx.now,
  );
  tx.emit(sessionSeq, runSeq, {
    type: 'message',
    payload: {
      messageId,
      role: 'assistant',
      textPreview: preview ?? '',
      usage: usageOf(usage),
      ...(structured !== undefined && { structuredOutput: structured.value }),
    },
  });
  return 1;
}
