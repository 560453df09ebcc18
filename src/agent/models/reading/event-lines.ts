// Parses server-sent events of model servers from bytes, within a size limit.
// Not with eventsource-parser: it drops the unknown field `error` when the network splits its line.
import { StringDecoder } from 'node:string_decoder';

export interface ServerEvent {
  /** Empty when the server sent none. */
  readonly name: string;
  readonly data: string;
}

export interface EventLines {
  /** Takes the next bytes. Returns false, and is unusable from then on, once an event is larger than the limit. */
  take(chunk: Buffer): boolean;
  /** No bytes follow: an event without the empty line at its end is complete. */
  end(): void;
}

const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const BYTE_ORDER_MARK = 0xfeff;

/**
 * Calls `onEvent` for each event with data, in order. `maxSize` is for one event with all its lines, in UTF-16 units. A chunk
 * is decoded once, and its lines are cut from it without copies.
 */
export function makeEventLines(maxSize: number, onEvent: (event: ServerEvent) => void): EventLines {
  const decoder = new StringDecoder('utf8');
  let isFirst = true;
  /** The line that has no end yet. */
  let rest = '';
  /** Of the event's complete lines. */
  let size = 0;
  let name = '';
  let data: string | null = null;

  const endEvent = () => {
    const whole = data;
    const event = { name, data: whole ?? '' };
    name = '';
    data = null;
    size = 0;
    if (whole !== null) onEvent(event);
  };
  const addData = (value: string) => {
    data = data === null ? value : `${data}\n${value}`;
  };
  const takeLine = (line: string) => {
    if (line === '') return endEvent();
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line.charCodeAt(colon + 1) === SPACE ? colon + 2 : colon + 1);
    if (field === 'data') addData(value);
    else if (field === 'event') name = value;
    else if (field === 'error') {
      // Some servers name the field after its content.
      name = 'error';
      addData(value);
    }
  };
  const takeText = (text: string) => {
    let from = 0;
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', from)) {
      size += rest.length + at - from;
      if (size > maxSize) return false;
      const line = rest + text.slice(from, at);
      rest = '';
      from = at + 1;
      takeLine(line.charCodeAt(line.length - 1) === CARRIAGE_RETURN ? line.slice(0, -1) : line);
    }
    if (from < text.length) rest += text.slice(from);
    return size + rest.length <= maxSize;
  };
  return {
    take: (chunk) => {
      let text = decoder.write(chunk);
      if (isFirst && text !== '') {
        isFirst = false;
        if (text.charCodeAt(0) === BYTE_ORDER_MARK) text = text.slice(1);
      }
      return takeText(text);
    },
    end: () => {
      takeText(`${decoder.end()}\n\n`);
    },
  };
}
