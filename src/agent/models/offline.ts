// The built-in offline engine: no language model, but fixed rules that show the whole path of a turn with no network (J5).
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

interface PlannedCall {
  readonly name: string;
  readonly input: { readonly [key: string]: string };
}

/** What the engine does next: either calls tools or says its closing words. */
type Plan =
  | { readonly kind: 'calls'; readonly calls: readonly PlannedCall[] }
  | { readonly kind: 'text'; readonly text: string };

const WRITE_LINE = /^\s*(?:[-*]\s+)?(?:please\s+)?write\s+(\S+):\s+(\S.*)$/i;
/** Between the pieces of the closing text, so that a watcher sees it stream. */
const PAUSE_MS = 25;
const QUOTED_CHARACTERS = 200;
const NAMES_ITSELF = 'I am the built-in offline engine of Errand: no language model is configured';

/** The offline engine as a model. It plans from the prompt alone, so that a resumed run goes on where it stood. */
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

/** One plan a turn: files, then a listing, then words. What was done already stands after the last user message. */
function planOf({ prompt, tools = [] }: LanguageModelV4CallOptions): Plan {
  const offered = new Set(tools.map((tool) => tool.name));
  const lastUser = prompt.findLastIndex((message) => message.role === 'user');
  const request = userText(prompt[lastUser]);
  const since = prompt.slice(lastUser + 1);
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
  let finish: LanguageModelV4FinishReason;
  let said: string;
  if (plan.kind === 'calls') {
    for (const { name, input } of plan.calls) {
      const id = `call_${randomUUID()}`;
      yield { type: 'tool-input-start', id, toolName: name };
      yield { type: 'tool-input-end', id };
      yield { type: 'tool-call', toolCallId: id, toolName: name, input: JSON.stringify(input) };
    }
    said = JSON.stringify(plan.calls);
    finish = { unified: 'tool-calls', raw: 'tool_calls' };
  } else {
    yield { type: 'text-start', id: 'text' };
    for (const [i, delta] of plan.text.split(/(?<=[.:,] )/).entries()) {
      if (i > 0) await sleep(PAUSE_MS);
      yield { type: 'text-delta', id: 'text', delta };
    }
    yield { type: 'text-end', id: 'text' };
    said = plan.text;
    finish = { unified: 'stop', raw: 'stop' };
  }
  yield { type: 'finish', finishReason: finish, usage: usageOf(options.prompt, said) };
}

/** Four characters a token, as nothing here knows better. */
function usageOf(prompt: LanguageModelV4Prompt, said: string): LanguageModelV4Usage {
  const input = Math.ceil(JSON.stringify(prompt).length / 4);
  const output = Math.ceil(said.length / 4);
  return {
    inputTokens: { total: input, noCache: input, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: output, text: output, reasoning: 0 },
  };
}
