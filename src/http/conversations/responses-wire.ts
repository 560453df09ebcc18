// The Responses protocol's request and reply (M3).
import { unprocessable } from '../../domain/errors.ts';
import { callIdOf, messageIdOf, responseIdOf, runIdOfItem } from '../../domain/ids.ts';
import type { JsonObject } from '../../domain/json.ts';
import { isTerminal, type ResultTool, type Run, type RunError, type RunState } from '../../domain/sessions/run.ts';
import type { Usage } from '../../domain/sessions/usage.ts';
import type { InputBlock } from '../../operations/turns/turn.ts';
import { responsesContent, type ResponsesFormat, type ResponsesRequest } from '../../wire/responses/request.ts';
import type {
  FunctionCallWire,
  OutputItemWire,
  OutputMessageWire,
  ResponseWire,
  UnusedWire,
} from '../../wire/responses/response.ts';
import type { TurnMessages } from '../../wire/conversations/turn.ts';
import { uuid } from '../../wire/shapes/scalars.ts';
import { secondsOf } from './chat-wire.ts';
import type { ContentParts } from './reading/content-wire.ts';
import { countTools, readForcedTool } from './reading/forced-tool.ts';
import { resultOf } from './reading/result-wire.ts';
import {
  ignoredIn,
  NO_HEADERS,
  readContent,
  sessionOf,
  type TurnHeaders,
  type TurnRequest,
} from './reading/turn-wire.ts';

/** The turn that a Responses request asks for. Throws `unprocessable`, or `too_large` for an attachment or for its text. */
export async function readResponsesTurn(
  request: ResponsesRequest,
  parts: ContentParts,
  headers: TurnHeaders = NO_HEADERS,
): Promise<TurnRequest> {
  const { metadata } = request;
  const named = sessionNamed(request, headers);
  const isNamed = named.sessionId !== null;
  const referred = isNamed || request.previous_response_id ? null : referenceIn(request.input);
  const previousRunId = request.previous_response_id ?? referred?.runId ?? null;
  // What is before the item is in its session.
  const items = typeof request.input === 'string' ? [] : request.input.slice(referred?.behind ?? 0);
  const format = request.text?.format ?? null;
  const forced = readForcedTool(request, 'responses');
  const result = resultOf(forced, format && asResponseFormat(format), 'text.format.schema');
  const unusedTools = countTools(request, 'responses') - Number(forced !== null);
  return {
    stream: request.stream ?? false,
    ignored: ignoredIn(items, unusedTools),
    input: {
      protocol: 'responses',
      model: request.model,
      content: await readInput(request.input, parts, referred?.behind ?? 0),
      ...named,
      idempotencyKey: headers.idempotencyKey,
      background: request.background === true ? { payload: null } : null,
      response: {
        metadata: metadata ?? {},
        previousRunId,
        format: format as JsonObject | null,
        isStored: request.store ?? true,
        ...(forced !== null && { tool: forced.sent }),
      },
      includeUsage: false,
      ...result,
    },
  };
}

/** The session that the request names: as `conversation`, in `metadata`, or in the header. */
function sessionNamed(request: ResponsesRequest, headers: TurnHeaders): ReturnType<typeof sessionOf> {
  const { conversation, metadata, previous_response_id: previous } = request;
  const inMetadata = metadata?.['session_id'];
  const named = sessionOf(
    { session_id: inMetadata === undefined ? null : uuid.read(inMetadata, 'metadata.session_id') },
    headers,
  );
  const session = (typeof conversation === 'object' ? conversation?.id : conversation) ?? null;
  if (session === null) return named;
  if (named.sessionId !== null && session !== named.sessionId)
    throw unprocessable('conversation', 'must name the same session as metadata and the header Errand-Session-Id');
  if (typeof previous === 'string')
    throw unprocessable('conversation', 'must not be given together with previous_response_id');
  return { ...named, sessionId: session };
}

/** The run of the last item that the input refers to by its id, as the AI SDK resends what was said, and where that ends; null without one. */
function referenceIn(input: ResponsesRequest['input']) {
  if (typeof input === 'string') return null;
  const at = input.findLastIndex(({ type }) => type === 'item_reference');
  const id = input[at]?.id;
  const runId = typeof id === 'string' ? runIdOfItem(id) : null;
  return runId === null ? null : { runId, behind: at + 1 };
}

/** The items that are messages. */
export function messagesIn(input: ResponsesRequest['input']): TurnMessages {
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  const messages = input.filter(({ type, role }) => typeof role === 'string' && (type ?? 'message') === 'message');
  return messages.map(({ role, content }) => ({ role: role!, ...(content !== undefined && { content }) }));
}

/**
 * The blocks of the input: its text, or the last of its items that is a user's message (§1). Without any, and behind what an item refers
 * to, what came of a function is what the user says. `behind`: where that begins.
 */
async function readInput(input: ResponsesRequest['input'], parts: ContentParts, behind: number): Promise<InputBlock[]> {
  if (typeof input === 'string') return readContent(input, 'input', parts);
  const last = input.findLastIndex(({ type, role }) => role === 'user' && (type ?? 'message') === 'message');
  if (last < behind) {
    const result = input.findLastIndex(({ type }) => type === 'function_call_output');
    if (result >= behind) {
      const path = `input[${result}].output`;
      return readContent(responsesContent.read(input[result]!.output, path), path, parts);
    }
    if (last === -1) throw unprocessable('input', 'must hold a message whose role is user');
  }
  const path = `input[${last}].content`;
  return readContent(responsesContent.read(input[last]!.content, path), path, parts);
}

/** The same as chat has it, where the schema is one object deeper. */
const asResponseFormat = (format: ResponsesFormat) =>
  format.type === 'json_schema' ? { type: format.type, json_schema: format } : format;

const NONE: UnusedWire = {
  access_programs: null,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  parallel_tool_calls: true,
  reasoning: { effort: null, summary: null },
  service_tier: 'default',
  temperature: null,
  top_logprobs: 0,
  top_p: null,
  truncation: 'disabled',
  user: null,
};

/** A run as a Response. `messageId`: of its answer. */
export function renderResponse(run: Run, messageId: string = messageIdOf(run.id)): ResponseWire {
  const { response: echo, finishedAt } = run;
  const status = statusOf(run);
  return {
    id: responseIdOf(run.id),
    object: 'response',
    created_at: secondsOf(run.createdAt),
    completed_at: status === 'completed' && finishedAt !== null ? secondsOf(finishedAt) : null,
    status,
    background: run.scheduleMode === 'background',
    error: run.error === null ? null : errorOf(run.error),
    incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    model: run.requestedModel,
    output: outputOf(run, messageId),
    conversation: { id: run.sessionId },
    previous_response_id: echo?.previousRunId ? responseIdOf(echo.previousRunId) : null,
    metadata: echo?.metadata ?? {},
    text: { format: echo?.format ?? { type: 'text' } },
    store: echo?.isStored ?? true,
    usage: isTerminal(run.status) ? usageOf(run.usage) : null,
    tool_choice: run.resultTool === null ? 'auto' : { type: 'function', name: run.resultTool.name },
    tools: echo?.tool === undefined ? [] : [echo.tool],
    ...NONE,
  };
}

/** What a state is called here. A run without a result that fits its schema has failed. */
const STATUSES: Readonly<Record<RunState, ResponseWire['status']>> = {
  queued: 'queued',
  running: 'in_progress',
  waiting: 'in_progress',
  finalizing: 'in_progress',
  completed: 'completed',
  failed: 'failed',
  incomplete: 'failed',
  canceled: 'cancelled',
};

function statusOf({ status, stopReason }: Run): ResponseWire['status'] {
  return status === 'completed' && stopReason === 'max_tokens' ? 'incomplete' : STATUSES[status];
}

function errorOf({ type, message }: RunError): ResponseWire['error'] {
  return { code: type === 'budget_error' ? 'rate_limit_exceeded' : 'server_error', message };
}

/** The agent's answer, or with a schema its result: as JSON text, or as a call of the client's tool. */
function outputOf(run: Run, id: string): OutputItemWire[] {
  if (run.status !== 'completed') return [];
  if (run.resultTool !== null) {
    const input = JSON.stringify(run.structuredOutput?.value ?? null);
    return [callOf(run, run.resultTool, input, 'completed')];
  }
  const text = run.wantsStructured ? JSON.stringify(run.structuredOutput?.value ?? null) : (run.answer ?? '');
  if (text === '') return [];
  return [messageOf(id, text, run.stopReason === 'max_tokens' ? 'incomplete' : 'completed')];
}

/** A call of the client's tool, as an item of the output. */
export function callOf(
  { id }: Run,
  { name }: ResultTool,
  input: string,
  status: FunctionCallWire['status'],
): FunctionCallWire {
  return {
    id: callIdOf(id, 'fc'),
    type: 'function_call',
    status,
    call_id: callIdOf(id, 'call'),
    name,
    arguments: input,
  };
}

/** What the agent says, as an item of the output. A text of null has not begun. */
export function messageOf(id: string, text: string | null, status: OutputMessageWire['status']): OutputMessageWire {
  return { id, type: 'message', status, role: 'assistant', content: text === null ? [] : [outputTextOf(text)] };
}

export const outputTextOf = (text: string): OutputMessageWire['content'][number] => ({
  type: 'output_text',
  text,
  annotations: [],
  logprobs: [],
});

function usageOf(usage: Usage): NonNullable<ResponseWire['usage']> {
  return {
    input_tokens: usage.inputTokens,
    input_tokens_details: { cached_tokens: usage.cacheReadTokens, cache_write_tokens: usage.cacheWriteTokens },
    output_tokens: usage.outputTokens,
    // The servers' counts of output include it.
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: usage.inputTokens + usage.outputTokens,
  };
}
