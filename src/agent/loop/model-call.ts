// One call of the model: streams its text, and returns either a complete reply or the reason that there is none.
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { type AssistantModelMessage, type ModelMessage, streamText, type TextStreamPart, type ToolSet } from 'ai';
import type { JsonValue } from '../../domain/json.ts';
import type { Pace } from '../../domain/sessions/call-timing.ts';
import { type CallUsage, NO_USAGE, type Usage } from '../../domain/sessions/usage.ts';
import { type Prompt, usageOf } from './call-usage.ts';
import { failureOf, type ModelFailure, silenceFailure } from './model-failure.ts';
import { type ReplyObservation, openObservation } from '../models/observation.ts';
import { withMergedDeltas } from '../models/merge-deltas.ts';
import { UpstreamFault } from '../models/upstream-fault.ts';
import type { Brief, ToolCall } from '../port/protocol.ts';
import { recordReply } from '../conversation/recorded-message.ts';
import type { TextBlocks } from './text-blocks.ts';
import { startWatchdog, type Watchdog } from './watchdog.ts';

export interface ModelCall {
  readonly brief: Pick<Brief, 'model' | 'limits' | 'compaction'>;
  readonly model: LanguageModelV4;
  readonly instructions: string;
  readonly messages: ModelMessage[];
  readonly tools: ToolSet;
  readonly blocks: TextBlocks;
  /** Call ids the run has seen; see `recordReply`. */
  readonly usedIds: Set<string>;
  readonly signal: AbortSignal;
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
  readonly finishReason: string;
}

/**
 * `streamed`: text was sent on, so the call can't be repeated (D8). `used`: what the failed call has cost all the same; null
 * when its server refused it, or was not reached.
 */
export type CallEnd = { readonly pace: Pace } & (
  | { readonly ok: true; readonly reply: ModelReply }
  | { readonly ok: false; readonly failure: ModelFailure; readonly streamed: boolean; readonly used: CallUsage | null }
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

type StreamPart = TextStreamPart<ToolSet>;

/** The endings of complete replies. Any other ending, or a broken stream, is a failure. */
const COMPLETE_ENDINGS: ReadonlySet<string> = new Set(['stop', 'tool-calls', 'length', 'content-filter']);

/** What the stream has contained so far. */
interface Seen {
  text: string;
  streamed: boolean;
  error: { readonly cause: unknown } | null;
  finish: Extract<StreamPart, { type: 'finish-step' }> | null;
  assistant: AssistantModelMessage | undefined;
  readonly faults: Map<string, string>;
}

type Readers = {
  readonly [T in StreamPart['type']]?: (seen: Seen, part: Extract<StreamPart, { type: T }>, blocks: TextBlocks) => void;
};

const READERS: Readers = {
  'text-delta': (seen, { text }, blocks) => {
    if (text === '') return;
    seen.streamed = true;
    seen.text += text;
    blocks.write(text);
  },
  'text-end': (_seen, _part, blocks) => blocks.close(),
  'tool-input-start': (_seen, _part, blocks) => blocks.close(),
  'tool-call': (seen, part, blocks) => {
    blocks.close();
    if ('invalid' in part && part.invalid === true && typeof part.input === 'string') {
      seen.faults.set(part.toolCallId, 'The arguments were not valid JSON.');
    }
  },
  'finish-step': (seen, part) => {
    seen.finish = part;
  },
  error: (seen, { error }) => {
    seen.error ??= { cause: error };
  },
};

/** Makes one model call without retries. Rejects with `CallStopped` when the run was stopped, and only then. */
export async function callModel(call: ModelCall): Promise<CallEnd> {
  const { brief, blocks, signal } = call;
  const watchdog = startWatchdog(brief.limits, signal);
  const stopwatch = startStopwatch();
  const observation = openObservation(brief.limits.maxReplyBytes, call.waits);
  const seen: Seen = { text: '', streamed: false, error: null, finish: null, assistant: undefined, faults: new Map() };
  try {
    await readStream(call, { watchdog, observation, stopwatch }, seen);
  } catch (cause) {
    seen.error ??= { cause };
  } finally {
    call.waits(false);
    watchdog.end();
    blocks.close();
  }
  const pace = stopwatch.pace();
  const usedIf = (wasWorkedOn: boolean) => usedOf(call, seen, observation, wasWorkedOn);
  if (signal.aborted) throw new CallStopped(signal.reason, { used: usedIf(observation.fault === null), pace });
  const fail = (failure: ModelFailure, wasWorkedOn: boolean): CallEnd => {
    return { ok: false, failure, streamed: seen.streamed, used: usedIf(wasWorkedOn), pace };
  };
  const silence = watchdog.expired();
  if (silence !== null) return fail(silenceFailure(silence, brief.model, brief.limits), true);
  const failed = observation.fault ?? seen.error?.cause ?? faultOfEnd(seen, observation);
  if (failed !== null) return fail(failureOf(failed, brief, Date.now()), false);
  return { ok: true, reply: { ...replyOf(seen, endingOf(seen, observation), call.usedIds), ...usedIf(true)! }, pace };
}

/** What the call has used. A server that reports nothing and sends nothing has worked on it only where that is known. */
function usedOf(prompt: Prompt, seen: Seen, { bytes }: ReplyObservation, wasWorkedOn: boolean): CallUsage | null {
  const received = Math.max(bytes, Buffer.byteLength(seen.text));
  const used = usageOf(prompt, reportedUsage(seen), received);
  return wasWorkedOn || received > 0 || !used.estimated ? used : null;
}

function reportedUsage({ finish }: Seen): Usage {
  if (finish === null) return NO_USAGE;
  const { inputTokens, outputTokens, inputTokenDetails: details } = finish.usage;
  return {
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    cacheReadTokens: details.cacheReadTokens ?? 0,
    cacheWriteTokens: details.cacheWriteTokens ?? 0,
  };
}

/** The finish reason according to the server's bytes; the offline engine has no bytes. */
function endingOf(seen: Seen, { ending }: ReplyObservation): string {
  return ending ?? seen.finish?.finishReason ?? '';
}

function faultOfEnd(seen: Seen, observation: ReplyObservation): UpstreamFault | null {
  const ending = endingOf(seen, observation);
  if (seen.finish === null || !COMPLETE_ENDINGS.has(ending)) return new UpstreamFault('cut', 'The reply has no end.');
  const isEmpty = seen.text === '' && seen.assistant === undefined;
  return ending === 'content-filter' && isEmpty ? new UpstreamFault('filtered', 'The reply is empty.') : null;
}

interface Observers {
  readonly watchdog: Watchdog;
  readonly observation: ReplyObservation;
  readonly stopwatch: CallStopwatch;
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

async function readStream(call: ModelCall, observers: Observers, seen: Seen): Promise<void> {
  const { watchdog, observation, stopwatch } = observers;
  const onToken = () => {
    stopwatch.token();
    watchdog.touch();
  };
  const result = streamText({
    model: withMergedDeltas(call.model, observation, onToken),
    instructions: call.instructions,
    messages: call.messages,
    tools: call.tools,
    maxOutputTokens: call.brief.model.maxOutputTokens,
    maxRetries: 0,
    abortSignal: watchdog.signal,
    // Without this the SDK prints errors, which the stream also contains.
    onError: () => undefined,
    onStepEnd: ({ response }) => {
      seen.assistant = response.messages.find((message) => message.role === 'assistant');
    },
  });
  for await (const part of result.stream) {
    READERS[part.type]?.(seen, part as never, call.blocks);
    if (seen.error !== null) {
      // Leaving the loop does not close the upstream; only the signal does.
      watchdog.abort();
      return;
    }
  }
}

function replyOf(seen: Seen, finishReason: string, usedIds: Set<string>): Omit<ModelReply, keyof CallUsage> {
  const text = seen.text.toWellFormed();
  const { message, calls, faults } = recordReply({
    assistant: seen.assistant,
    text,
    finishReason,
    faults: seen.faults,
    usedIds,
  });
  return { message, text, calls, faults, finishReason };
}
