// The chat-completions protocol's request and reply (§2.2, §4.2), and its list of models (C13).
import { completionIdOf } from '../../domain/ids.ts';
import type { Run } from '../../domain/sessions/run.ts';
import type { Usage } from '../../domain/sessions/usage.ts';
import type { ChatUsageWire, CompletionWire, ModelsWire } from '../../wire/chat/completion.ts';
import { chatContent, type ChatRequest } from '../../wire/chat/request.ts';
import type { ContentParts } from './reading/content-wire.ts';
import { schemaOf } from './reading/response-format-wire.ts';
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
  const outputSchema = format ? schemaOf(format, 'chat') : null;
  const content = await readUserContent(request.messages, chatContent, parts);
  return {
    stream: request.stream ?? false,
    ignored: ignoredIn(request.messages, request.tools),
    input: {
      protocol: 'chat',
      model,
      content,
      ...named,
      idempotencyKey: headers.idempotencyKey,
      background: null,
      response: null,
      includeUsage: request.stream_options?.include_usage ?? false,
      outputSchema,
      resultInContent: outputSchema !== null,
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
        message: { role: 'assistant', content: contentOf(run) },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: renderChatUsage(run.usage),
  };
}

/** The agent's answer: its text, or with a schema its result as JSON text. */
function contentOf(run: Run): string {
  return run.wantsStructured ? JSON.stringify(run.structuredOutput?.value ?? null) : (run.answer ?? '');
}

/** Token counts in this protocol's sense: cached tokens are part of the prompt. */
export function renderChatUsage(usage: Usage): ChatUsageWire {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
  };
}

/** The one model of a key, as a list. */
export function renderModels(model: string, createdAt: number): ModelsWire {
  return {
    object: 'list',
    data: [{ id: model, object: 'model', created: secondsOf(createdAt), owned_by: 'errand' }],
  };
}

/** Epoch milliseconds as this protocol's whole seconds. */
export function secondsOf(at: number): number {
  return Math.floor(at / 1000);
}
