// Timed calls of a model under test.
import type { ModelCheckTask } from './check-task.ts';
import { type CallEnd, callModel, type ModelCall } from '../loop/call/model-call.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { ModelTool } from '../models/message.ts';
import { makeHalt } from '../../domain/halt.ts';
import { openModel } from '../models/open-model.ts';

/** Room for models that reason before they reply. */
const MAX_OUTPUT_TOKENS = 1_024;
const INSTRUCTIONS = 'This is a test. Do exactly what is asked.';

/** A timed call. Times are milliseconds since its start. */
export interface TimedCall {
  readonly end: CallEnd;
  readonly firstTextMs: number | null;
  readonly pieces: number;
  readonly totalMs: number;
}

/** Makes one call of the model under test. */
export type Ask = (prompt: string, tools?: readonly ModelTool[], replySchema?: JsonObject) => Promise<TimedCall>;

/** Calls of one model, each with its own time limits and without retries. */
export function makeAsk({ grant, limits }: Pick<ModelCheckTask, 'grant' | 'limits'>): Ask {
  const model = { ...grant, maxOutputTokens: Math.min(grant.maxOutputTokens, MAX_OUTPUT_TOKENS) };
  return async (prompt, tools = [], replySchema) => {
    const startedAt = performance.now();
    const halt = makeHalt();
    const timer = setTimeout(() => halt.halt(), limits.runTimeoutMs);
    let firstTextMs: number | null = null;
    let pieces = 0;
    const call: ModelCall = {
      brief: { model, limits, compaction: null },
      model: openModel(model, limits.connectTimeoutMs),
      instructions: INSTRUCTIONS,
      messages: [{ role: 'user', parts: [{ type: 'text', text: prompt }] }],
      tools,
      ...(replySchema && { replySchema }),
      blocks: {
        write: () => {
          firstTextMs ??= performance.now() - startedAt;
          pieces += 1;
        },
        close: () => undefined,
      },
      usedIds: new Set(),
      halt,
      waits: () => undefined,
    };
    const end = await callModel(call).finally(() => clearTimeout(timer));
    return { end, firstTextMs, pieces, totalMs: performance.now() - startedAt };
  };
}
