// The Messages protocol's request and reply (§2.4, §4.3).
import { unprocessable } from '../../domain/errors.ts';
import { messageIdOf } from '../../domain/ids.ts';
import type { Run } from '../../domain/sessions/run.ts';
import type { Usage } from '../../domain/sessions/usage.ts';
import type { TurnInput } from '../../operations/turns/turn.ts';
import type { MessageWire, UsageWire } from '../../wire/messages/message.ts';
import { messagesContent, type MessagesRequest } from '../../wire/messages/request.ts';
import { readClientSchema } from './reading/client-schema.ts';
import type { ContentParts } from './reading/content-wire.ts';
import {
  ignoredIn,
  NO_HEADERS,
  readUserContent,
  sessionOf,
  type TurnHeaders,
  type TurnRequest,
} from './reading/turn-wire.ts';

/** The turn that a Messages request asks for. Throws `unprocessable`, or `too_large` for an attachment or for its text. */
export async function readMessagesTurn(
  request: MessagesRequest,
  parts: ContentParts,
  headers: TurnHeaders = NO_HEADERS,
): Promise<TurnRequest> {
  const named = sessionOf(request.metadata, headers);
  const idempotencyKey = request.idempotency_key ?? headers.idempotencyKey;
  const background = backgroundOf(request, idempotencyKey);
  const content = await readUserContent(request.messages, messagesContent, parts);
  return {
    stream: request.stream ?? false,
    ignored: ignoredIn(request.messages, request.tools),
    input: {
      protocol: 'messages',
      model: request.model,
      content,
      ...named,
      idempotencyKey,
      background,
      response: null,
      includeUsage: false,
      ...outputOf(request),
    },
  };
}

/** The schema of the result, as this service asks for it or as the client library does. */
function outputOf({
  output_format: own,
  output_config: config,
}: MessagesRequest): Pick<TurnInput, 'outputSchema' | 'resultInContent'> {
  const format = config?.format;
  if (!format) return { outputSchema: own?.schema ?? null, resultInContent: false };
  if (own) throw unprocessable('output_config.format', 'must not be given together with output_format');
  return { outputSchema: readClientSchema(format.schema, 'messages'), resultInContent: true };
}

/** What makes a background run (§4.3 rule 4). The payload is checked in any case, and used only there (D5). */
function backgroundOf(request: MessagesRequest, idempotencyKey: string | null): TurnInput['background'] {
  if (request.background !== true) return null;
  if (request.stream === true) throw unprocessable('stream', 'must be false for a background run');
  if (idempotencyKey === null) throw unprocessable('idempotency_key', 'is required for a background run');
  return { payload: request.background_payload ?? null };
}

/** A completed run as a Message. */
export function renderMessage(run: Run): MessageWire {
  return {
    id: messageIdOf(run.id),
    type: 'message',
    role: 'assistant',
    model: run.requestedModel,
    content: contentOf(run),
    stop_reason: run.stopReason,
    stop_sequence: null,
    usage: renderUsage(run.usage),
    // `null` is a result like any other.
    ...(hasResultField(run) ? { structured_output: run.structuredOutput?.value ?? null } : {}),
  };
}

/** `structured_output` is present exactly when `output_format` was given. */
export function hasResultField({ wantsStructured, resultInContent }: Run): boolean {
  return wantsStructured && !resultInContent;
}

/** The agent's answer: its text, or the result as JSON text where the client library reads it there. */
function contentOf(run: Run): MessageWire['content'] {
  if (run.wantsStructured && run.resultInContent)
    return [textBlockOf(JSON.stringify(run.structuredOutput?.value ?? null))];
  return run.answer === null || run.answer === '' ? [] : [textBlockOf(run.answer)];
}

const textBlockOf = (text: string) => ({ type: 'text', text }) as const;

/** Token counts in this protocol's sense: `input_tokens` are those neither read from nor written to a cache. */
export function renderUsage(usage: Usage): UsageWire {
  return {
    input_tokens: Math.max(0, usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens),
    output_tokens: usage.outputTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
  };
}
