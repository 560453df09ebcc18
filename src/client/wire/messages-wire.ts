// The Messages protocol as the client speaks it: the request, the stream's events, and the message they add up to.
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts';
import { ClientError, type FailureTrace } from '../transport/client-error.ts';
import type { ServerEvent } from '../transport/event-stream.ts';

/** One turn. `idempotencyKey` makes it safe to send again when the connection breaks (§4.3 rule 2). */
export interface Turn {
  readonly model: string;
  readonly text: string;
  readonly sessionId?: string | undefined;
  readonly idempotencyKey: string;
}

/** What a stream tells, as far as a reader needs to know. `data` is the event as it came. */
export type ConversationEvent = { readonly data: JsonObject } & (
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'block_stop' | 'start' | 'delta' | 'block_start' | 'result' | 'end' }
  | { readonly type: 'tool_use'; readonly name: string; readonly input: JsonObject }
  | { readonly type: 'tool_result'; readonly name: string; readonly ok: boolean; readonly preview: string }
  | { readonly type: 'question'; readonly requestId: string }
);

/** A message of the protocol (§2.4), as the daemon wrote it. */
export interface MessageWire extends JsonObject {
  content: JsonValue[];
}

/** The request's body. */
export function turnBody(turn: Turn, stream: boolean): JsonObject {
  return {
    model: turn.model,
    stream,
    idempotency_key: turn.idempotencyKey,
    messages: [{ role: 'user', content: turn.text }],
    ...(turn.sessionId === undefined ? {} : { metadata: { session_id: turn.sessionId } }),
  };
}

/** The text blocks of a message, a line break between them. */
export function textOfMessage(message: MessageWire): string {
  const texts = message.content.flatMap((block) => (isJsonObject(block) ? [stringAt(block, 'text')] : []));
  return texts.filter((text) => text !== '').join('\n');
}

/** A message out of an answer's body. Throws `malformed`. */
export function readMessage(body: JsonValue): MessageWire {
  if (isJsonObject(body) && Array.isArray(body['content'])) return body as MessageWire;
  throw new ClientError({ kind: 'malformed' }, 'The daemon answered something that is not a message.');
}

/**
 * Reads one event of the stream; pings and unknown events give undefined.
 * Throws `failed` for an `error` event, `malformed` when the data is no JSON object.
 */
export function readConversationEvent(event: ServerEvent, trace: FailureTrace): ConversationEvent | undefined {
  const read = READERS[event.event];
  if (read === undefined) return undefined;
  return read(parseData(event.data), trace);
}

type Reader = (data: JsonObject, trace: FailureTrace) => ConversationEvent | undefined;

const plain =
  (type: 'block_stop' | 'start' | 'delta' | 'block_start' | 'result' | 'end'): Reader =>
  (data) => ({ type, data });

const READERS: Readonly<Record<string, Reader>> = {
  message_start: plain('start'),
  content_block_start: plain('block_start'),
  content_block_delta: (data) => {
    const delta = objectAt(data, 'delta');
    return delta['type'] === 'text_delta' ? { type: 'text', text: stringAt(delta, 'text'), data } : undefined;
  },
  content_block_stop: plain('block_stop'),
  message_delta: plain('delta'),
  message_stop: plain('end'),
  result: plain('result'),
  tool_use: (data) => ({ type: 'tool_use', name: stringAt(data, 'name'), input: objectAt(data, 'input'), data }),
  tool_result: (data) => ({
    type: 'tool_result',
    name: stringAt(data, 'name'),
    ok: data['ok'] === true,
    preview: stringAt(data, 'preview'),
    data,
  }),
  'user_input.requested': (data) => ({ type: 'question', requestId: stringAt(data, 'request_id'), data }),
  error: (data, trace) => {
    const error = objectAt(data, 'error');
    const message = stringAt(error, 'message') || 'The run failed.';
    throw new ClientError({ kind: 'failed', type: stringAt(error, 'type') }, message, { trace });
  },
};

/** Adds an event to the message it belongs to, so that the whole stream gives what one answer would have held. */
export function addToMessage(message: MessageWire, event: ConversationEvent): MessageWire {
  const { data } = event;
  switch (event.type) {
    case 'start':
      return { ...message, ...objectAt(data, 'message'), content: [] };
    case 'block_start':
      return withBlock(message, data, () => objectAt(data, 'content_block'));
    case 'text':
      return withBlock(message, data, (block) => ({
        ...block,
        type: 'text',
        text: stringAt(block, 'text') + event.text,
      }));
    case 'delta': {
      const usage = { ...objectAt(message, 'usage'), ...objectAt(data, 'usage') };
      return { ...message, ...objectAt(data, 'delta'), usage };
    }
    case 'result':
      return { ...message, structured_output: data['structured_output'] ?? null };
    default:
      return message;
  }
}

function withBlock(message: MessageWire, data: JsonObject, change: (block: JsonObject) => JsonObject): MessageWire {
  const index = data['index'];
  if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index > message.content.length)
    return message;
  const content = [...message.content];
  const block = content[index];
  content[index] = change(isJsonObject(block) ? block : {});
  return { ...message, content };
}

function parseData(data: string): JsonObject {
  try {
    const value: unknown = JSON.parse(data);
    if (isJsonObject(value)) return value;
  } catch {
    // Told below, as for any other data that is no object.
  }
  throw new ClientError({ kind: 'malformed' }, 'The daemon sent an event that is not JSON.');
}

function objectAt(holder: JsonObject, name: string): JsonObject {
  const value = holder[name];
  return isJsonObject(value) ? value : {};
}

function stringAt(holder: JsonObject, name: string): string {
  const value = holder[name];
  return typeof value === 'string' ? value : '';
}
