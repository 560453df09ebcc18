// One call of the model: streams its text, and returns either a complete reply or the reason that there is none.
import type { JsonObject, JsonValue } from '../../../domain/json.ts';
import type { Pace } from '../../../domain/sessions/call-timing.ts';
import { type CallUsage, NO_USAGE } from '../../../domain/sessions/usage.ts';
import { recordReply } from '../../conversation/recorded-message.ts';
import type { Ending, ModelEvent } from '../../models/event.ts';
import type { ModelMessage, ModelTool } from '../../models/message.ts';
import type { Model } from '../../models/open-model.ts';
import { makeReplyCollector, type Reply } from '../../models/reply.ts';
import { UnreachedError, UpstreamFault } from '../../models/upstream-fault.ts';
import { HALTED, type Halt } from '../../../domain/halt.ts';
import type { Brief, ToolCall } from '../../port/protocol.ts';
import { type Prompt, usageOf } from './call-usage.ts';
import { failureOf, type ModelFailure, silenceFailure } from './model-failure.ts';
import type { TextBlocks } from './text-blocks.ts';
import { startWatchdog } from './watchdog.ts';

export interface ModelCall {
  readonly brief: Pick<Brief, 'model' | 'limits' | 'compaction'>;
  readonly model: Model;
  readonly instructions: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  /** See `Prompt`. The text of such a reply is the result, and isn't streamed. */
  readonly replySchema?: JsonObject;
  /** Null when nobody reads the text as it is written. */
  readonly blocks: TextBlocks | null;
  /** Call ids the run has seen; see `recordReply`. */
  readonly usedIds: Set<string>;
  /** Of the run. */
  readonly halt: Halt;
  /** Called when the run starts or stops waiting for nothing but the reply. */
  readonly waits: (isWaiting: boolean) => void;
}

/**
 * A complete reply. `message` is what the journal stores; `faults` maps calls to the reason that their arguments could not be
 * read.
 */
export interface ModelReply extends CallUsage {
  readonly message: JsonValue;
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly faults: Readonly<Record<string, string>>;
}

/**
 * `streamed`: text was sent on, so that a repeated call begins a new block (D8). `isEmpty`: the reply is complete, and says and calls
 * nothing. `used`: what the failed call has cost all the same; null when its server refused it, or was not reached.
 */
export type CallEnd = { readonly pace: Pace; readonly streamed: boolean } & (
  | { readonly ok: true; readonly reply: ModelReply; readonly isEmpty: boolean }
  | { readonly ok: false; readonly failure: ModelFailure; readonly used: CallUsage | null }
);

/** The run was stopped in the middle of a call. */
export class CallStopped extends Error {
  override readonly name = 'CallStopped';
  readonly used: CallUsage | null;
  readonly pace: Pace;

  constructor(cause: unknown, { used, pace }: { readonly used: CallUsage | null; readonly pace: Pace }) {
    super('The run was stopped.', { cause });
    this.used = used;
    this.pace = pace;
  }
}

/** Events that carry some of the reply. Others announce or end something, perhaps long before the first token. */
export const TOKENS: ReadonlySet<ModelEvent['type']> = new Set([
  'text',
  'thinking',
  'proof',
  'call-start',
  'call-delta',
]);
/** Events after which text is a new block. */
const BLOCK_ENDS: ReadonlySet<ModelEvent['type']> = new Set(['block-end', 'call-start']);

/** Makes one model call without retries. Rejects with `CallStopped` when the run was stopped, and only then. */
export async function callModel(call: ModelCall): Promise<CallEnd> {
  const { brief, halt } = call;
  const blocks = call.replySchema === undefined ? call.blocks : null;
  const watchdog = startWatchdog(brief.limits, halt);
  const stopwatch = startStopwatch();
  const collector = makeReplyCollector();
  const take = (event: ModelEvent) => {
    if (TOKENS.has(event.type)) {
      stopwatch.token();
      watchdog.touch();
    }
    collector.take(event);
    if (blocks !== null) streamOn(event, blocks);
  };
  let failed: unknown = null;
  try {
    await ask(call, take, watchdog.halt);
  } catch (error) {
    failed = error ?? new Error('The call ended without a reason.');
  } finally {
    call.waits(false);
    watchdog.end();
    blocks?.close();
  }
  const pace = stopwatch.pace();
  const reply = collector.reply();
  const usedIf = (wasWorkedOn: boolean) => usedOf(call, reply, wasWorkedOn);
  // Its server has refused it, or was not reached.
  const isFruitless = failed instanceof UpstreamFault || failed instanceof UnreachedError;
  if (halt.isHalted) throw new CallStopped(HALTED, { used: usedIf(!isFruitless), pace });
  const streamed = blocks !== null && hasText(reply);
  const fail = (failure: ModelFailure, wasWorkedOn: boolean): CallEnd => {
    return { ok: false, failure, streamed, used: usedIf(wasWorkedOn), pace };
  };
  // A reply may be complete though its server, which fell silent, has not ended it.
  const silence = failed === null ? null : watchdog.expired();
  if (silence !== null) return fail(silenceFailure(silence, brief.model, brief.limits), !isFruitless);
  const fault = failed ?? faultOfEnd(reply);
  if (fault !== null) return fail(failureOf(fault, brief, Date.now()), false);
  const recorded = { ...recordReply(reply, brief.model.model, call.usedIds), ...usedIf(true)! };
  return { ok: true, reply: recorded, isEmpty: isEmpty(reply), streamed, pace };
}

/** What the call has used. A server that reports nothing and sends nothing has worked on it only where that is known. */
function usedOf(prompt: Prompt, reply: Reply, wasWorkedOn: boolean): CallUsage | null {
  const received = bytesOf(reply);
  // Counts of a reply that is incomplete are those of its beginning.
  const used = usageOf(prompt, reply.ending === null ? NO_USAGE : reply.usage, received);
  return wasWorkedOn || received > 0 || !used.estimated ? used : null;
}

/** Bytes of text, thinking and tool calls. */
function bytesOf({ parts }: Reply): number {
  const texts = parts.flatMap((part) => (part.type === 'call' ? [part.name, part.json] : [part.text]));
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

function ask(
  { model, brief, instructions, messages, tools, replySchema, waits }: ModelCall,
  take: (event: ModelEvent) => void,
  halt: Halt,
) {
  const { maxOutputTokens } = brief.model;
  const prompt = { instructions, messages, tools, maxOutputTokens, ...(replySchema && { replySchema }) };
  return model.ask(prompt, { take, halt, maxReplyBytes: brief.limits.maxReplyBytes, waits });
}

/** Sends text on, and closes its block before anything else begins. */
function streamOn(event: ModelEvent, blocks: TextBlocks): void {
  if (event.type === 'text') blocks.write(event.text);
  else if (BLOCK_ENDS.has(event.type)) blocks.close();
}

/** Thinking alone, or nothing. One that reached its limit, or was withheld, would do so again. */
const isEmpty = ({ parts, ending }: Reply) =>
  (ending === 'stop' || ending === 'tool-calls') &&
  parts.every((part) => part.type === 'thinking' || (part.type === 'text' && part.text.trim() === ''));

const hasText = ({ parts }: Reply) => parts.some(({ type }) => type === 'text');

function faultOfEnd({ parts, ending }: Reply): UpstreamFault | null {
  if (ending === null) return new UpstreamFault('cut', 'The reply has no end.');
  const withheld: Ending = 'content-filter';
  return ending === withheld && parts.length === 0 ? new UpstreamFault('filtered', 'The reply is empty.') : null;
}

interface CallStopwatch {
  /** A token has arrived. */
  token(): void;
  pace(): Pace;
}

function startStopwatch(): CallStopwatch {
  const startedAt = performance.now();
  const elapsedMs = () => Math.round(performance.now() - startedAt);
  let firstTokenMs: number | null = null;
  return {
    token: () => void (firstTokenMs ??= elapsedMs()),
    pace: () => ({ firstTokenMs, durationMs: elapsedMs() }),
  };
}
