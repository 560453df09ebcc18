// A run's journal as the Messages protocol's stream (§4.3, C10, C15).
import { isoTime } from '../../../domain/clock.ts';
import { messageIdOf } from '../../../domain/ids.ts';
import type { JsonValue } from '../../../domain/json.ts';
import type { MessagesStreamEvent } from '../../../wire/messages/stream-event.ts';
import { errorBody, type ErrorFacts } from '../../replies/render-error.ts';
import { renderUsage, stopReasonOf, toolUseOf } from '../messages-wire.ts';
import { failureOf, STOPPED } from '../run-failure.ts';
import { type EventTable, lookUp, type SentEvent, type StreamFormat } from './stream-format.ts';

const PREVIEW_CHARACTERS = 1_000;

/** Each event in this protocol's words, in the order of the official stream. */
const EVENTS: EventTable<MessagesStreamEvent> = {
  'run.queued': ({ promptTokens = 0 }, run) => ({
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
  }),
  content_block_start: ({ index }, run) => (run.resultInContent ? null : blockStart(index)),
  content_block_delta: ({ index, text }, run) => (run.resultInContent ? null : blockDelta(index, text)),
  content_block_stop: ({ index }, run) => (run.resultInContent ? null : blockStop(index)),
  // Where the result is the content, nothing else is.
  result_block_start: (_payload, run) =>
    run.resultTool === null
      ? blockStart(0)
      : { type: 'content_block_start', index: 0, content_block: toolUseOf(run, run.resultTool) },
  'run.result': ({ structuredOutput }, { resultTool }) =>
    resultTool === null ? blockDelta(0, JSON.stringify(structuredOutput)) : inputDelta(0, structuredOutput),
  result_block_stop: () => blockStop(0),
  tool_use: ({ toolUseId, name, input }) => ({ type: 'tool_use', tool_use_id: toolUseId, name, input }),
  tool_result: ({ toolUseId, name, ok, output, durationMs }) => ({
    type: 'tool_result',
    tool_use_id: toolUseId,
    name,
    ok,
    preview: output.slice(0, PREVIEW_CHARACTERS).toWellFormed(),
    duration_ms: durationMs,
  }),
  'user_input.requested': ({ requestId, toolUseId, toolName, expiresAt }) => ({
    type: 'user_input.requested',
    request_id: requestId,
    tool_use_id: toolUseId,
    tool_name: toolName,
    expires_at: isoTime(expiresAt),
  }),
  'user_input.answered': ({ requestId, toolUseId }) => ({
    type: 'user_input.answered',
    request_id: requestId,
    tool_use_id: toolUseId,
  }),
  'user_input.expired': ({ requestId, toolUseId }) => ({
    type: 'user_input.expired',
    request_id: requestId,
    tool_use_id: toolUseId,
  }),
  'model_wait.started': ({ model, agent, message, patienceMs }, _run, at) => ({
    type: 'model_wait.started',
    model,
    agent,
    message,
    patience_ms: patienceMs,
    until: isoTime(at + patienceMs),
  }),
  'model_wait.ended': ({ model, agent, answered, waitedMs }) => ({
    type: 'model_wait.ended',
    model,
    agent,
    answered,
    waited_ms: waitedMs,
  }),
  'run.finalizing': ({ stopReason: why, usage }, { resultTool }) => {
    const stopReason = stopReasonOf({ stopReason: why, resultTool });
    return stopReason === null
      ? null
      : {
          type: 'message_delta',
          delta: { stop_reason: stopReason, stop_sequence: null },
          usage: renderUsage(usage),
        };
  },
  message: ({ structuredOutput }) =>
    structuredOutput === undefined ? null : { type: 'result', subtype: 'success', structured_output: structuredOutput },
  'run.done': () => ({ type: 'message_stop' }),
  'run.failed': ({ error }) => errorBody(failureOf(error), 'bare'),
  'run.stopped': () => errorBody(STOPPED, 'bare'),
};

function blockStart(index: number): MessagesStreamEvent {
  return { type: 'content_block_start', index, content_block: { type: 'text', text: '' } };
}

function blockDelta(index: number, text: string): MessagesStreamEvent {
  return { type: 'content_block_delta', index, delta: { type: 'text_delta', text } };
}

function inputDelta(index: number, input: JsonValue): MessagesStreamEvent {
  return {
    type: 'content_block_delta',
    index,
    delta: { type: 'input_json_delta', partial_json: JSON.stringify(input) },
  };
}

function blockStop(index: number): MessagesStreamEvent {
  return { type: 'content_block_stop', index };
}

export const MESSAGES_FORMAT: StreamFormat = {
  event: (event, run) => {
    const data = lookUp(EVENTS, event, run);
    return data && sent(data);
  },
  toolEvents: new Set([
    'tool_use',
    'tool_result',
    'user_input.requested',
    'user_input.answered',
    'user_input.expired',
    'model_wait.started',
    'model_wait.ended',
  ]),
  ids: 'always',
  ping: sent({ type: 'ping' }),
  error: (facts: ErrorFacts) => sent(errorBody(facts, 'bare')),
  epilogue: () => null,
};

function sent(data: MessagesStreamEvent): SentEvent {
  return { name: data.type, data };
}
