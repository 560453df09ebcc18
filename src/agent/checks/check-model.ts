// Checks a model against its real endpoint: whether it streams, calls tools, counts tokens and honours its context window.
import type { Finding, FindingState, ModelCheckReport, ModelCheckTask } from './check-task.ts';
import { askForTheStart, contextFinding, windowFinding } from './check-context.ts';
import { checkStructured } from './check-structured.ts';
import type { ModelReply } from '../loop/call/model-call.ts';
import type { ModelFailure } from '../loop/call/model-failure.ts';
import { redactorOfEndpoint } from '../../outbound/secrets/endpoint-secrets.ts';
import type { Redactor } from '../../outbound/secrets/redact.ts';
import { type ListedModel, listModels } from '../models/list-models.ts';
import type { ModelTool } from '../models/message.ts';
import { END_OF_THINKING, hasThinkingTags } from '../models/reading/thinking-tags.ts';
import { type Ask, makeAsk, type TimedCall } from './timed-call.ts';

const LIST_TIMEOUT_MS = 5_000;
/** A reply that takes at least this long should not arrive in one piece. */
const SLOW_MS = 1_500;
const MAX_SAID_CHARACTERS = 500;

const COUNT = 'Write the numbers from one to twenty in English words, separated by commas, and nothing else.';
const ADD = 'Call the tool "add" with a = 17 and b = 25. Do not calculate it yourself, and do not answer in text.';

const TOOLS: readonly ModelTool[] = [
  {
    name: 'add',
    description: 'Adds two numbers.',
    inputSchema: {
      type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'number' } },
      required: ['a', 'b'],
      additionalProperties: false,
    },
  },
];

/** Tests a model. Every problem becomes a finding; after a call fails, the remaining checks are skipped. */
export async function checkModel(task: ModelCheckTask): Promise<ModelCheckReport> {
  const redact = redactorOfEndpoint(task.grant);
  const report = await examine(task, redact);
  // Any of them may quote the server, which may repeat what it was called with.
  const findings = report.findings.map((finding) => ({ ...finding, detail: redact(finding.detail).text }));
  return { ...report, findings };
}

async function examine(task: ModelCheckTask, redact: Redactor): Promise<ModelCheckReport> {
  const ask = makeAsk(task);
  if (task.grant.kind === 'offline') return checkOffline(ask);
  const models = await listModels(task.grant, LIST_TIMEOUT_MS);
  const listed = nameFinding(task, models);
  const streamed = await ask(COUNT);
  const stream = streamFinding(streamed);
  const figures = figuresOf(streamed);
  if (!streamed.end.ok)
    return { findings: [listed, stream, ...notTried(['usage', 'tool_call', 'structured', 'context'])], ...figures };
  const findings = [
    listed,
    stream,
    usageFinding(streamed.end.reply),
    ...thinkingFindings(task.grant, streamed.end.reply),
  ];
  const called = await ask(ADD, TOOLS);
  findings.push(toolFinding(called, redact), await checkStructured(task.grant, ask));
  const tooSmall = windowFinding(task.grant, models ?? []);
  if (tooSmall !== null) findings.push(tooSmall);
  else if (task.context) findings.push(contextFinding(task.grant, await askForTheStart(task.grant, ask)));
  else findings.push({ check: 'context', state: 'skipped', detail: 'It was not requested.' });
  return { findings, ...figures };
}

async function checkOffline(ask: Ask): Promise<ModelCheckReport> {
  const streamed = await ask(COUNT);
  const detail =
    'This is the built-in offline engine, not a language model: it follows fixed rules. Name a model server in models.yaml.';
  const findings: Finding[] = [{ check: 'engine', state: 'ok', detail }, streamFinding(streamed)];
  const rest = ['usage', 'tool_call', 'structured', 'context'].map((check): Finding => {
    return { check, state: 'skipped', detail: 'It does not apply to the offline engine.' };
  });
  return { findings: [...findings, ...rest], ...figuresOf(streamed) };
}

function nameFinding({ grant }: ModelCheckTask, models: readonly ListedModel[] | null): Finding {
  const finding = (state: FindingState, detail: string): Finding => ({ check: 'name', state, detail });
  if (models === null) return finding('skipped', 'The endpoint did not list its models.');
  const names = models.map(({ name }) => name);
  if (names.includes(grant.model)) return finding('ok', `The endpoint lists "${grant.model}".`);
  const known = names.length === 0 ? 'no model' : names.slice(0, 10).join(', ');
  return finding('warning', `The endpoint does not list "${grant.model}"; it lists ${known}.`);
}

function streamFinding({ end, firstTextMs, pieces, totalMs }: TimedCall): Finding {
  const finding = (state: FindingState, detail: string): Finding => ({ check: 'stream', state, detail });
  if (!end.ok) return finding('failed', wordsOf(end.failure));
  if (firstTextMs === null) return finding('warning', 'The model replied without any text.');
  if (pieces === 1 && totalMs > SLOW_MS) {
    return finding('warning', `The reply arrived in one piece after ${Math.round(totalMs)} ms: it is not streamed.`);
  }
  return finding(
    'ok',
    `The first text arrived after ${Math.round(firstTextMs)} ms, all of it after ${Math.round(totalMs)} ms.`,
  );
}

/** Checks are for administrators, so they include the server's own message. */
function wordsOf({ error, said }: ModelFailure): string {
  return said === null ? error.message : `${error.message} The server said: ${said.slice(0, MAX_SAID_CHARACTERS)}`;
}

function figuresOf({ end, firstTextMs, totalMs }: TimedCall) {
  const writingMs = firstTextMs === null ? 0 : totalMs - firstTextMs;
  const tokens = end.ok && !end.reply.estimated ? end.reply.usage.outputTokens : 0;
  return {
    firstTokenMs: firstTextMs === null ? null : Math.round(firstTextMs),
    // Below that, we would measure the network's chunks instead of the model.
    tokensPerSecond: tokens > 1 && writingMs >= 50 ? Math.round((tokens / writingMs) * 10_000) / 10 : null,
  };
}

function usageFinding({ usage, estimated }: ModelReply): Finding {
  const { inputTokens, outputTokens } = usage;
  if (!estimated && inputTokens > 0 && outputTokens > 0) {
    return { check: 'usage', state: 'ok', detail: `It counts tokens: ${inputTokens} in, ${outputTokens} out.` };
  }
  const detail = 'It reports no token counts, so costs are estimated and a full context window is noticed late.';
  return { check: 'usage', state: 'warning', detail };
}

/** Only where something is to be set: most models have their thinking in a field of its own, or don't think. */
function thinkingFindings({ name, thinkingTags }: ModelCheckTask['grant'], { text }: ModelReply): Finding[] {
  const warning = (detail: string): Finding[] => [{ check: 'thinking', state: 'warning', detail }];
  if (!thinkingTags && hasThinkingTags(text)) {
    return warning(
      `The model writes its thinking into its text, in tags: readers see it. Set thinking_tags: true for "${name}" in models.yaml.`,
    );
  }
  return text.includes(END_OF_THINKING)
    ? warning(
        'The text has the end of thinking without its beginning: readers see it. Start the server with the reasoning parser of its model.',
      )
    : [];
}

function toolFinding({ end }: TimedCall, redact: Redactor): Finding {
  const finding = (state: FindingState, detail: string): Finding => ({ check: 'tool_call', state, detail });
  if (!end.ok) return finding('failed', wordsOf(end.failure));
  const { calls, faults } = end.reply;
  const call = calls.find(({ name }) => name === 'add');
  if (call === undefined) {
    const did = calls.length > 0 ? `called "${calls[0]!.name}"` : 'replied with text';
    return finding(
      'failed',
      `The model ${did} instead of calling the tool "add": agents need a model that calls tools.`,
    );
  }
  const fault = faults[call.id];
  if (fault !== undefined) return finding('failed', `The model called the tool, but ${fault.replace('The', 'the')}`);
  const { a, b } = call.input;
  if (a === 17 && b === 25) return finding('ok', 'The model called the tool with the right arguments.');
  return finding(
    'warning',
    `The model called the tool with other arguments: ${redact(JSON.stringify(call.input)).text.slice(0, 200)}.`,
  );
}

function notTried(checks: readonly string[]): Finding[] {
  return checks.map((check) => ({ check, state: 'skipped', detail: 'The model does not respond.' }));
}
