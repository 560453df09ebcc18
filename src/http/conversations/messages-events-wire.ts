// A run's journal as the Messages protocol's stream (§4.3, C10, C15).
import { isoTime } from '../../domain/clock.ts';
import { messageIdOf } from '../../domain/ids.ts';
import type { EventTable, WireEvent } from './event-frame.ts';
import { renderUsage } from './messages-wire.ts';
import { type ErrorFacts, errorBody } from '../frame/render-error.ts';
import { failureOf, STOPPED } from './run-failure.ts';

/** The event that ends a stream early. */
export function messagesError(facts: ErrorFacts): WireEvent {
  return { name: 'error', data: errorBody(facts, 'bare') };
}

/** Sent in silence. */
export const MESSAGES_PING: WireEvent = { name: 'ping', data: { type: 'ping' } };

/** Each journal event in this protocol's words, in the order of the official stream. */
export const MESSAGES_EVENTS: EventTable = {
  'run.queued': ({ promptTokens = 0 }, run) => ({
    name: 'message_start',
    data: {
      type: 'message_start',
      message: {
        id: messageIdOf(run.id),
        type: 'message',
        role: 'assistant',
        model: run.requestedModel,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        // Clients that take the count from here have the best known; the true one comes with `message_delta`.
        usage: { input_tokens: promptTokens, output_tokens: 0 },
      },
    },
  }),
  content_block_start: ({ index }) => ({
    name: 'content_block_start',
    data: { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
  }),
  content_block_delta: ({ index, text }) => ({
    name: 'content_block_delta',
    data: { type: 'content_block_delta', index, delta: { type: 'text_delta', text } },
  }),
  content_block_stop: ({ index }) => ({ name: 'content_block_stop', data: { type: 'content_block_stop', index } }),
  tool_use: ({ toolUseId, name, input }) => ({
    name: 'tool_use',
    data: { type: 'tool_use', tool_use_id: toolUseId, name, input },
  }),
  tool_result: ({ toolUseId, name, ok, preview, durationMs }) => ({
    name: 'tool_result',
    data: { type: 'tool_result', tool_use_id: toolUseId, name, ok, preview, duration_ms: durationMs },
  }),
  'user_input.requested': ({ requestId, toolUseId, toolName, expiresAt }) => ({
    name: 'user_input.requested',
    data: {
      type: 'user_input.requested',
      request_id: requestId,
      tool_use_id: toolUseId,
      tool_name: toolName,
      expires_at: isoTime(expiresAt),
    },
  }),
  'user_input.answered': ({ requestId, toolUseId }) => ({
    name: 'user_input.answered',
    data: { type: 'user_input.answered', request_id: requestId, tool_use_id: toolUseId },
  }),
  'user_input.expired': ({ requestId, toolUseId }) => ({
    name: 'user_input.expired',
    data: { type: 'user_input.expired', request_id: requestId, tool_use_id: toolUseId },
  }),
  'run.finalizing': ({ stopReason, usage }) =>
    stopReason === null
      ? null
      : {
          name: 'message_delta',
          data: {
            type: 'message_delta',
            delta: { stop_reason: stopReason, stop_sequence: null },
            usage: renderUsage(usage),
          },
        },
  message: ({ structuredOutput }) =>
    structuredOutput === undefined
      ? null
      : { name: 'result', data: { type: 'result', subtype: 'success', structured_output: structuredOutput } },
  'run.done': () => ({ name: 'message_stop', data: { type: 'message_stop' } }),
  'run.failed': ({ error }) => messagesError(failureOf(error)),
  'run.stopped': () => messagesError(STOPPED),
};
