// Reads a stream of server-sent events as its bytes come, for looking at exactly what a server sent.

/** One block of the stream, or one comment line. A field that the server did not send is null. */
export interface SseEvent {
  readonly id: string | null;
  readonly event: string | null;
  /** Lines of `data` joined by line breaks. */
  readonly data: string | null;
  readonly comment: string | null;
}

export interface SseParser {
  /** Takes the next bytes, cut anywhere, and answers the events they complete. */
  push(bytes: Uint8Array | string): SseEvent[];
  /** The beginning of an event whose closing blank line has not arrived; null when the stream ended cleanly. */
  rest(): string | null;
}

interface Block {
  id: string | null;
  event: string | null;
  data: string[] | null;
}

const emptyBlock = (): Block => ({ id: null, event: null, data: null });

/** Makes a parser for one stream. Lines may end in LF, CR or CRLF; characters may be cut between pushes. */
export function makeSseParser(): SseParser {
  const decoder = new TextDecoder();
  let line = '';
  let block = emptyBlock();
  let afterReturn = false;

  const takeLine = (events: SseEvent[]): void => {
    const text = line;
    line = '';
    if (text !== '') takeField(text, block, events);
    else if (block.id !== null || block.event !== null || block.data !== null) {
      events.push({ id: block.id, event: block.event, data: block.data?.join('\n') ?? null, comment: null });
      block = emptyBlock();
    }
  };

  return {
    push(bytes) {
      const text = typeof bytes === 'string' ? bytes : decoder.decode(bytes, { stream: true });
      const events: SseEvent[] = [];
      let from = 0;
      for (let i = 0; i < text.length; i += 1) {
        const code = text.charCodeAt(i);
        if (code === 10 && afterReturn) from = i + 1;
        else if (code === 10 || code === 13) {
          line += text.slice(from, i);
          from = i + 1;
          takeLine(events);
        }
        afterReturn = code === 13;
      }
      line += text.slice(from);
      return events;
    },
    rest() {
      const open = [block.id, block.event, block.data?.join('\n'), line === '' ? null : line];
      const parts = open.filter((part) => part !== null && part !== undefined);
      return parts.length === 0 ? null : parts.join('\n');
    },
  };
}

function takeField(line: string, block: Block, events: SseEvent[]): void {
  const colon = line.indexOf(':');
  const name = colon < 0 ? line : line.slice(0, colon);
  const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
  if (colon === 0) events.push({ id: null, event: null, data: null, comment: value });
  else if (name === 'id') block.id = value;
  else if (name === 'event') block.event = value;
  else if (name === 'data') (block.data ??= []).push(value);
}

/** Reads events from a response body until it ends; a stream that ends within an event throws. */
export async function* readSse(body: AsyncIterable<Uint8Array>): AsyncGenerator<SseEvent> {
  const parser = makeSseParser();
  for await (const bytes of body) yield* parser.push(bytes);
  const rest = parser.rest();
  if (rest !== null) throw new Error(`The stream ended within an event: ${rest}`);
}

/** Reads a whole stream of events. */
export async function collectSse(body: AsyncIterable<Uint8Array>): Promise<SseEvent[]> {
  const events: SseEvent[] = [];
  for await (const event of readSse(body)) events.push(event);
  return events;
}
