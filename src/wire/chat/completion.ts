// Replies of the chat-completions protocol (§2.2, §2.3), and its list of models (C13).
import { isJsonObject } from '../../domain/json.ts';
import { array, object } from '../shapes/composites.ts';
import { chatError } from '../error.ts';
import { constant, integer, oneOf, string, time } from '../shapes/scalars.ts';
import { anyOf, named, nullable, optional, type Static } from '../shapes/shape.ts';

const count = integer({ from: 0 });
const seconds = integer({ from: 0 });

/** Token counts in this protocol's sense: cached tokens are part of the prompt. */
export const chatUsage = object({ prompt_tokens: count, completion_tokens: count, total_tokens: count });

const finishReason = oneOf(['stop', 'tool_calls', 'function_call']);

/** Arguments are JSON text. */
const functionCall = object({ name: string, arguments: string });
const toolCall = { id: string, type: oneOf(['function']), function: functionCall };

/** Content is null where the answer is a call of the tool that the client has forced (M4). */
const answer = object({
  role: oneOf(['assistant']),
  content: nullable(string),
  tool_calls: optional(array(object(toolCall))),
  function_call: optional(functionCall),
});

const choice = object({ index: count, message: answer, logprobs: constant(null), finish_reason: finishReason });

export const completion = named(
  'ChatCompletion',
  object({
    id: string,
    object: oneOf(['chat.completion']),
    created: seconds,
    model: string,
    choices: array(choice),
    usage: chatUsage,
  }),
);

const delta = object({
  role: optional(oneOf(['assistant'])),
  content: optional(string),
  tool_calls: optional(array(object({ index: count, ...toolCall }))),
  function_call: optional(functionCall),
});

/** The last one has `usage` and no choice, where the request has asked for it (C9). */
export const completionChunk = named(
  'ChatCompletionChunk',
  object({
    id: string,
    object: oneOf(['chat.completion.chunk']),
    created: seconds,
    model: string,
    choices: array(object({ index: count, delta, finish_reason: nullable(finishReason) })),
    usage: optional(chatUsage),
  }),
);

/** The data of one event of the stream, but for its last line, `[DONE]`. */
export const chatStreamData = anyOf(
  'must be a chunk or an error',
  { ...completionChunk, admits: (value) => isJsonObject(value) && 'choices' in value },
  chatError,
);

/** As clients of both OpenAI and Anthropic read it. */
export const modelOfKey = named(
  'ModelOfKey',
  object({
    id: string,
    object: oneOf(['model']),
    created: seconds,
    owned_by: string,
    type: oneOf(['model']),
    display_name: string,
    created_at: time,
  }),
);

export const models = named(
  'Models',
  object({
    object: oneOf(['list']),
    data: array(modelOfKey),
    has_more: constant(false),
    first_id: string,
    last_id: string,
  }),
);

export type CompletionWire = Static<typeof completion>;
export type CompletionChunkWire = Static<typeof completionChunk>;
export type ChatAnswerWire = Static<typeof answer>;
export type ChatDeltaWire = Static<typeof delta>;
export type FinishReason = Static<typeof finishReason>;
export type ChatUsageWire = Static<typeof chatUsage>;
export type ModelsWire = Static<typeof models>;
export type ModelOfKeyWire = Static<typeof modelOfKey>;
