// What a protocol is: how a prompt becomes a request, and how the events of the reply are read.
import { type JsonObject, type JsonValue, MAX_JSON_DEPTH } from '../../domain/json.ts';
import type { ModelGrant } from '../port/grants.ts';
import type { TakeEvent } from './event.ts';
import type { Prompt } from './message.ts';
import { UpstreamFault } from './upstream-fault.ts';

/** Reads the data of one reply's events, in order. */
export interface ReplyReader {
  /** Returns true after an event that nothing relevant follows. Throws UpstreamFault. */
  read(event: JsonObject): boolean;
  /** Whether the reply is complete if nothing follows. */
  isWhole(): boolean;
  /** Whether the server has said that only counts may follow. Some send a reason to finish with each piece of content. */
  hasAllContent(): boolean;
  /** Nothing follows. `isMarked`: the stream said so. Throws UpstreamFault when the reply is incomplete. */
  end(isMarked: boolean): void;
}

export interface Protocol {
  /** Follows the base address. */
  readonly path: string;
  /**
   * The body of a request before it has what the administrator configured for the endpoint. `extraBody`: what will replace fields
   * of it. The same list of tools is the same in all bodies.
   */
  bodyOf(grant: Pick<ModelGrant, 'model' | 'extras' | 'thinkingTags'>, prompt: Prompt): JsonObject;
  /** The protocol's own headers, with the key; null where the endpoint needs none. Names in lower case. */
  headersOf(apiKey: string | null): Record<string, string>;
  /** Opens the reader of a reply. `meter` is called with all that a reply consists of, before it is kept. */
  openReply(take: TakeEvent, meter: Meter): ReplyReader;
}

/** Counts a value towards the limit of a reply. Throws UpstreamFault beyond it. */
export type Meter = (value: JsonValue | undefined) => void;

/** Makes the meter of a reply: text, thinking and tool calls together. */
export function makeMeter(maxBytes: number): Meter {
  let bytes = 0;
  return (value) => {
    bytes += weigh(value, 0);
    if (bytes > maxBytes) throw new UpstreamFault('reply_too_large', `More than ${maxBytes} bytes.`);
  };
}

/** Parts of a reply, its calls, and items of a list that is kept: many more than models send, each of them tiny. */
const MAX_PARTS = 10_000;

/** Throws UpstreamFault when a reply has more parts than are kept, whatever their size. */
export function checkParts(count: number): void {
  if (count > MAX_PARTS) throw new UpstreamFault('protocol', `The reply has more than ${MAX_PARTS} parts.`);
}

/** Names of fields up to this length are in the little that each field counts. */
const SHORT_NAME = 32;

/** Bytes to store a value: its texts, and a little for each field and item. */
function weigh(value: JsonValue | undefined, depth: number): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return 0;
  if (depth > MAX_JSON_DEPTH)
    throw new UpstreamFault('protocol', `An event nests deeper than ${MAX_JSON_DEPTH} levels.`);
  let sum = 0;
  if (Array.isArray(value)) {
    for (const item of value) sum += 1 + weigh(item, depth + 1);
    return sum;
  }
  for (const name in value) {
    if (name.length > SHORT_NAME) sum += Buffer.byteLength(name);
    sum += 1 + (name === 'type' || name === 'role' ? 0 : weigh(value[name], depth + 1));
  }
  return sum;
}

/** The fault of a reply that ended before it was complete. `finish`: the server's word for its end, if it sent any. */
export function cutReply(finish: string | null): UpstreamFault {
  const said =
    finish === null ? 'The stream ended without an end.' : `The reason to finish was ${JSON.stringify(finish)}.`;
  return new UpstreamFault(UNREADABLE.test(finish ?? '') ? 'unreadable' : 'cut', said);
}

/** Google's word for a tool call that the model wrote wrongly. */
const UNREADABLE = /malformed_function_call/i;

/** A tool's name as every server accepts it: models invent others, and servers refuse a prompt that repeats them. */
export function acceptedName(name: string): string {
  return name.replace(/[^\w-]/g, '_').slice(0, 64) || 'unnamed';
}

/** A value if it is a text, else an empty one. */
export const textIn = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');
