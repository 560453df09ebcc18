// Parses server-sent events of model servers from bytes, within a size limit.
// Not with eventsource-parser: it drops the unknown field `error` when the network splits its line.

export interface ServerEvent {
  /** Empty when the server sent none. */
  readonly name: string;
  readonly data: string;
}

export interface EventLines {
  /** Takes the next bytes. Returns false, and is unusable from then on, once an event is larger than the limit. */
  take(chunk: Buffer): boolean;
}

const LINE_FEED = 0x0a;

/**
 * Calls `onEvent` for each event with data, in order, until it returns false. `maxBytes` is for one event with all its lines.
 */
export function makeEventLines(maxBytes: number, onEvent: (event: ServerEvent) => void): EventLines {
  let pieces: Buffer[] = [];
  let lineBytes = 0;
  let eventBytes = 0;
  let name = '';
  let data: string[] = [];

  const endEvent = () => {
    const event = { name, data: data.join('\n') };
    const hasData = data.length > 0;
    name = '';
    data = [];
    eventBytes = 0;
    if (hasData) onEvent(event);
  };
  const fields: Readonly<Record<string, (value: string) => void>> = {
    data: (value) => data.push(value),
    event: (value) => {
      name = value;
    },
    // Some servers name the field after its content.
    error: (value) => {
      name = 'error';
      data.push(value);
    },
  };
  const takeLine = (line: string) => {
    if (line === '') return endEvent();
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    if (Object.hasOwn(fields, field)) fields[field]!(line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1)));
  };
  return {
    take: (chunk) => {
      let from = 0;
      for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, from)) {
        eventBytes += lineBytes + at - from;
        if (eventBytes > maxBytes) return false;
        const line = Buffer.concat([...pieces, chunk.subarray(from, at)]).toString('utf8');
        pieces = [];
        lineBytes = 0;
        from = at + 1;
        takeLine(line.endsWith('\r') ? line.slice(0, -1) : line);
      }
      lineBytes += chunk.length - from;
      if (eventBytes + lineBytes > maxBytes) return false;
      if (from < chunk.length) pieces.push(chunk.subarray(from));
      return true;
    },
  };
}
