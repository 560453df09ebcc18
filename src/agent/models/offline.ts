// The built-in offline engine: not a language model, but fixed rules that exercise a whole turn without a network (J5).
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FinishReason,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts';
import { SUBMIT_RESULT } from '../port/protocol.ts';
import { makeFits } from '../result/result-schema.ts';
import { smallestValue } from '../result/smallest-value.ts';

interface PlannedCall {
  readonly name: string;
  readonly input: JsonObject;
}

/** The engine's next step: tool calls or its closing text. */
type Plan =
  | { readonly kind: 'calls'; readonly calls: readonly PlannedCall[]; readonly text?: string }
  | { readonly kind: 'text'; readonly text: string };

const WRITE_LINE = /^\s*(?:[-*]\s+)?(?:please\s+)?write\s+(\S+):\s+(\S.*)$/i;
/** Pause between chunks of the closing text, so that a watcher sees it stream. */
const PAUSE_MS = 25;
const QUOTED_CHARACTERS = 200;
const NAMES_ITSELF = 'I am the built-in offline engine of Errand: no language model is configured';

/** The offline engine as a model. It plans from the prompt alone, so that a resumed run continues where it was. */
export function makeOfflineModel(modelId: string): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'offline',
    modelId,
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('The offline engine only streams.')),
    doStream: async (options) => ({ stream: ReadableStream.from(partsOf(planOf(options), options)) }),
  };
}

/** One plan per turn: files, then a listing, then text. What is already done follows the last user message in the prompt. */
function planOf(options: LanguageModelV4CallOptions): Plan {
  const plan = planWork(options);
  const { prompt, tools = [] } = options;
  const taker = tools.find((tool) => tool.type === 'function' && tool.name === SUBMIT_RESULT);
  if (plan.kind === 'calls' || taker?.type !== 'function') return plan;
  // A second submission would be the same as the first.
  if (hasCalled(sinceLastUser(prompt), SUBMIT_RESULT)) return plan;
  const result = smallestResult(taker.inputSchema as JsonObject);
  return { kind: 'calls', text: plan.text, calls: [{ name: SUBMIT_RESULT, input: { result } }] };
}

function smallestResult(parameters: JsonObject): JsonValue {
  const { properties } = parameters;
  const schema = isJsonObject(properties) && isJsonObject(properties['result']) ? properties['result'] : {};
  return smallestValue(schema, parameters, makeFits(parameters)) ?? null;
}

function sinceLastUser(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  return prompt.slice(prompt.findLastIndex((message) => message.role === 'user') + 1);
}

function planWork({ prompt, tools = [] }: LanguageModelV4CallOptions): Plan {
  const offered = new Set(tools.map((tool) => tool.name));
  const lastUser = prompt.findLastIndex((message) => message.role === 'user');
  const request = userText(prompt[lastUser]);
  const since = sinceLastUser(prompt);
  const files = plannedFiles(request);
  if (!offered.has('write_file')) {
    return { kind: 'text', text: `${NAMES_ITSELF}, so I can only answer by fixed rules, and this turn has no tools.` };
  }
  if (!hasCalled(since, 'write_file')) {
    return { kind: 'calls', calls: files.map((input) => ({ name: 'write_file', input })) };
  }
  if (offered.has('list_files') && !hasCalled(since, 'list_files')) {
    return { kind: 'calls', calls: [{ name: 'list_files', input: {} }] };
  }
  return { kind: 'text', text: closingText(files, failedCalls(since)) };
}

function plannedFiles(request: string): { path: string; content: string }[] {
  const named = request.split('\n').flatMap((line) => {
    const [, path, content] = WRITE_LINE.exec(line) ?? [];
    return path === undefined || content === undefined ? [] : [{ path, content: `${content.trim()}\n` }];
  });
  if (named.length > 0) return named;
  const quoted = Array.from(request.trim()).slice(0, QUOTED_CHARACTERS).join('');
  const said = quoted === '' ? 'You sent no text.' : `You asked:\n\n> ${quoted.replaceAll('\n', '\n> ')}`;
  return [{ path: '/hello.txt', content: `Hello from Errand's built-in offline engine.\n\n${said}\n` }];
}

function closingText(files: readonly { readonly path: string }[], failures: number): string {
  const names = files.map(({ path }) => `\`${path}\``).join(', ');
  const done =
    failures === 0
      ? `I wrote ${names} and listed the workspace.`
      : `I tried to write ${names} and to list the workspace; ${failures} of the tool calls failed.`;
  return `${done} ${NAMES_ITSELF}, so this answer follows fixed rules. An administrator can configure a model in models.yaml.`;
}

function userText(message: LanguageModelV4Message | undefined): string {
  if (message?.role !== 'user') return '';
  return message.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

function hasCalled(messages: LanguageModelV4Prompt, name: string): boolean {
  return messages.some(
    (message) =>
      message.role === 'assistant' &&
      message.content.some((part) => part.type === 'tool-call' && part.toolName === name),
  );
}

function failedCalls(messages: LanguageModelV4Prompt): number {
  const outputs = messages.flatMap((message) => (message.role === 'tool' ? message.content : []));
  return outputs.filter((part) => part.type === 'tool-result' && part.output.type === 'error-text').length;
}

async function* partsOf(plan: Plan, options: LanguageModelV4CallOptions): AsyncGenerator<LanguageModelV4StreamPart> {
  yield { type: 'stream-start', warnings: [] };
  if (plan.text !== undefined) yield* textParts(plan.text);
  const calls = plan.kind === 'calls' ? plan.calls : [];
  for (const { name, input } of calls) {
    const id = `call_${randomUUID()}`;
    yield { type: 'tool-input-start', id, toolName: name };
    yield { type: 'tool-input-end', id };
    yield { type: 'tool-call', toolCallId: id, toolName: name, input: JSON.stringify(input) };
  }
  const said = `${plan.text ?? ''}${calls.length > 0 ? JSON.stringify(calls) : ''}`;
  const finish: LanguageModelV4FinishReason =
    calls.length > 0 ? { unified: 'tool-calls', raw: 'tool_calls' } : { unified: 'stop', raw: 'stop' };
  yield { type: 'finish', finishReason: finish, usage: usageOf(options.prompt, said) };
}

async function* textParts(text: string): AsyncGenerator<LanguageModelV4StreamPart> {
  yield { type: 'text-start', id: 'text' };
  for (const [i, delta] of text.split(/(?<=[.:,] )/).entries()) {
    if (i > 0) await sleep(PAUSE_MS);
    yield { type: 'text-delta', id: 'text', delta };
  }
  yield { type: 'text-end', id: 'text' };
}

/** Four characters a token, since there is no better estimate here. */
function usageOf(prompt: LanguageModelV4Prompt, said: string): LanguageModelV4Usage {
  const input = Math.ceil(JSON.stringify(prompt).length / 4);
  const output = Math.ceil(said.length / 4);
  return {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: output, text: output, reasoning: 0 },
  };
}
