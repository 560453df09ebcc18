// The Messages protocol as the client speaks it: the stream's events, and the message they add up to.
import { isJsonObject, type JsonValue } from '../../domain/json.ts';
import type { MessageWire, UsageWire } from '../../wire/messages/message.ts';
import type { MessagesStreamEvent } from '../../wire/messages/stream-event.ts';
import { ClientError, type FailureTrace } from '../transport/client-error.ts';
import type { ServerEvent } from '../transport/event-stream.ts';

/** An event of a run that has not failed. */
export type ConversationEvent = Exclude<MessagesStreamEvent, { readonly type: 'error' | 'ping' }>;

type Block = MessageWire['content'][number];

/** The part of a message that has arrived; a complete one has every field. */
export type PartialMessage = Partial<Omit<MessageWire, 'content' | 'usage'>> & {
  readonly content: readonly Block[];
  readonly usage?: Partial<UsageWire>;
};

/** The text blocks of a message, a line break between them. */
export function textOfMessage({ content }: PartialMessage): string {
  const texts = content.map((block) => (block.type === 'text' ? block.text : ''));
  return texts.filter((text) => text !== '').join('\n');
}

/** The message of a reply's body. Throws `malformed`. */
export function readMessage(body: JsonValue): MessageWire {
  if (isJsonObject(body) && Array.isArray(body['content'])) return body as unknown as MessageWire;
  throw new ClientError({ kind: 'malformed' }, 'The daemon answered something that is not a message.');
}

/**
 * Reads one event of the stream; a ping gives undefined. Throws `failed` for an `error` event, `malformed` when the data is
 * no JSON object.
 */
export function readConversationEvent({ data }: ServerEvent, trace: FailureTrace): ConversationEvent | undefined {
  const event = parseData(data);
  if (event.type !== 'error') return event.type === 'ping' ? undefined : event;
  const { type, message } = event.error;
  throw new ClientError({ kind: 'failed', type }, message, { trace });
}

function parseData(data: string): MessagesStreamEvent {
  try {
    const value: unknown = JSON.parse(data);
    if (isJsonObject(value)) return value as unknown as MessagesStreamEvent;
  } catch {
    // Reported below, like any other data that isn't an object.
  }
  throw new ClientError({ kind: 'malformed' }, 'The daemon sent an event that is not JSON.');
}

/** What a piece of an answer says. This client forces no tools, so it gets no others. */
export function textOfDelta({ delta }: Extract<ConversationEvent, { readonly type: 'content_block_delta' }>): string {
  return delta.type === 'text_delta' ? delta.text : '';
}

/** Adds an event to the message it belongs to, so that the whole stream gives what one reply would have. */
export function addToMessage(message: PartialMessage, event: ConversationEvent): PartialMessage {
  switch (event.type) {
    case 'message_start':
      return { ...message, ...event.message, content: [] };
    case 'content_block_start':
      return withBlock(message, event.index, () => event.content_block);
    case 'content_block_delta':
      return withBlock(message, event.index, (text) => ({ type: 'text', text: text + textOfDelta(event) }));
    case 'message_delta':
      return { ...message, ...event.delta, usage: { ...message.usage, ...event.usage } };
    case 'result':
      return { ...message, structured_output: event.structured_output };
    default:
      return message;
  }
}

function withBlock(message: PartialMessage, index: number, change: (text: string) => Block): PartialMessage {
  // Blocks come in order: any other index would leave a hole.
  if (index > message.content.length) return message;
  const content = [...message.content];
  const block = content[index];
  content[index] = change(block?.type === 'text' ? block.text : '');
  return { ...message, content };
}
