// Observes the bytes of one model call as they arrive: counts the reply before it is buffered, and records its end and its
// failures.
import { AsyncLocalStorage } from 'node:async_hooks';
import { isJsonObject, type JsonValue } from '../../domain/json.ts';
import { type EventLines, makeEventLines, type ServerEvent } from './event-lines.ts';
import type { Ending, ReplyProtocol } from './reply-events.ts';
import { faultOfEvent, UpstreamFault } from './upstream-fault.ts';

/** What was observed of a reply. */
export interface ReplyObservation {
  /** Text, reasoning and tool calls of a reply together; also the limit of one event. */
  readonly maxReplyBytes: number;
  /** Called when the request was sent, and when bytes of the reply are processed. */
  readonly waits: (isWaiting: boolean) => void;
  /** Bytes of the reply so far: text, reasoning and tool calls; 0 for the offline engine. */
  bytes: number;
  /** What went wrong, in the bytes or before them. It takes precedence over whatever was parsed from the stream. */
  fault: UpstreamFault | null;
  /** How the reply ended; null while it has not, and for the offline engine. */
  ending: Ending | null;
}

/** `more`: continue. `last`: the reply is complete. `fault`: ignore what follows. `surplus`: ignore these bytes, too. */
type Verdict = 'more' | 'last' | 'fault' | 'surplus';

/** Observes the bytes of one response. */
export interface Listener {
  take(chunk: Buffer): Verdict;
  /** No bytes follow. A reply that is incomplete by now was cut off. */
  end(): void;
}

/** The observation of the current call: the library that calls our fetch passes nothing through. */
export const currentObservation = new AsyncLocalStorage<ReplyObservation>();

/** An observation that has seen nothing yet. */
export function openObservation(maxReplyBytes: number, waits: ReplyObservation['waits']): ReplyObservation {
  return { maxReplyBytes, waits, bytes: 0, fault: null, ending: null };
}

/** Observes the stream of a call. Never throws: failures are recorded in the observation. */
export function observeReply(observation: ReplyObservation, protocol: ReplyProtocol): Listener {
  let finish: string | null = null;
  let isLast = false;

  const tooLarge = () => new UpstreamFault('reply_too_large', `More than ${observation.maxReplyBytes} bytes.`);
  const onEvent = ({ name, data }: ServerEvent) => {
    if (observation.fault !== null || isLast) return;
    if (data === protocol.endMark) {
      isLast = true;
      return;
    }
    const value = parse(data);
    observation.fault = faultOfEvent(value, name);
    if (observation.fault !== null || !isJsonObject(value)) return;
    const facts = protocol.read(value);
    observation.bytes += facts.bytes;
    finish = facts.finish ?? finish;
    isLast = facts.isLast;
    if (observation.bytes > observation.maxReplyBytes) observation.fault = tooLarge();
  };
  const lines: EventLines = makeEventLines(observation.maxReplyBytes, onEvent);

  const conclude = () => {
    const word = (finish ?? '').toLowerCase();
    observation.ending = Object.hasOwn(protocol.endings, word) ? protocol.endings[word]! : null;
    if (observation.ending !== null && (isLast || !protocol.needsLast)) return;
    const said =
      finish === null ? 'The stream ended without an end.' : `The reason to finish was ${JSON.stringify(finish)}.`;
    observation.fault ??= new UpstreamFault('cut', said);
  };
  const observe = (chunk: Buffer) => {
    try {
      if (!lines.take(chunk)) observation.fault ??= tooLarge();
    } catch (error) {
      if (!(error instanceof UpstreamFault)) throw error;
      observation.fault ??= error;
    }
  };
  return {
    take: (chunk) => {
      observation.waits(false);
      observe(chunk);
      if (observation.fault !== null) return observation.fault.kind === 'reply_too_large' ? 'surplus' : 'fault';
      if (!isLast) return 'more';
      conclude();
      return 'last';
    },
    end: () => {
      // Some servers omit the empty line after the last event.
      observe(Buffer.from('\n\n'));
      if (observation.fault === null) conclude();
    },
  };
}

/** Invalid JSON is left to the protocol's reader, which reports it. */
function parse(data: string): JsonValue {
  try {
    return JSON.parse(data) as JsonValue;
  } catch {
    return null;
  }
}
