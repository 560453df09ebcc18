// The Messages protocol of Anthropic, as it and gateways to it speak it.
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts';
import { remember } from '../../domain/remember.ts';
import type { Usage } from '../../domain/sessions/usage.ts';
import type { Ending, TakeEvent } from './event.ts';
import type { FilePart, MessagePart, ModelMessage, ModelTool, Prompt } from './message.ts';
import { acceptedName, cutReply, type Meter, type Protocol, type ReplyReader, textIn } from './protocol.ts';
import { sentReplySchema, sentToolSchema } from './sent-schema.ts';
import { countIn, withoutGaps } from './server-quirks.ts';

export const ANTHROPIC_VERSION = '2023-06-01';

const ENDINGS: Readonly<Record<string, Ending>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  stop: 'stop',
  tool_use: 'tool-calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'content-filter',
  // Gateways to Bedrock.
  guardrail_intervened: 'content-filter',
  content_filtered: 'content-filter',
  // Gateways that translate from the other protocol.
  tool_calls: 'tool-calls',
  length: 'length',
  content_filter: 'content-filter',
};

/** Asks the server to keep the prompt up to the block that has it, for the next call. */
const CACHED = { cache_control: { type: 'ephemeral' } } as const;
/** Messages of the user that get the mark: where the last call ended, and where this one does. */
const CACHED_MESSAGES = 2;
const CACHE_FIELD = 'cache_control';

export const ANTHROPIC_MESSAGES: Protocol = {
  path: '/messages',
  // An administrator who sets the field decides what is cached.
  bodyOf: ({ model, extras }, prompt) => bodyOf(model, prompt, !Object.hasOwn(extras.extraBody, CACHE_FIELD)),
  // Servers without keys of their own still expect the header.
  headersOf: (apiKey) => ({ 'anthropic-version': ANTHROPIC_VERSION, 'x-api-key': apiKey ?? 'none' }),
  openReply,
};

function bodyOf(
  model: string,
  { instructions, messages, tools, maxOutputTokens, replySchema }: Prompt,
  isCached: boolean,
): JsonObject {
  const turns = turnsOf(messages);
  if (isCached) for (const turn of turns.filter(({ role }) => role === 'user').slice(-CACHED_MESSAGES)) mark(turn);
  return {
    model,
    max_tokens: maxOutputTokens,
    // The mark of the instructions covers the tools, which come before them.
    system: [{ type: 'text', text: instructions, ...(isCached && CACHED) }],
    messages: turns.map(({ role, content }) => ({ role, content })),
    ...(tools.length > 0 && {
      tools: toolsOf(tools),
      // Earlier calls are refused without their tools.
      tool_choice: { type: replySchema === undefined ? 'auto' : 'none' },
    }),
    ...(replySchema !== undefined && {
      output_config: { format: { type: 'json_schema', schema: sentReplySchema(replySchema) } },
    }),
    stream: true,
  };
}

const toolsOf = remember((tools: readonly ModelTool[]): JsonObject[] =>
  tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: sentToolSchema(inputSchema) })),
);

interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: JsonObject[];
}

/** The messages as turns that alternate: results of tools are the user's. */
function turnsOf(messages: readonly ModelMessage[]): Turn[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content = blocksOf(message);
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...content);
    else turns.push({ role, content });
  }
  return turns;
}

function mark({ content }: Turn): void {
  const last = content.at(-1);
  if (last !== undefined) content[content.length - 1] = { ...last, ...CACHED };
}

/** A message without blocks would be refused, and a reply that ends with thinking. */
function blocksOf({ parts }: ModelMessage): JsonObject[] {
  const blocks = parts.flatMap((part) => BLOCKS[part.type](part as never));
  const last = blocks.at(-1);
  return last === undefined || THOUGHTS.has(last['type']) ? [...blocks, { type: 'text', text: '(no text)' }] : blocks;
}

const THOUGHTS: ReadonlySet<JsonValue | undefined> = new Set(['thinking', 'redacted_thinking']);

const BLOCKS: { readonly [T in MessagePart['type']]: (part: Extract<MessagePart, { type: T }>) => JsonObject[] } = {
  // Texts without a visible character are refused.
  text: ({ text }) => (text.trim() === '' ? [] : [{ type: 'text', text }]),
  file: (part) => [fileOf(part)],
  thinking: ({ text, proof }) => thoughtOf(text, proof),
  call: ({ id, name, input }) => [{ type: 'tool_use', id: idOf(id), name: acceptedName(name), input }],
  result: ({ id, output, ok }) => [
    { type: 'tool_result', tool_use_id: idOf(id), content: output, ...(!ok && { is_error: true }) },
  ],
};

function fileOf({ mediaType, data, name }: FilePart): JsonObject {
  const source = { type: 'base64', media_type: mediaType, data };
  if (mediaType.startsWith('image/')) return { type: 'image', source };
  return { type: 'document', source, ...(name !== undefined && { title: name }) };
}

/** Thinking without its server's proof would be refused. */
function thoughtOf(text: string, proof: JsonObject | undefined): JsonObject[] {
  if (typeof proof?.['signature'] === 'string')
    return [{ type: 'thinking', thinking: text, signature: proof['signature'] }];
  return typeof proof?.['data'] === 'string' ? [{ type: 'redacted_thinking', data: proof['data'] }] : [];
}

/** Calls that a server of the other protocol made may have ids that are refused here. */
const idOf = (id: string) => id.replace(/[^\w-]/g, '_');

type Index = JsonValue | undefined;

/** The blocks of a reply: the index of the newest one, and the number of each call by the index of its block. */
interface OpenBlocks {
  newest: Index;
  calls: number;
  readonly callOf: Map<Index, number>;
}

function openReply(take: TakeEvent, meter: Meter): ReplyReader {
  let finish: string | null = null;
  let isOver = false;
  const counts: Record<string, number> = {};
  const blocks: OpenBlocks = { newest: undefined, calls: 0, callOf: new Map() };

  const readers: Readonly<Record<string, (event: JsonObject) => void>> = {
    message_start: ({ message, usage }) => {
      // vLLM has its counts beside the message.
      readUsage(isJsonObject(message) ? (message['usage'] ?? usage) : usage, counts, take);
    },
    content_block_start: ({ index, content_block: block }) => {
      meter(block);
      blocks.newest = index;
      if (isJsonObject(block)) startBlock(block, blocks, take);
    },
    content_block_delta: ({ index, delta }) => {
      meter(delta);
      if (isJsonObject(delta)) readDelta(delta, index, blocks, take);
    },
    content_block_stop: () => take({ type: 'block-end' }),
    message_delta: ({ delta, usage }) => {
      if (isJsonObject(delta)) finish = textIn(delta['stop_reason']) || finish;
      readUsage(usage, counts, take);
    },
    message_stop: () => {
      isOver = true;
    },
  };
  return {
    read: (event) => {
      const type = textIn(event['type']);
      if (Object.hasOwn(readers, type)) readers[type]!(event);
      return isOver;
    },
    isWhole: () => false,
    hasAllContent: () => false,
    end: () => {
      const word = (finish ?? '').toLowerCase();
      if (!isOver || !Object.hasOwn(ENDINGS, word)) throw cutReply(finish);
      take({ type: 'finish', ending: ENDINGS[word]! });
    },
  };
}

function startBlock(
  { type, id, name, input, text, thinking, signature, data }: JsonObject,
  blocks: OpenBlocks,
  take: TakeEvent,
): void {
  if (type === 'tool_use') {
    const call = blocks.calls;
    blocks.calls += 1;
    blocks.callOf.set(blocks.newest, call);
    take({ type: 'call-start', call, id: textIn(id), name: textIn(name) });
    // Gateways that don't stream arguments send them here.
    if (isJsonObject(input) && Object.keys(input).length > 0)
      take({ type: 'call-delta', call, json: JSON.stringify(input) });
  }
  if (type === 'text' && textIn(text) !== '') take({ type: 'text', text: textIn(text) });
  if (type === 'thinking' && textIn(thinking) !== '') take({ type: 'thinking', text: textIn(thinking) });
  if (type === 'thinking' && textIn(signature) !== '') take({ type: 'proof', proof: { signature: textIn(signature) } });
  if (type === 'redacted_thinking') take({ type: 'proof', proof: { data: textIn(data) } });
}

function readDelta(
  { type, text, thinking, signature, partial_json: json }: JsonObject,
  index: Index,
  { newest, callOf }: OpenBlocks,
  take: TakeEvent,
): void {
  const call = callOf.get(index);
  if (type === 'text_delta') {
    if (textIn(text) !== '') take({ type: 'text', text: textIn(text) });
  } else if (type === 'thinking_delta') {
    if (textIn(thinking) !== '') take({ type: 'thinking', text: textIn(thinking) });
  } else if (type === 'signature_delta') {
    // llama.cpp signs its thinking when all other blocks are complete.
    if (typeof signature === 'string') take({ type: 'proof', proof: { signature }, isLate: index !== newest });
  } else if (type === 'input_json_delta' && call !== undefined && textIn(json) !== '') {
    take({ type: 'call-delta', call, json: textIn(json) });
  }
}

/** Counts are cumulative, and some servers send zeros first, or last. */
function readUsage(usage: JsonValue | undefined, counts: Record<string, number>, take: TakeEvent): void {
  if (!isJsonObject(usage)) return;
  for (const name of COUNTED) counts[name] = countIn(usage, name) || counts[name] || 0;
  const { input_tokens: fresh = 0, output_tokens: output = 0 } = counts;
  const { cache_read_input_tokens: read = 0, cache_creation_input_tokens: written = 0 } = counts;
  const known: Usage = {
    inputTokens: fresh + read + written,
    outputTokens: output,
    cacheReadTokens: read,
    cacheWriteTokens: written,
  };
  take({ type: 'usage', usage: withoutGaps(known) });
}

const COUNTED = ['input_tokens', 'output_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'];
