// A run's journal as the chat-completions protocol's stream (§2.3, §4.2, C9, C11).
import { completionIdOf } from '../../domain/ids.ts';
import type { Run } from '../../domain/run.ts';
import { renderChatUsage, secondsOf } from './chat-wire.ts';
import type { EventTable, WireEvent } from './event-frame.ts';
import { type ErrorFacts, errorBody } from '../frame/render-error.ts';
import { failureOf, STOPPED } from './run-failure.ts';

/** The data that ends a stream early; `[DONE]` does not follow it. */
export function chatError(facts: ErrorFacts): WireEvent {
  return data(errorBody(facts, 'chat'));
}

/** The last line of a completed stream. */
export const CHAT_DONE: WireEvent = { name: null, data: '[DONE]' };

// Text blocks with tool calls between them arrive as one text; this keeps their words apart.
const BLOCK_SEPARATOR = '\n\n';

/** Each journal event in this protocol's words. */
export const CHAT_EVENTS: EventTable = {
  'run.queued': (_payload, run) => chunk(run, { role: 'assistant' }),
  content_block_start: ({ index }, run) =>
    index === 0 || run.wantsStructured ? null : chunk(run, { content: BLOCK_SEPARATOR }),
  // Where a result is wanted the content is its JSON text, and nothing beside it.
  content_block_delta: ({ text }, run) => (run.wantsStructured ? null : chunk(run, { content: text })),
  'run.result': ({ structuredOutput }, run) => chunk(run, { content: JSON.stringify(structuredOutput) }),
  'run.finalizing': ({ stopReason }, run) => (stopReason === null ? null : chunk(run, {}, 'stop')),
  message: ({ usage }, run) =>
    run.includeUsage ? data({ ...headOf(run), choices: [], usage: renderChatUsage(usage) }) : null,
  'run.done': () => CHAT_DONE,
  'run.failed': ({ error }) => chatError(failureOf(error)),
  'run.stopped': () => chatError(STOPPED),
};

function chunk(run: Run, delta: object, finishReason: 'stop' | null = null): WireEvent {
  return data({ ...headOf(run), choices: [{ index: 0, delta, finish_reason: finishReason }] });
}

function headOf(run: Run): object {
  return {
    id: completionIdOf(run.id),
    object: 'chat.completion.chunk',
    created: secondsOf(run.createdAt),
    model: run.requestedModel,
  };
}

function data(value: object): WireEvent {
  return { name: null, data: value };
}
