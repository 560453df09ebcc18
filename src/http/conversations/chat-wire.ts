// The chat-completions protocol's request and reply (§2.2, §4.2), and its list of models (C13).
import { isoTime } from '../../domain/clock.ts';
import { callIdOf, completionIdOf } from '../../domain/ids.ts';
import type { ResultTool, Run } from '../../domain/sessions/run.ts';
import type { Usage } from '../../domain/sessions/usage.ts';
import type {
  ChatAnswerWire,
  ChatDeltaWire,
  ChatUsageWire,
  CompletionWire,
  FinishReason,
  ModelOfKeyWire,
  ModelsWire,
} from '../../wire/chat/completion.ts';
import { chatContent, type ChatRequest } from '../../wire/chat/request.ts';
import type { ContentParts } from './reading/content-wire.ts';
import { countTools, readForcedTool } from './reading/forced-tool.ts';
import { resultOf } from './reading/result-wire.ts';
import {
  ignoredIn,
  NO_HEADERS,
  readUserContent,
  sessionOf,
  type TurnHeaders,
  type TurnRequest,
} from './reading/turn-wire.ts';

/** The turn that a chat request asks for. Throws `unprocessable`, or `too_large` for an attachment or for its text. */
export async function readChatTurn(
  request: ChatRequest,
  parts: ContentParts,
  headers: TurnHeaders = NO_HEADERS,
): Promise<TurnRequest> {
  const { model, response_format: format } = request;
  const named = sessionOf(request.metadata, headers);
  const forced = readForcedTool(request, 'chat');
  const result = resultOf(forced, format ?? null, 'response_format.json_schema.schema');
  const content = await readUserContent(request.messages, chatContent, parts);
  return {
    stream: request.stream ?? false,
    ignored: ignoredIn(request.messages, countTools(request, 'chat') - Number(forced !== null)),
    input: {
      protocol: 'chat',
      model,
      content,
      ...named,
      idempotencyKey: headers.idempotencyKey,
      background: null,
      response: null,
      includeUsage: request.stream_options?.include_usage ?? false,
      ...result,
    },
  };
}

/** A completed run as a chat completion. */
export function renderCompletion(run: Run): CompletionWire {
  return {
    id: completionIdOf(run.id),
    object: 'chat.completion',
    created: secondsOf(run.createdAt),
    model: run.requestedModel,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', ...answerOf(run) },
        logprobs: null,
        finish_reason: finishReasonOf(run),
      },
    ],
    usage: renderChatUsage(run.usage),
  };
}

/** The agent's answer: its text, or with a schema its result as JSON text, or as a call of the client's tool. */
function answerOf(run: Run): Omit<ChatAnswerWire, 'role'> {
  if (!run.wantsStructured) return { content: run.answer ?? '' };
  const result = JSON.stringify(run.structuredOutput?.value ?? null);
  return run.resultTool === null ? { content: result } : { content: null, ...callOf(run, run.resultTool, result) };
}

/** A call of the tool, as tools are called or as functions were. */
function callOf({ id }: Run, { name, isFunction }: ResultTool, result: string): CallWire {
  const call = { name, arguments: result };
  return isFunction
    ? { function_call: call }
    : { tool_calls: [{ id: callIdOf(id, 'call'), type: 'function', function: call }] };
}

type CallWire = Pick<ChatAnswerWire, 'tool_calls' | 'function_call'>;

/** What a stream has of the result at once: its text, or the whole call. */
export function resultDeltaOf(run: Run, result: string): ChatDeltaWire {
  if (run.resultTool === null) return { content: result };
  const { tool_calls: calls, ...call } = callOf(run, run.resultTool, result);
  return calls === undefined ? call : { tool_calls: calls.map((one, index) => ({ index, ...one })) };
}

/** Why a completed run has ended, for its client. */
export function finishReasonOf({ resultTool }: Run): FinishReason {
  if (resultTool === null) return 'stop';
  return resultTool.isFunction ? 'function_call' : 'tool_calls';
}

/** Token counts in this protocol's sense: cached tokens are part of the prompt. */
export function renderChatUsage(usage: Usage): ChatUsageWire {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
  };
}

/** The one model of a key, as a list of either protocol. */
export function renderModels(model: string, createdAt: number): ModelsWire {
  return {
    object: 'list',
    data: [renderModel(model, createdAt)],
    has_more: false,
    first_id: model,
    last_id: model,
  };
}

/** The same by itself. `createdAt`: of the key. */
export function renderModel(id: string, createdAt: number): ModelOfKeyWire {
  return {
    id,
    object: 'model',
    created: secondsOf(createdAt),
    owned_by: 'errand',
    type: 'model',
    display_name: id,
    created_at: isoTime(createdAt),
  };
}

/** Epoch milliseconds as this protocol's whole seconds. */
export function secondsOf(at: number): number {
  return Math.floor(at / 1000);
}
