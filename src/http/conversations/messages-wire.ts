// The Messages protocol's request and reply (§2.4, §4.3).
import { unprocessable } from '../../domain/errors.ts';
import { callIdOf, messageIdOf } from '../../domain/ids.ts';
import { isJsonObject, type JsonValue } from '../../domain/json.ts';
import type { ResultTool, Run } from '../../domain/sessions/run.ts';
import type { Usage } from '../../domain/sessions/usage.ts';
import type { TurnInput } from '../../operations/turns/turn.ts';
import type { ContentBlockWire, MessageWire, StopReasonWire, UsageWire } from '../../wire/messages/message.ts';
import { messagesContent, type MessagesRequest } from '../../wire/messages/request.ts';
import { readClientSchema } from './reading/client-schema.ts';
import { countTools, type ForcedTool, readForcedTool } from './reading/forced-tool.ts';
import { asCall, type AskedResult, inContent, NO_RESULT } from './reading/result-wire.ts';
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
  const forced = readForcedTool(request, 'messages');
  const result = resultAsked(request, forced);
  const content = await readUserContent(request.messages, messagesContent, parts);
  return {
    stream: request.stream ?? false,
    ignored: ignoredIn(request.messages, countTools(request, 'messages') - Number(forced !== null)),
    input: {
      protocol: 'messages',
      model: request.model,
      content,
      ...named,
      idempotencyKey,
      background,
      response: null,
      includeUsage: false,
      ...result,
    },
  };
}

/**
 * The result, as this service is asked for it, or as the client library asks. The former has a field of its own in the reply, so it
 * goes with none of the latter; of these a forced tool goes first, whose reply has no text.
 */
function resultAsked(request: MessagesRequest, forced: ForcedTool | null): AskedResult {
  const { output_format: own, output_config: config } = request;
  const format = config?.format ?? null;
  if (own) {
    if (format !== null) throw unprocessable('output_config.format', 'must not be given together with output_format');
    if (forced !== null) throw unprocessable('tool_choice', 'must not force a tool together with output_format');
    return { ...NO_RESULT, outputSchema: own.schema, schemaField: 'output_format.schema' };
  }
  if (forced !== null) return asCall(forced);
  if (format === null) return NO_RESULT;
  return inContent(readClientSchema(format.schema, FORMAT_FIELD), FORMAT_FIELD);
}

const FORMAT_FIELD = 'output_config.format.schema';

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
    stop_reason: stopReasonOf(run),
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

/** Why a run has ended, for its client; null for one that hasn't. */
export function stopReasonOf({
  stopReason,
  resultTool,
}: Pick<Run, 'stopReason' | 'resultTool'>): StopReasonWire | null {
  return stopReason !== null && resultTool !== null ? 'tool_use' : stopReason;
}

/** The agent's answer: its text, or the result where the client library reads it: as JSON text, or as a call of its tool. */
function contentOf(run: Run): MessageWire['content'] {
  if (run.resultTool !== null) return [toolUseOf(run, run.resultTool, run.structuredOutput?.value)];
  if (run.wantsStructured && run.resultInContent)
    return [textBlockOf(JSON.stringify(run.structuredOutput?.value ?? null))];
  return run.answer === null || run.answer === '' ? [] : [textBlockOf(run.answer)];
}

/** Without a result yet, the input is empty. */
export function toolUseOf({ id }: Run, { name }: ResultTool, result: JsonValue = {}): ContentBlockWire {
  return { type: 'tool_use', id: callIdOf(id, 'toolu'), name, input: isJsonObject(result) ? result : {} };
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
