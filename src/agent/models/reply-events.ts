// What the events of a model's stream say about its reply, in either protocol: its size, its end, its failure.
import { isJsonObject, type JsonObject, type JsonValue, MAX_JSON_DEPTH } from '../../domain/json.ts';
import type { EndpointKind } from '../../domain/capabilities/model.ts';
import { UpstreamFault } from './upstream-fault.ts';

/** How a complete reply ends. */
export type Ending = 'stop' | 'tool-calls' | 'length' | 'content-filter';

/** The facts of one event. */
export interface EventFacts {
  /** Bytes of text, reasoning and tool calls. */
  readonly bytes: number;
  /** The server's own word for why the model stopped; null when it does not say yet. */
  readonly finish: string | null;
  /** Nothing relevant follows. */
  readonly isLast: boolean;
}

export interface ReplyProtocol {
  /** The data of the event that ends a stream and is not JSON; null when the protocol has none. */
  readonly endMark: string | null;
  /** Whether a reply is complete only after its last event. */
  readonly needsLast: boolean;
  /** Throws UpstreamFault for an event that nests too deep. */
  read(event: JsonObject): EventFacts;
  /** Known endings by the servers' words, in lower case. With any other word, a reply counts as incomplete. */
  readonly endings: Readonly<Record<string, Ending>>;
}

const openai: ReplyProtocol = {
  endMark: '[DONE]',
  // Gateways omit the mark; the finish reason is what counts.
  needsLast: false,
  read: ({ choices }) => {
    const all = Array.isArray(choices) ? choices.filter(isJsonObject) : [];
    const finish = all[0]?.['finish_reason'];
    return {
      bytes: all.reduce((sum, choice) => sum + weigh(choice['delta']), 0),
      finish: typeof finish === 'string' && finish !== '' ? finish : null,
      isLast: false,
    };
  },
  endings: {
    stop: 'stop',
    // Text Generation Inference, Together, xAI, and gateways in front of Anthropic and Google.
    eos: 'stop',
    eos_token: 'stop',
    stop_sequence: 'stop',
    end_turn: 'stop',
    length: 'length',
    max_tokens: 'length',
    model_length: 'length',
    tool_calls: 'tool-calls',
    function_call: 'tool-calls',
    tool_use: 'tool-calls',
    content_filter: 'content-filter',
    sensitive: 'content-filter',
    safety: 'content-filter',
    refusal: 'content-filter',
  },
};

const anthropic: ReplyProtocol = {
  endMark: null,
  needsLast: true,
  read: ({ type, content_block: block, delta }) => {
    const finish = type === 'message_delta' && isJsonObject(delta) ? delta['stop_reason'] : null;
    return {
      bytes: type === 'message_delta' ? 0 : weigh(block) + weigh(delta),
      finish: typeof finish === 'string' ? finish : null,
      isLast: type === 'message_stop',
    };
  },
  endings: {
    end_turn: 'stop',
    stop_sequence: 'stop',
    pause_turn: 'stop',
    stop: 'stop',
    tool_use: 'tool-calls',
    max_tokens: 'length',
    model_context_window_exceeded: 'length',
    refusal: 'content-filter',
  },
};

/** The protocols that are used over a network. */
export const REPLY_PROTOCOLS: Readonly<Record<Exclude<EndpointKind, 'offline'>, ReplyProtocol>> = { openai, anthropic };

/** Bytes to store a value: its texts, and a little for each container. */
function weigh(value: JsonValue | undefined, depth = 0): number {
  if (depth > MAX_JSON_DEPTH)
    throw new UpstreamFault('protocol', `An event nests deeper than ${MAX_JSON_DEPTH} levels.`);
  if (typeof value === 'string') return Buffer.byteLength(value);
  if (typeof value !== 'object' || value === null) return 0;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + 1 + weigh(item, depth + 1), 0);
  return Object.entries(value).reduce(
    (sum, [name, item]) => sum + 1 + (name === 'type' || name === 'role' ? 0 : weigh(item, depth + 1)),
    0,
  );
}
