// Renders a scripted reply on the wire of either protocol: OpenAI chat completions and Anthropic Messages.
import { randomBytes } from 'node:crypto';
import type { ModelProtocol, ModelRequestBody, Reply, ScriptedCall, ScriptedUsage } from './model-reply.ts';

/** A reply as server-sent events. Deltas are rendered one by one, because a stamped one must not exist before it is sent. */
export interface StreamWire {
  readonly head: string;
  readonly deltas: readonly (() => string)[];
  /** Finish reason, usage and end marker; empty when the reply has no finish. */
  readonly tail: string;
  readonly broken: string;
}

interface Call {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  readonly input: unknown;
}

interface Plan {
  readonly model: string;
  readonly texts: readonly string[];
  readonly calls: readonly Call[];
  readonly usage: ScriptedUsage;
  readonly finish: string;
  readonly includeUsage: boolean;
  readonly stamp: boolean;
  readonly finished: boolean;
}

const USAGE: ScriptedUsage = { input: 100, output: 20, cacheRead: 0, cacheWrite: 0 };

const FINISH: Readonly<Record<ModelProtocol, Readonly<Record<string, string>>>> = {
  openai: { end: 'stop', tools: 'tool_calls', length: 'length' },
  anthropic: { end: 'end_turn', tools: 'tool_use', length: 'max_tokens' },
};

/** Renders a reply as a stream. */
export function streamWireOf(protocol: ModelProtocol, body: ModelRequestBody, reply: Reply): StreamWire {
  const plan = planOf(protocol, body, reply);
  return protocol === 'openai' ? chatStream(plan) : messagesStream(plan);
}

/** Renders a reply as one JSON document. */
export function jsonWireOf(protocol: ModelProtocol, body: ModelRequestBody, reply: Reply): string {
  const plan = planOf(protocol, body, reply);
  return JSON.stringify(protocol === 'openai' ? chatJson(plan) : messagesJson(plan));
}

/** Renders an HTTP error in the protocol's shape. */
export function errorWireOf(protocol: ModelProtocol, status: number): string {
  const message = `Scripted failure with status ${status}.`;
  const type = status === 429 ? 'rate_limit_error' : status < 500 ? 'invalid_request_error' : 'api_error';
  const body =
    protocol === 'openai'
      ? { error: { message, type, param: null, code: null } }
      : { type: 'error', error: { type, message } };
  return JSON.stringify(body);
}

/** The list of models, in a shape that clients of both protocols read. `max_model_len`: as vLLM lists it. */
export function modelListWire(models: readonly { id: string; max_model_len?: number }[]): string {
  const data = models.map((model) => ({
    ...model,
    object: 'model',
    created: 1_760_000_000,
    owned_by: 'scripted',
    type: 'model',
    display_name: model.id,
    created_at: '2025-10-09T08:53:20Z',
  }));
  return JSON.stringify({ object: 'list', data, has_more: false, first_id: models[0]?.id, last_id: models.at(-1)?.id });
}

/** Microseconds of the machine's monotonic clock, which all processes share. */
function stampNow(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

function planOf(protocol: ModelProtocol, body: ModelRequestBody, reply: Reply): Plan {
  const calls = (reply.tools ?? []).map((call) => callOf(protocol, call));
  const text = reply.text ?? (calls.length > 0 ? [] : 'Hello from the scripted model.');
  const finish = reply.finish ?? (calls.length > 0 ? 'tools' : 'end');
  return {
    model: body.model ?? 'scripted',
    texts: typeof text === 'string' ? [text] : text,
    calls,
    usage: { ...USAGE, ...reply.usage },
    finish: FINISH[protocol][finish] ?? finish,
    includeUsage: body.stream_options?.include_usage === true,
    stamp: reply.stamp === true,
    finished: reply.noFinish !== true,
  };
}

function callOf(protocol: ModelProtocol, call: ScriptedCall): Call {
  const prefix = protocol === 'openai' ? 'call_' : 'toolu_';
  return {
    id: call.id ?? prefix + randomBytes(9).toString('hex'),
    name: call.name,
    arguments: call.rawArguments ?? JSON.stringify(call.input ?? {}),
    input: call.input ?? {},
  };
}

/** A text delta: everything but the text is serialised once for all of them. */
function textDelta(text: string, before: string, after: string, stamp: boolean): () => string {
  if (!stamp) return () => before + JSON.stringify(text) + after;
  return () => before + JSON.stringify(`@${stampNow()};${text}`) + after;
}

/** Arguments travel in two pieces, as real servers send them in several. */
function halves(text: string): readonly [string, string] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

// ── OpenAI chat completions ──

function chatStream(plan: Plan): StreamWire {
  const envelope = {
    id: `chatcmpl-${randomBytes(12).toString('hex')}`,
    object: 'chat.completion.chunk',
    created: Math.floor(Date.now() / 1000),
    model: plan.model,
  };
  const chunk = (delta: object, finishReason: string | null = null): string =>
    `data: ${JSON.stringify({ ...envelope, choices: [{ index: 0, delta, finish_reason: finishReason }] })}\n\n`;
  const before = `data: ${JSON.stringify(envelope).slice(0, -1)},"choices":[{"index":0,"delta":{"content":`;
  const after = '},"finish_reason":null}]}\n\n';
  const deltas = plan.texts.map((text) => textDelta(text, before, after, plan.stamp));
  for (const [index, call] of plan.calls.entries()) {
    const [first, second] = halves(call.arguments);
    const start = { index, id: call.id, type: 'function', function: { name: call.name, arguments: first } };
    deltas.push(() => chunk({ tool_calls: [start] }));
    deltas.push(() => chunk({ tool_calls: [{ index, function: { arguments: second } }] }));
  }
  const usage = plan.includeUsage
    ? `data: ${JSON.stringify({ ...envelope, choices: [], usage: chatUsage(plan.usage) })}\n\n`
    : '';
  return {
    head: chunk({ role: 'assistant', content: '' }),
    deltas,
    tail: plan.finished ? `${chunk({}, plan.finish)}${usage}data: [DONE]\n\n` : '',
    broken: 'data: {"id":"chatcmpl-broken","choices":[{"delta":\n\n',
  };
}

function chatJson(plan: Plan): object {
  const calls = plan.calls.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: call.arguments },
  }));
  const content = plan.texts.join('');
  const message = {
    role: 'assistant',
    content: content === '' && calls.length > 0 ? null : content,
    refusal: null,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  return {
    id: `chatcmpl-${randomBytes(12).toString('hex')}`,
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model: plan.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: plan.finished ? plan.finish : null }],
    usage: chatUsage(plan.usage),
  };
}

function chatUsage(usage: ScriptedUsage): object {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead },
  };
}

// ── Anthropic Messages ──

const event = (type: string, data: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;

function messagesStream(plan: Plan): StreamWire {
  const start = { ...messageEnvelope(plan), content: [], stop_reason: null };
  let index = -1;
  const close = (): string => (index < 0 ? '' : event('content_block_stop', { index }));
  const open = (block: object): string => {
    const closed = close();
    index += 1;
    return closed + event('content_block_start', { index, content_block: block });
  };
  // Before the first delta, so that deltas can be repeated without opening the block again.
  const textStart = plan.texts.length > 0 ? open({ type: 'text', text: '' }) : '';
  const before = `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":`;
  const deltas = plan.texts.map((text) => textDelta(text, before, '}}\n\n', plan.stamp));
  for (const call of plan.calls) {
    const prefix = open({ type: 'tool_use', id: call.id, name: call.name, input: {} });
    const at = index;
    const piece = (json: string): string =>
      event('content_block_delta', { index: at, delta: { type: 'input_json_delta', partial_json: json } });
    const [first, second] = halves(call.arguments);
    deltas.push(
      () => prefix + piece(first),
      () => piece(second),
    );
  }
  const delta = { stop_reason: plan.finish, stop_sequence: null };
  const usage = messagesUsage(plan.usage);
  return {
    head: event('message_start', { message: start }) + event('ping', {}) + textStart,
    deltas,
    tail: plan.finished ? `${close()}${event('message_delta', { delta, usage })}${event('message_stop', {})}` : '',
    broken: 'event: content_block_delta\ndata: {"type":"content_block_delta","delta":\n\n',
  };
}

function messagesJson(plan: Plan): object {
  const content: object[] = plan.texts.length > 0 ? [{ type: 'text', text: plan.texts.join('') }] : [];
  for (const call of plan.calls) content.push({ type: 'tool_use', id: call.id, name: call.name, input: call.input });
  return { ...messageEnvelope(plan), content, stop_reason: plan.finished ? plan.finish : null };
}

function messageEnvelope(plan: Plan): object {
  return {
    id: `msg_${randomBytes(12).toString('hex')}`,
    type: 'message',
    role: 'assistant',
    model: plan.model,
    stop_sequence: null,
    usage: messagesUsage(plan.usage),
  };
}

/** In this protocol cached input is told beside `input_tokens`, not within. */
function messagesUsage(usage: ScriptedUsage): object {
  return {
    input_tokens: usage.input - usage.cacheRead - usage.cacheWrite,
    output_tokens: usage.output,
    cache_read_input_tokens: usage.cacheRead,
    cache_creation_input_tokens: usage.cacheWrite,
  };
}
