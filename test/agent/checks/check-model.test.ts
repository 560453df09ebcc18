// The check of a model against the scripted model server: a good one, and every oddity that an administrator should hear of.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { checkModel } from '../../../src/agent/checks/check-model.ts';
import type { ModelCheckTask } from '../../../src/agent/checks/check-task.ts';
import { NO_EXTRAS } from '../../../src/domain/capabilities/model.ts';
import type { ModelQuestion, Reply } from '../../support/model/model-reply.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { GRANT, LIMITS } from '../play-main.ts';

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

type Grant = Partial<ModelCheckTask['grant']>;

const check = (grant: Grant = {}, more: Partial<ModelCheckTask> = {}) =>
  checkModel({
    kind: 'model',
    grant: { ...GRANT, baseUrl: server.url, model: 'scripted', ...grant },
    limits: LIMITS,
    context: true,
    ...more,
  });

/** Counts four characters per token up to its context window, and drops what comes before. */
function obedient({ body, userText }: ModelQuestion, window = Infinity): Reply {
  const read = Math.min(window, Math.ceil(userText.length / 4));
  const usage = { input: read, output: 20 };
  if (body['tools'] !== undefined) return { tools: [{ name: 'add', input: { a: 17, b: 25 } }], usage };
  const [marker] = /MARKER-\d+/.exec(userText.slice(-read * 4)) ?? [];
  return {
    text: marker === undefined ? ['one, ', 'two, ', 'three, ', 'four, ', 'five, ', 'six'] : [marker],
    deltaMs: 30,
    usage,
  };
}

const stateOf = async (report: ReturnType<typeof checkModel>) =>
  Object.fromEntries((await report).findings.map(({ check, state }) => [check, state]));
const detailOf = async (report: ReturnType<typeof checkModel>, check: string) =>
  (await report).findings.find((finding) => finding.check === check)?.detail;

test.each(['openai', 'anthropic'] as const)(
  'a good model passes everything, and its speed is reported (%s)',
  async (kind) => {
    server.script((question) => obedient(question));
    const report = await check({ kind });
    expect(await stateOf(Promise.resolve(report))).toEqual({
      name: 'ok',
      stream: 'ok',
      usage: 'ok',
      tool_call: 'ok',
      structured: 'ok',
      context: 'ok',
    });
    expect(report.firstTokenMs).toBeGreaterThan(0);
    expect(report.tokensPerSecond).toBeGreaterThan(0);
  },
);

test('a server that truncates prompts is reported, with the remedy', async () => {
  server.script((question) => obedient(question, 4_096));
  const report = check({ contextWindow: 32_768 });
  expect(await stateOf(report)).toMatchObject({ context: 'warning' });
  expect(await detailOf(report, 'context')).toMatch(
    /^The server read 4096 of about 19660 tokens: .*OLLAMA_CONTEXT_LENGTH=32768.*set context_window to about 4096 in models\.yaml\.$/,
  );
});

test.each([true, false])(
  'a window that its endpoint lists as smaller is reported at once (long prompt: %s)',
  async (context) => {
    server.script((question) => obedient(question));
    const before = server.requests.length;
    const report = check({ model: 'scripted-large', contextWindow: 131_072 }, { context });
    expect(await detailOf(report, 'context')).toMatch(
      /^A call of the server takes 65536 tokens, fewer than context_window \(131072\)\. .*llama\.cpp: "-c 131072".*to about 65536/,
    );
    const sent = server.requests.slice(before).map(({ body }) => JSON.stringify(body).length);
    expect(Math.max(...sent)).toBeLessThan(10_000);
    expect(await stateOf(check({ model: 'scripted-large', contextWindow: 65_536 }, { context }))).toMatchObject({
      context: context ? 'ok' : 'skipped',
    });
  },
);

test('a server that truncates prompts and counts nothing is recognised by what the model forgot', async () => {
  server.script((question) => ({ ...obedient(question, 4_096), usage: { input: 0, output: 0 } }));
  const report = check({ contextWindow: 32_768 });
  expect(await stateOf(report)).toMatchObject({ usage: 'warning', context: 'warning' });
  expect(await detailOf(report, 'context')).toContain('The server may have truncated it.');
});

test('a server that refuses a long prompt is reported', async () => {
  server.script((question) =>
    question.userText.length > 10_000 ? { status: 400, body: { error: { message: 'too long' } } } : obedient(question),
  );
  expect(await detailOf(check({ contextWindow: 32_768 }), 'context')).toMatch(
    /^A prompt of about 19660 tokens failed: .*400/,
  );
});

test('the prompt that fills the window leaves room for the answer, and is never huge', async () => {
  const lengths: number[] = [];
  server.script((question) => {
    lengths.push(question.userText.length);
    return obedient(question);
  });
  await check({ contextWindow: 1_000_000 });
  expect(Math.max(...lengths)).toBeLessThan(32_000 * 5);
  lengths.length = 0;
  await check({ contextWindow: 2_048, maxOutputTokens: 2_048 });
  expect(Math.max(...lengths)).toBeLessThan(2_048 * 0.6 * 5);
});

test('the long prompt is left out on demand', async () => {
  server.script((question) => obedient(question));
  expect(await stateOf(check({}, { context: false }))).toMatchObject({ context: 'skipped' });
});

test.each<[string, Reply, string, string]>([
  ['words', { text: '42' }, 'failed', 'The model replied with text instead of calling the tool'],
  ['another tool', { tools: [{ name: 'sum', input: {} }] }, 'failed', 'The model called "sum" instead of'],
  [
    'broken arguments',
    { tools: [{ name: 'add', rawArguments: '{"a": 1' }] },
    'failed',
    'the arguments were not valid JSON',
  ],
  [
    'other numbers',
    { tools: [{ name: 'add', input: { a: 1, b: 2 } }] },
    'warning',
    'with other arguments: {"a":1,"b":2}',
  ],
  ['a refusal', { status: 400, body: { error: { message: 'no tools here' } } }, 'failed', 'no tools here'],
])('a tool call that is answered by %s', async (_name, reply, state, words) => {
  server.script((question) => (question.body['tools'] === undefined ? obedient(question) : reply));
  const report = check({}, { context: false });
  expect(await stateOf(report)).toMatchObject({ stream: 'ok', tool_call: state });
  expect(await detailOf(report, 'tool_call')).toContain(words);
});

const KEPT: Reply = { text: '{"total":42,"unit":"none"}' };
test.each<[string, { structured: 'tool' | 'json_schema'; reply: Reply; state: string; words: string }]>([
  [
    'keeps a reply to a schema',
    { structured: 'tool', reply: KEPT, state: 'ok', words: 'write "structured: json_schema" in models.yaml' },
  ],
  [
    'keeps a reply to a schema, as configured',
    { structured: 'json_schema', reply: KEPT, state: 'ok', words: 'models.yaml uses that' },
  ],
  [
    'ignores the schema',
    { structured: 'tool', reply: { text: 'It is 42.' }, state: 'ok', words: 'No: the server ignored the schema' },
  ],
  [
    'ignores the schema, against what is configured',
    { structured: 'json_schema', reply: { text: '{"total":42}' }, state: 'warning', words: 'Write "structured: tool"' },
  ],
  [
    'refuses the schema',
    { structured: 'json_schema', reply: { status: 400 }, state: 'warning', words: 'did not accept the request' },
  ],
  ['is overloaded', { structured: 'json_schema', reply: { status: 503 }, state: 'skipped', words: 'is overloaded' }],
])('a server that %s', async (_name, { structured, reply, state, words }) => {
  server.script((question) => (question.body['response_format'] === undefined ? obedient(question) : reply));
  const report = check({ structured }, { context: false });
  expect(await stateOf(report)).toMatchObject({ tool_call: 'ok', structured: state });
  expect(await detailOf(report, 'structured')).toContain(words);
});

test('a refused key ends the check at once, and the key is not shown', async () => {
  server.script({ status: 401, body: { error: { message: `bad key ${GRANT.apiKey}` } } });
  const report = check();
  expect(await stateOf(report)).toMatchObject({
    stream: 'failed',
    usage: 'skipped',
    tool_call: 'skipped',
    structured: 'skipped',
    context: 'skipped',
  });
  expect(await detailOf(report, 'stream')).toContain('HTTP status 401');
  expect(JSON.stringify(await report)).not.toContain(GRANT.apiKey);
});

test('no server at the address', async () => {
  const report = check({ baseUrl: 'http://127.0.0.1:9' });
  expect(await stateOf(report)).toMatchObject({ name: 'skipped', stream: 'failed' });
  expect(await detailOf(report, 'stream')).toContain('the connection was refused');
});

test('a model that the endpoint does not list', async () => {
  server.script((question) => obedient(question));
  expect(await detailOf(check({ model: 'other' }, { context: false }), 'name')).toBe(
    'The endpoint does not list "other"; it lists scripted, scripted-large.',
  );
});

test('an answer without a word, and one that is not streamed', async () => {
  server.script({ text: '', usage: { input: 5, output: 0 } });
  expect(await stateOf(check({}, { context: false }))).toMatchObject({ stream: 'warning', usage: 'warning' });
  server.script({ text: 'all at once', firstMs: 1_600 });
  expect(await detailOf(check({}, { context: false }), 'stream')).toContain('in one piece');
});

test('the offline engine passes and says what it is', async () => {
  const report = check({ kind: 'offline', baseUrl: '', apiKey: null });
  expect(await stateOf(report)).toEqual({
    engine: 'ok',
    stream: 'ok',
    usage: 'skipped',
    tool_call: 'skipped',
    structured: 'skipped',
    context: 'skipped',
  });
  expect(await detailOf(report, 'engine')).toContain('not a language model');
});

test('a server that repeats what its endpoint adds to its calls shows none of it in any finding', async () => {
  const planted = ['planted-in-query', 'planted-in-header', 'planted in the body', 'planted-key-of-it'];
  const [query, header, body, apiKey] = planted as [string, string, string, string];
  const said = planted.flatMap((one) => [one, Buffer.from(one).toString('base64'), encodeURIComponent(one)]).join(' ');
  const extras = { ...NO_EXTRAS, headers: { 'x-house': header }, query: { tenant: query }, extraBody: { route: body } };
  server.script({ status: 400, body: said });
  const refused = await check({ apiKey, extras });
  // At its two hundredth character, where what is shown of it ends, is the middle of the key.
  const padding = 'x'.repeat(190 - '{"a":"'.length);
  server.script(({ body: asked }) =>
    asked['tools'] === undefined
      ? { text: 'one' }
      : { tools: [{ name: 'add', input: { a: `${padding}${apiKey}`, b: said } }] },
  );
  const answered = await check({ apiKey, extras });
  server.script({ tools: [{ name: said, input: {} }] });
  const misled = await check({ apiKey, extras });
  const listing = createServer((_, response) => response.end(JSON.stringify({ data: [{ id: said }] })));
  await new Promise<void>((resolve) => listing.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void listing.close());
  const { port } = listing.address() as AddressInfo;
  const listed = await check({ apiKey, extras, baseUrl: `http://127.0.0.1:${port}` });
  expect(listed.findings[0]!.detail).toContain('it lists [credential]');
  const shown = JSON.stringify([refused, answered, misled, listed]);
  expect(shown.match(/planted|cGxhbnRl/g)).toBeNull();
  expect(refused.findings.find(({ check: name }) => name === 'stream')!.detail).toContain('[credential]');
});

test.each([
  ['<think>Count.</think>\n\none, two', {}, 'Set thinking_tags: true for "house-model" in models.yaml'],
  ['Count.</think>\n\none, two', {}, 'Start the server with the reasoning parser'],
  ['<think>Count.</think>\n\none, two', { thinkingTags: true }, undefined],
])('thinking in the text %j is noticed', async (text, grant, said) => {
  server.script({ text });
  const detail = await detailOf(check(grant, { context: false }), 'thinking');
  if (said === undefined) expect(detail).toBeUndefined();
  else expect(detail).toContain(said);
});
