// From the bytes of a response to the events of a reply, within its limit.
import { isJsonObject, type JsonValue } from '../../domain/json.ts';
import type { TakeEvent } from './event.ts';
import { makeEventLines, type ServerEvent } from './event-lines.ts';
import { makeMeter, type Protocol } from './protocol.ts';
import { faultOfEvent, UpstreamFault } from './upstream-fault.ts';

/** Reads one response. Both throw UpstreamFault, and the reader is unusable from then on. */
export interface ByteReader {
  /** Returns true once the reply is complete: ignore what follows. */
  take(chunk: Buffer): boolean;
  /** Whether the reply is complete if no bytes follow. */
  isWhole(): boolean;
  /** No bytes follow. A reply that is incomplete by now was cut off. */
  end(): void;
}

/** The data that ends a stream of chat completions; gateways send it in the other protocol too. */
const END_MARK = '[DONE]';

/** `maxBytes`: text, thinking and tool calls of a reply together; also the limit of one event. */
export function makeByteReader(protocol: Protocol, maxBytes: number, take: TakeEvent): ByteReader {
  const reader = protocol.openReply(take, makeMeter(maxBytes));
  let isOver = false;
  const onEvent = ({ name, data }: ServerEvent) => {
    // Of some servers, the data of a sign of life is a date.
    if (isOver || data === '' || name === 'ping') return;
    if (data === END_MARK) {
      isOver = true;
      return;
    }
    const value = parse(data);
    const fault = faultOfEvent(value, name);
    if (fault !== null) throw fault;
    if (!isJsonObject(value)) throw new UpstreamFault('protocol', 'An event is not a JSON object.');
    isOver = reader.read(value);
  };
  const lines = makeEventLines(maxBytes, onEvent);
  return {
    take: (chunk) => {
      if (!lines.take(chunk)) throw new UpstreamFault('reply_too_large', `More than ${maxBytes} bytes.`);
      if (isOver) reader.end();
      return isOver;
    },
    isWhole: () => reader.isWhole(),
    end: () => {
      // Some servers omit the empty line after the last event.
      lines.end();
      reader.end();
    },
  };
}

/** `transformers serve` puts the words of an error between quotes as they are. */
const ERROR_IN_WORDS = /^\{\s*"error"\s*:/;

function parse(data: string): JsonValue {
  try {
    return JSON.parse(data) as JsonValue;
  } catch {
    if (ERROR_IN_WORDS.test(data)) return { error: data };
    throw new UpstreamFault('protocol', 'An event is not JSON.');
  }
}
