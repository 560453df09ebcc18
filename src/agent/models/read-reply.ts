// From the bytes of a response to the events of a reply, within its limit.
import { isJsonObject, type JsonValue } from '../../domain/json.ts';
import type { TakeEvent } from './event.ts';
import { makeEventLines, type ServerEvent } from './reading/event-lines.ts';
import { makeMeter, type Protocol } from './protocol.ts';
import { faultOfEvent, UpstreamFault } from './upstream-fault.ts';

/** Reads one response. Both throw UpstreamFault, and the reader is unusable from then on. */
export interface ByteReader {
  /** Returns true once the reply is complete: ignore what follows. */
  take(chunk: Buffer): boolean;
  /** Whether the reply is complete if no bytes follow. */
  isWhole(): boolean;
  /** Whether its server has said so, too: see `ReplyReader`. */
  hasAllContent(): boolean;
  /** No bytes follow. A reply that is incomplete by now was cut off. */
  end(): void;
}

/** The data that ends a stream of chat completions; gateways send it in the other protocol too, and as JSON. */
const END_MARK = '[DONE]';
const QUOTED_END_MARK = '"[DONE]"';

/** `maxBytes`: text, thinking and tool calls of a reply together; also the limit of one event. */
export function makeByteReader(protocol: Protocol, maxBytes: number, take: TakeEvent): ByteReader {
  const reader = protocol.openReply(take, makeMeter(maxBytes));
  let isOver = false;
  let isMarked = false;
  const onEvent = ({ name, data }: ServerEvent) => {
    const said = data.trim();
    // Of some servers, the data of a sign of life is a date.
    if (isOver || said === '' || said === 'null' || name === 'ping') return;
    if (said === END_MARK || said === QUOTED_END_MARK) {
      [isOver, isMarked] = [true, true];
      return;
    }
    const value = parse(said) ?? wordsOf(said, name);
    const fault = value === null ? null : faultOfEvent(value, name);
    if (fault !== null) throw fault;
    if (isJsonObject(value)) isOver = reader.read(value);
    // A gateway's own word for the end.
    else if (!reader.isWhole()) throw new UpstreamFault('protocol', 'An event is not a JSON object.');
  };
  const lines = makeEventLines(maxBytes, onEvent);
  return {
    take: (chunk) => {
      if (!lines.take(chunk)) throw new UpstreamFault('reply_too_large', `More than ${maxBytes} bytes.`);
      if (isOver) reader.end(isMarked);
      return isOver;
    },
    isWhole: () => reader.isWhole(),
    hasAllContent: () => reader.hasAllContent(),
    end: () => {
      // Some servers omit the empty line after the last event.
      lines.end();
      reader.end(isMarked);
    },
  };
}

/** `transformers serve` puts the words of an error between quotes as they are. */
const ERROR_IN_WORDS = /^\{\s*"error"\s*:/;

/** Null for what isn't JSON. */
function parse(data: string): JsonValue {
  try {
    return JSON.parse(data) as JsonValue;
  } catch {
    return null;
  }
}

/** An error that a server reports in words; null for anything else. */
function wordsOf(data: string, name: string): JsonValue {
  return name === 'error' || ERROR_IN_WORDS.test(data) ? { error: data } : null;
}
