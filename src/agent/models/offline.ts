// The built-in offline engine: not a language model, but fixed rules that exercise a whole turn without a network (J5).
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts';
import { SUBMIT_RESULT } from '../port/protocol.ts';
import type { ModelEvent } from './event.ts';
import type { ModelMessage, Prompt } from './message.ts';
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

/**
 * The offline engine's reply. It plans from the prompt alone, so that a resumed run continues where it was. Ends early, with the
 * abort's reason, when the signal aborts.
 */
export async function* answerOffline(prompt: Prompt, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const plan = planOf(prompt);
  if (plan.text !== undefined) yield* textEvents(plan.text, signal);
  const calls = plan.kind === 'calls' ? plan.calls : [];
  for (const [call, { name, input }] of calls.entries()) {
    yield { type: 'call-start', call, id: `call_${randomUUID()}`, name };
    yield { type: 'call-delta', call, json: JSON.stringify(input) };
  }
  const said = `${plan.text ?? ''}${calls.length > 0 ? JSON.stringify(calls) : ''}`;
  yield {
    type: 'usage',
    usage: { inputTokens: tokensOf(JSON.stringify(prompt.messages)), outputTokens: tokensOf(said) },
  };
  yield { type: 'finish', ending: calls.length > 0 ? 'tool-calls' : 'stop' };
}

async function* textEvents(text: string, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  for (const [i, delta] of text.split(/(?<=[.:,] )/).entries()) {
    if (i > 0) await sleep(PAUSE_MS, undefined, { signal });
    yield { type: 'text', text: delta };
  }
  yield { type: 'block-end' };
}

/** Four characters a token, since there is no better estimate here. */
const tokensOf = (text: string) => Math.ceil(text.length / 4);

/** One plan per turn: files, then a listing, then text. What is already done follows the last user message in the prompt. */
function planOf(prompt: Prompt): Plan {
  const plan = planWork(prompt);
  const taker = prompt.tools.find(({ name }) => name === SUBMIT_RESULT);
  if (plan.kind === 'calls' || taker === undefined) return plan;
  // A second submission would be the same as the first.
  if (hasCalled(sinceLastUser(prompt.messages), SUBMIT_RESULT)) return plan;
  const result = smallestResult(taker.inputSchema);
  return { kind: 'calls', text: plan.text, calls: [{ name: SUBMIT_RESULT, input: { result } }] };
}

function smallestResult(parameters: JsonObject): JsonValue {
  const { properties } = parameters;
  const schema = isJsonObject(properties) && isJsonObject(properties['result']) ? properties['result'] : {};
  return smallestValue(schema, parameters, makeFits(parameters)) ?? null;
}

function sinceLastUser(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  return messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1);
}

function planWork({ messages, tools }: Prompt): Plan {
  const offered = new Set(tools.map((tool) => tool.name));
  const request = userText(messages.findLast(({ role }) => role === 'user'));
  const since = sinceLastUser(messages);
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

function userText(message: ModelMessage | undefined): string {
  if (message?.role !== 'user') return '';
  return message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

function hasCalled(messages: readonly ModelMessage[], name: string): boolean {
  return messages.some(
    ({ role, parts }) => role === 'assistant' && parts.some((part) => part.type === 'call' && part.name === name),
  );
}

function failedCalls(messages: readonly ModelMessage[]): number {
  const results = messages.flatMap((message) => (message.role === 'tool' ? message.parts : []));
  return results.filter(({ ok }) => !ok).length;
}
