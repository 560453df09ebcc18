// A run's journal as the chat-completions protocol's stream (§2.3, §4.2, C9, C11).
import { completionIdOf } from '../../../domain/ids.ts';
import type { Run } from '../../../domain/sessions/run.ts';
import type { ChatDeltaWire, CompletionChunkWire, FinishReason } from '../../../wire/chat/completion.ts';
import { errorBody, type ErrorFacts } from '../../replies/render-error.ts';
import { finishReasonOf, renderChatUsage, resultDeltaOf, secondsOf } from '../chat-wire.ts';
import { failureOf, STOPPED } from '../run-failure.ts';
import { type EventTable, lookUp, type SentEvent, type StreamFormat } from './stream-format.ts';

/** The last line of a completed stream. */
const DONE: SentEvent = { name: null, data: '[DONE]' };

// Text blocks with tool calls between them arrive as one text; this keeps their words apart.
const BLOCK_SEPARATOR = '\n\n';

const EVENTS: EventTable<SentEvent> = {
  'run.queued': (_payload, run) => chunk(run, { role: 'assistant' }),
  content_block_start: ({ index }, run) =>
    index === 0 || run.wantsStructured ? null : chunk(run, { content: BLOCK_SEPARATOR }),
  // With a schema, the content is the result's JSON text and nothing else.
  content_block_delta: ({ text }, run) => (run.wantsStructured ? null : chunk(run, { content: text })),
  'run.result': ({ structuredOutput }, run) => chunk(run, resultDeltaOf(run, JSON.stringify(structuredOutput))),
  'run.finalizing': ({ stopReason }, run) => (stopReason === null ? null : chunk(run, {}, finishReasonOf(run))),
  message: ({ usage }, run) =>
    run.includeUsage ? data({ ...headOf(run), choices: [], usage: renderChatUsage(usage) }) : null,
  'run.done': () => DONE,
  'run.failed': ({ error }) => endEarly(failureOf(error)),
  'run.stopped': () => endEarly(STOPPED),
};

export const CHAT_FORMAT: StreamFormat = {
  event: (event, run) => lookUp(EVENTS, event, run),
  toolEvents: new Set(),
  ids: 'on request',
  ping: 'comment',
  error: endEarly,
  epilogue: (run) => (run.status === 'completed' ? DONE : null),
};

/** `[DONE]` does not follow it. */
function endEarly(facts: ErrorFacts): SentEvent {
  return { name: null, data: errorBody(facts, 'chat') };
}

function chunk(run: Run, delta: ChatDeltaWire, finishReason: FinishReason | null = null): SentEvent {
  return data({ ...headOf(run), choices: [{ index: 0, delta, finish_reason: finishReason }] });
}

function headOf(run: Run): Pick<CompletionChunkWire, 'id' | 'object' | 'created' | 'model'> {
  return {
    id: completionIdOf(run.id),
    object: 'chat.completion.chunk',
    created: secondsOf(run.createdAt),
    model: run.requestedModel,
  };
}

function data(chunk: CompletionChunkWire): SentEvent {
  return { name: null, data: chunk };
}
