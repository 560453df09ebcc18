// Reads server-sent events from bytes, whatever way the network cuts them.
import { ClientError } from './client-error.ts';

/** One event. `id` is the last one seen on the stream, null before the first. */
export interface ServerEvent {
  readonly id: string | null;
  readonly event: string;
  readonly data: string;
}

const MAX_EVENT_CHARACTERS = 64 * 1024 * 1024;

/**
 * Yields the events of a `text/event-stream`. Line ends may be CR, LF or CRLF, also split between chunks; comments
 * and events without data are skipped. An event that the end of the stream cuts off is not yielded.
 * Throws `malformed` when one event is over 64 M characters.
 */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent, void, undefined> {
  const state: EventState = { id: null, event: '', data: [], size: 0 };
  for await (const line of readLines(chunks)) {
    if (line !== '') {
      takeField(state, line);
      continue;
    }
    if (state.data.length > 0) yield { id: state.id, event: state.event || 'message', data: state.data.join('\n') };
    state.event = '';
    state.data = [];
    state.size = 0;
  }
}

interface EventState {
  id: string | null;
  event: string;
  data: string[];
  size: number;
}

function takeField(state: EventState, line: string): void {
  const colon = line.indexOf(':');
  const name = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
  if (name === 'event') state.event = value;
  if (name === 'id' && !value.includes('\0')) state.id = value;
  if (name !== 'data') return;
  state.data.push(value);
  state.size += value.length;
  if (state.size > MAX_EVENT_CHARACTERS) throw tooLarge();
}

async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8');
  let parts: string[] = [];
  let size = 0;
  let afterReturn = false;
  for await (const chunk of chunks) {
    let text = decoder.decode(chunk, { stream: true });
    if (text === '') continue;
    // The LF of a CRLF whose CR ended the chunk before.
    if (afterReturn && text.startsWith('\n')) text = text.slice(1);
    afterReturn = text === '' ? false : text.endsWith('\r');
    const lines = text.split(/\r\n|\n|\r/);
    const rest = lines.pop() ?? '';
    for (const line of lines) {
      parts.push(line);
      yield parts.join('');
      parts = [];
      size = 0;
    }
    parts.push(rest);
    size += rest.length;
    if (size > MAX_EVENT_CHARACTERS) throw tooLarge();
  }
}

function tooLarge(): ClientError {
  return new ClientError({ kind: 'malformed' }, 'The daemon sent an event of more than 64 million characters.');
}
