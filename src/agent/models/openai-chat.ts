// The chat completions protocol of OpenAI, as it and many other servers speak it.
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts';
import { remember } from '../../domain/remember.ts';
import type { Ending, TakeEvent } from './event.ts';
import { makeKeptLists } from './reading/kept-lists.ts';
import type { ModelGrant } from '../port/grants.ts';
import type {
  AssistantMessage,
  FilePart,
  ModelMessage,
  ModelTool,
  Prompt,
  ThinkingPart,
  UserMessage,
} from './message.ts';
import { acceptedName, cutReply, type Meter, type Protocol, type ReplyReader, textIn } from './protocol.ts';
import { chatFormat, sentToolSchema } from './sent-schema.ts';
import { inTags } from './reading/thinking-tags.ts';
import { CHAT_ENDINGS, chatUsage, KEPT_LISTS, THINKING_FIELDS } from './server-quirks.ts';
import { makeCallDeltas } from './reading/call-deltas.ts';

/** The field in which thinking is sent back when its server named none: see `proof` of `ThinkingPart`. */
const [USUAL_FIELD] = THINKING_FIELDS;
/** The proof's own name of that field. Mistral's is `content`, whose parts have both texts. */
const FIELD = 'field';
/** Google's, of messages and calls: it has the proofs of thinking, and wants them back where they were. */
const EXTRA = 'extra_content';

export const OPENAI_CHAT: Protocol = {
  path: '/chat/completions',
  bodyOf,
  headersOf: (apiKey) => (apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
  openReply,
};

function bodyOf({ model, thinkingTags }: Pick<ModelGrant, 'model' | 'thinkingTags'>, prompt: Prompt): JsonObject {
  const { instructions, messages, tools, maxOutputTokens, replySchema } = prompt;
  return {
    model,
    max_tokens: maxOutputTokens,
    messages: [
      { role: 'system', content: instructions },
      ...messages.flatMap((message) => messageOf(message, thinkingTags)),
    ],
    // Servers take a format and tools together in different ways, if they take both.
    ...(replySchema !== undefined && { response_format: chatFormat(replySchema) }),
    ...(tools.length > 0 &&
      replySchema === undefined && {
        tools: toolsOf(tools),
        tool_choice: 'auto',
      }),
    stream: true,
    stream_options: { include_usage: true },
  };
}

const toolsOf = remember((tools: readonly ModelTool[]): JsonObject[] =>
  tools.map(({ name, description, inputSchema }) => ({
    type: 'function',
    function: { name, description, parameters: sentToolSchema(inputSchema) },
  })),
);

function messageOf(message: ModelMessage, thinkingTags: boolean): JsonObject[] {
  if (message.role === 'user') return [{ role: 'user', content: contentOf(message) }];
  if (message.role === 'assistant') return [assistantOf(message, thinkingTags)];
  return message.parts.map(({ id, output }) => ({ role: 'tool', tool_call_id: id, content: output }));
}

/** One text as such: servers with simple templates take no parts. */
function contentOf({ parts }: UserMessage): JsonValue {
  const [first] = parts;
  if (parts.length === 1 && first?.type === 'text') return first.text;
  return parts.map((part) => (part.type === 'text' ? { type: 'text', text: part.text } : fileOf(part)));
}

function fileOf({ mediaType, data, name }: FilePart): JsonObject {
  const url = `data:${mediaType};base64,${data}`;
  if (mediaType.startsWith('image/')) return { type: 'image_url', image_url: { url } };
  return { type: 'file', file: { filename: name ?? 'document', file_data: url } };
}

function assistantOf({ parts }: AssistantMessage, thinkingTags: boolean): JsonObject {
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const calls = parts.flatMap((part): JsonObject[] => {
    if (part.type !== 'call') return [];
    const { id, name, input, proof } = part;
    const called = { name: acceptedName(name), arguments: JSON.stringify(input) };
    return [{ ...proof, id, type: 'function', function: called }];
  });
  const thinking = parts.filter((part) => part.type === 'thinking');
  const content = calls.length > 0 ? text || null : text;
  const thoughts = thoughtsOf(thinking, text, thinkingTags);
  return { role: 'assistant', content, ...thoughts, ...(calls.length > 0 && { tool_calls: calls }) };
}

/** Thinking in the field in which its server sends it, or in tags, and its lists as they came. */
function thoughtsOf(thinking: readonly ThinkingPart[], text: string, thinkingTags: boolean): JsonObject {
  const thought = thinking.map((part) => part.text).join('');
  const { [FIELD]: named, ...lists } = Object.assign({}, ...thinking.map(({ proof }) => proof)) as JsonObject;
  if (thought === '') return lists;
  if (thinkingTags && named === undefined) return { ...lists, content: inTags(thought, text) };
  const field = typeof named === 'string' ? named : USUAL_FIELD;
  if (field !== 'content') return { ...lists, [field]: thought };
  const parts: JsonObject[] = [{ type: 'thinking', thinking: [{ type: 'text', text: thought }] }];
  if (text !== '') parts.push({ type: 'text', text });
  return { ...lists, content: parts };
}

function openReply(take: TakeEvent, meter: Meter): ReplyReader {
  let finish: string | null = null;
  /** How much content there was so far, and before the chunk with the newest reason to finish. */
  let [pieces, piecesBefore] = [0, -1];
  const content = makeContentReader((event) => {
    pieces += 1;
    take(event);
  });
  return {
    read: (chunk) => {
      const { choices } = chunk;
      const choice = Array.isArray(choices) && isJsonObject(choices[0]) ? choices[0] : undefined;
      if (choice !== undefined) {
        const before = pieces;
        // Gateways that don't stream send one whole message. MiniMax repeats in one what it has streamed.
        const delta = choice['delta'] ?? (pieces === 0 ? choice['message'] : undefined);
        meter(delta);
        if (isJsonObject(delta)) content.read(delta);
        const word = textIn(choice['finish_reason']);
        if (word !== '') [finish, piecesBefore] = [word, before];
      }
      const usage = chatUsage(chunk, choice);
      if (usage !== null) take({ type: 'usage', usage });
      return false;
    },
    // Gateways omit the end mark; the reason to finish is what counts.
    isWhole: () => endingOf(finish) !== null,
    hasAllContent: () => pieces === piecesBefore && endingOf(finish) !== null,
    end: (isMarked) => {
      // Some servers send the end mark alone. After no content, it says nothing of the reply.
      const ending = endingOf(finish) ?? (isMarked && finish === null && pieces > 0 ? 'stop' : null);
      if (ending === null) throw cutReply(finish);
      content.end();
      take({ type: 'finish', ending });
    },
  };
}

interface ContentReader {
  read(delta: JsonObject): void;
  /** No deltas follow. */
  end(): void;
}

/** Reads text, thinking and calls of the deltas of one reply. */
function makeContentReader(take: TakeEvent): ContentReader {
  /** The field of the thinking so far. */
  let field: string | null = null;
  let extra: JsonObject = {};
  const calls = makeCallDeltas(take);
  const lists = makeKeptLists(KEPT_LISTS);

  const think = (text: string, from: string) => {
    if (text === '') return;
    take({ type: 'thinking', text });
    if (field === from) return;
    field = from;
    take({ type: 'proof', proof: { [FIELD]: from } });
  };
  const say = (text: string) => {
    if (text !== '') take({ type: 'text', text });
  };
  return {
    read: (delta) => {
      const from = THINKING_FIELDS.find((name) => textIn(delta[name]) !== '');
      if (from !== undefined) think(textIn(delta[from]), from);
      const { content, refusal, tool_calls: toolCalls, function_call: functionCall } = delta;
      if (typeof content === 'string') say(content);
      else if (Array.isArray(content)) readParts(content, say, think);
      if (typeof refusal === 'string') say(refusal);
      if (toolCalls !== undefined && toolCalls !== null) calls.take(toolCalls);
      if (isJsonObject(functionCall)) calls.take({ index: 0, function: functionCall });
      lists.take(delta);
      if (isJsonObject(delta[EXTRA])) extra = { [EXTRA]: delta[EXTRA] };
    },
    end: () => {
      calls.end();
      const proof = { ...lists.kept(), ...extra };
      if (Object.keys(proof).length > 0) take({ type: 'proof', proof });
    },
  };
}

function endingOf(finish: string | null): Ending | null {
  // Google adds its own reason: `content_filter: PROHIBITED_CONTENT`.
  const word = (finish ?? '').toLowerCase().replace(/:.*$/s, '');
  return Object.hasOwn(CHAT_ENDINGS, word) ? CHAT_ENDINGS[word]! : null;
}

/** Content in parts, as Mistral's models that think send it. */
function readParts(
  parts: readonly JsonValue[],
  say: (text: string) => void,
  think: (text: string, from: string) => void,
): void {
  for (const part of parts) {
    if (!isJsonObject(part)) continue;
    const { type, text, thinking } = part;
    if (type === 'text') say(textIn(text));
    else if (typeof thinking === 'string') think(thinking, 'content');
    else if (Array.isArray(thinking)) {
      for (const piece of thinking) if (isJsonObject(piece)) think(textIn(piece['text']), 'content');
    }
  }
}
