// Reads server-sent events from bytes, however the network cuts them.
import { createParser } from 'eventsource-parser';
import { ClientError } from './client-error.ts';

/** One event. `id` is the last one seen on the stream, null before the first. */
export interface ServerEvent {
  readonly id: string | null;
  readonly event: string;
  readonly data: string;
}

/** A stream that was opened: its bytes, what an error among them means, and how it is left. */
export interface OpenedStream {
  readonly chunks: AsyncIterable<Uint8Array>;
  readonly lost: (error: unknown) => Error;
  readonly close: () => void;
}

/** Opens a stream after an event. Throws ClientError. */
export type OpenStream = (lastEventId: string | null, signal: AbortSignal | undefined) => Promise<OpenedStream>;

const MAX_EVENT_CHARACTERS = 64 * 1024 * 1024;

/**
 * Yields the events of a `text/event-stream`. An event that the end of the stream cuts off is not yielded.
 * Throws `malformed` as soon as what has arrived of one event is longer than `maxCharacters`.
 */
export async function* readEvents(
  chunks: AsyncIterable<Uint8Array>,
  maxCharacters: number = MAX_EVENT_CHARACTERS,
): AsyncGenerator<ServerEvent, void, undefined> {
  const decoder = new TextDecoder('utf-8');
  const events: ServerEvent[] = [];
  let lastId: string | null = null;
  let isTooLarge = false;
  const parser = createParser({
    maxBufferSize: maxCharacters,
    onId: (id) => {
      lastId = id;
    },
    onEvent: ({ event = 'message', data }) => events.push({ id: lastId, event, data }),
    // Unknown fields are not errors: a later daemon may send them.
    onError: ({ type }) => {
      isTooLarge ||= type === 'max-buffer-size-exceeded';
    },
  });
  for await (const chunk of chunks) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* events.splice(0);
    if (isTooLarge) throw tooLarge(maxCharacters);
  }
}

function tooLarge(maxCharacters: number): ClientError {
  return new ClientError({ kind: 'malformed' }, `The daemon sent an event of more than ${maxCharacters} characters.`);
}
