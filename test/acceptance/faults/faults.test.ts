// What may break around a run: its models, its tools and its clients. The daemon keeps serving.
import { ANSWER } from '../../../src/store/rows.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rowsOf } from '../../support/daemon/daemon-look.ts';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { type ModelQuestion, type Reply, replyFromDirectives } from '../../support/model/model-reply.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { openTurn, takeTurn, type TurnAnswer, type TurnProtocol, WAYS } from '../../support/daemon/turn.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const RUN_TIMEOUT_SECONDS = 12;
const MAX_STEPS = 5;

/** Asked by `{{name}}` in a user's text: what the model answers to the nth call of that one run, counted from 1. */
const SCRIPTS: Readonly<Record<string, (call: number, question: ModelQuestion) => Reply>> = {
  busy: (call) => (call === 1 ? { status: 429, headers: { 'retry-after': '1' } } : { text: 'Not busy any more.' }),
  shaky: (call) => (call <= 2 ? { status: 500 } : { text: 'Up again.' }),
  unknownTool: (_call, { step }) =>
    step === 0 ? { tools: [{ name: 'launch_rocket', input: { now: true } }] } : { text: 'There is no rocket.' },
  brokenArguments: (_call, { step }) =>
    step === 0
      ? { tools: [{ name: 'write_file', rawArguments: '{"path": "a.txt", "content": ' }] }
      : { text: 'I misspoke.' },
  wrongArguments: (_call, { step }) =>
    step === 0 ? { tools: [{ name: 'write_file', input: { path: 5, mode: 'fast' } }] } : { text: 'I misunderstood.' },
  endlessTools: () => ({ tools: [{ name: 'list_files', input: {} }] }),
};

/** Counts the calls of each run, identified by a number in its text. */
function makeScript(): (question: ModelQuestion) => Reply {
  const calls = new Map<string, number>();
  return (question) => {
    const [marker, name = ''] = /\{\{(\w+)#\d+\}\}/.exec(question.userText) ?? [];
    const script = SCRIPTS[name];
    if (marker === undefined || script === undefined) return replyFromDirectives(question);
    const call = (calls.get(marker) ?? 0) + 1;
    calls.set(marker, call);
    return script(call, question);
  };
}

let asked = 0;
const scripted = (name: string): string => `{{${name}#${(asked += 1)}}}`;

/** A loopback address where nothing listens: a port of 127.0.0.1 that was free a moment ago may now be another daemon's. */
const CLOSED = 'http://127.0.0.77:8484';

interface Expected {
  readonly status: number;
  readonly type: string;
  readonly message: RegExp;
  /** Text that was streamed before the failure; none when absent. */
  readonly streamed?: RegExp;
}

/** Asserts one failure as its protocol reports it: a status without a stream, an error event at the end of one. */
function expectFailure(answer: TurnAnswer, way: (typeof WAYS)[number], expected: Expected): void {
  expect(answer.error, way.name).toMatchObject({
    type: expected.type,
    message: expect.stringMatching(expected.message),
  });
  expect(answer.status, way.name).toBe(way.stream ? 200 : expected.status);
  if (!way.stream) {
    expect(answer.headers.has('retry-after'), way.name).toBe(expected.status === 504);
    return;
  }
  expect(answer.text, way.name).toMatch(expected.streamed ?? /^$/);
  const last = answer.events.at(-1);
  expect(last?.event, way.name).toBe(way.protocol === 'messages' ? 'error' : null);
  expect(JSON.parse(last?.data ?? '{}'), way.name).toHaveProperty('error.type', expected.type);
  expect(
    answer.events.map(({ data }) => data),
    way.name,
  ).not.toContain('[DONE]');
}

/** Limits of the daemons that meet faulty models. Only what must run out is short: a busy machine lets everything wait. */
const TEMPERS = {
  patient: ', patience_seconds: 0',
  hasty: ', patience_seconds: 1, idle_timeout_seconds: 1',
  // Of its own: who waits for what comes after a first token gives that one its time.
  brisk: ', patience_seconds: 0, first_token_timeout_seconds: 1',
  brief: `, run_timeout_seconds: ${RUN_TIMEOUT_SECONDS}`,
} as const;
type Temper = keyof typeof TEMPERS;

interface Fixture {
  readonly daemon: DaemonProcess;
  /** By the name of the model. */
  readonly keys: ReadonlyMap<string, string>;
}

describe('models and tools', () => {
  let model: ModelServer;
  let narrow: ModelServer;
  const fixtures = new Map<Temper, Fixture>();

  beforeAll(async () => {
    [model, narrow] = await Promise.all([startModelServer(), startModelServer()]);
    model.script(makeScript());
    for (const [temper, limits] of Object.entries(TEMPERS)) fixtures.set(temper as Temper, await openFixture(limits));
  });
  afterAll(async () => {
    for (const { daemon } of fixtures.values()) await daemon.close();
    await Promise.all([model.close(), narrow.close()]);
  });

  async function openFixture(limits: string): Promise<Fixture> {
    const daemon = await startDaemonProcess({
      errandYaml: `model: { max_steps: ${MAX_STEPS}${limits} }\n`,
      modelsYaml: [
        'endpoints:',
        `  openai: { kind: openai, base_url: "${model.url}" }`,
        `  anthropic: { kind: anthropic, base_url: "${model.url}" }`,
        `  narrow: { kind: openai, base_url: "${narrow.url}", max_in_flight: 2 }`,
        `  closed: { kind: openai, base_url: "${CLOSED}" }`,
        'models:',
        '  openai: { endpoint: openai, model: m }',
        '  anthropic: { endpoint: anthropic, model: m }',
        '  narrow: { endpoint: narrow, model: m }',
        '  closed: { endpoint: closed, model: m }',
        'scenarios: { general: { model: openai } }',
      ].join('\n'),
    });
    const keys = new Map<string, string>();
    for (const name of ['openai', 'anthropic', 'narrow', 'closed']) {
      const body = { user: 'admin', scope: 'conversation', model: name };
      keys.set(name, ((await daemon.admin('POST', '/api/v1/keys', body)) as { key: string }).key);
    }
    return { daemon, keys };
  }

  interface Asking {
    readonly content: string;
    readonly key: string;
    readonly temper?: Temper;
    readonly protocol?: TurnProtocol;
    readonly stream?: boolean;
  }
  const doorOf = (key: string, temper: Temper = 'patient') => {
    const { daemon, keys } = fixtures.get(temper)!;
    return { url: daemon.url, apiKey: keys.get(key)! };
  };
  const ask = ({ key, temper, ...request }: Asking): Promise<TurnAnswer> => takeTurn(doorOf(key, temper), request);

  /** Asks in all four ways at once, of endpoints of both kinds in turn unless one is named. */
  async function inEveryWay(content: () => string, key?: string, temper?: Temper) {
    return Promise.all(
      WAYS.map(async (way, at) => {
        const { protocol, stream } = way;
        const answer = await ask({
          content: content(),
          protocol,
          stream,
          ...(temper !== undefined && { temper }),
          key: key ?? (at % 3 === 0 ? 'openai' : 'anthropic'),
        });
        return { way, answer };
      }),
    );
  }

  interface Failing extends Expected {
    readonly name: string;
    readonly content: string;
    readonly key?: string;
    readonly temper?: Temper;
  }
  const failing: readonly Failing[] = [
    {
      name: 'refuses connections',
      key: 'closed',
      content: 'x',
      status: 500,
      type: 'api_error',
      message:
        /^The model "closed" could not be read: the connection was refused\. It has never answered since it was configured: "errand models check closed" says more\. \(tried 5 times\)$/,
    },
    {
      name: 'refuses connections for longer than there is patience',
      temper: 'hasty',
      key: 'closed',
      content: 'x',
      status: 500,
      type: 'api_error',
      message: /could not be read: the connection was refused\. It has never answered .* \(tried [234] times\)$/,
    },
    {
      name: 'resets every connection',
      content: '[[refuse=1]]',
      status: 500,
      type: 'api_error',
      message: /tried 5 times/,
    },
    {
      name: 'stays broken with 500',
      content: '[[fail=500]]',
      status: 500,
      type: 'api_error',
      message: /failed at its endpoint \(HTTP status 500\)\. \(tried 5 times\)$/,
    },
    {
      name: 'refuses the request itself',
      content: '[[fail=400]]',
      status: 500,
      type: 'api_error',
      message: /did not accept the request \(HTTP status 400\)\.$/,
    },
    {
      name: 'asks for more patience than the run has',
      content: '[[fail=429 retry=3000]]',
      status: 500,
      type: 'api_error',
      message: /was called too often \(HTTP status 429\)\. It asks to wait 3000 seconds/,
    },
    {
      name: 'hangs before its headers',
      temper: 'brisk',
      content: '[[hang=before-headers]]',
      status: 504,
      type: 'timeout_error',
      message: /sent nothing for 1 seconds/,
    },
    {
      name: 'hangs after its headers',
      temper: 'brisk',
      content: '[[hang=after-headers]]',
      status: 504,
      type: 'timeout_error',
      message: /sent nothing for 1 seconds/,
    },
    {
      name: 'falls silent in the middle',
      temper: 'hasty',
      content: '[[text=half an answer]] [[deltas=2]] [[hang=mid-stream]]',
      status: 504,
      type: 'timeout_error',
      message: /fell silent for 1 seconds in the middle of its reply/,
      streamed: /^half an$/,
    },
    {
      name: 'is cut in the middle of a token',
      content: '[[text=half an answer]] [[deltas=2]] [[cut=1]]',
      status: 500,
      type: 'api_error',
      message: /^The model ".*" (broke off|could not be read)/,
      streamed: /^(half an\s*){5}$/,
    },
    {
      name: 'ends its reply without an end',
      content: '[[text=so]] [[nofinish=1]]',
      status: 500,
      type: 'api_error',
      message: /broke off: its reply ended before it was finished/,
      streamed: /^(so\s*){5}$/,
    },
    {
      name: 'sends broken JSON',
      content: '[[text=so far]] [[broken=1]]',
      status: 500,
      type: 'api_error',
      message: /sent something that violates its protocol/,
      streamed: /^(so far\s*){5}$/,
    },
    {
      name: 'answers with a web page',
      content: '[[html=1]]',
      status: 500,
      type: 'api_error',
      message: /answered with a document instead of a stream\. \(tried 5 times\)$/,
    },
    {
      name: 'drips bytes that never make a token',
      temper: 'brisk',
      content: '[[drip=100]]',
      status: 504,
      type: 'timeout_error',
      message: /sent nothing for 1 seconds/,
    },
    {
      name: 'never ends',
      temper: 'brief',
      content: '[[text=x]] [[endless=1]] [[every=200]]',
      status: 504,
      type: 'timeout_error',
      message: /did not finish within its time limit/,
      streamed: /^x+$/,
    },
  ];

  test.concurrent.each(failing)('a model that $name', async ({ name: _name, content, key, temper, ...expected }) => {
    for (const { way, answer } of await inEveryWay(() => content, key, temper)) expectFailure(answer, way, expected);
  });

  test.concurrent.each([
    { name: '429 is waited out as long as it asks', script: 'busy', text: 'Not busy any more.', atLeastMs: 1_000 },
    { name: 'two 500s are got over', script: 'shaky', text: 'Up again.', atLeastMs: 0 },
    { name: 'a tool that does not exist', script: 'unknownTool', text: 'There is no rocket.', atLeastMs: 0 },
    { name: 'arguments that are no JSON', script: 'brokenArguments', text: 'I misspoke.', atLeastMs: 0 },
    { name: 'arguments that do not fit', script: 'wrongArguments', text: 'I misunderstood.', atLeastMs: 0 },
  ])('$name: the run continues', async ({ script, text, atLeastMs }) => {
    const startedAt = performance.now();
    for (const { way, answer } of await inEveryWay(() => scripted(script))) {
      expect(answer.error, way.name).toBeNull();
      expect(answer.text.trim(), way.name).toBe(text);
    }
    expect(performance.now() - startedAt).toBeGreaterThan(atLeastMs);
  });

  test.concurrent.each([
    { script: 'unknownTool', expected: /There is no tool named \\?"launch_rocket\\?"/ },
    { script: 'brokenArguments', expected: /arguments were not valid JSON/ },
    { script: 'wrongArguments', expected: /do not fit the schema of/ },
  ])('the model learns what was wrong: $script', async ({ script, expected }) => {
    const content = scripted(script);
    for (const key of ['openai', 'anthropic']) await ask({ content, key });
    const calls = model.requests.filter(({ body }) => JSON.stringify(body.messages).includes(content));
    expect(calls).toHaveLength(4);
    for (const call of [calls[1], calls[3]]) expect(JSON.stringify(call?.body.messages)).toMatch(expected);
  });

  test.concurrent('a model that calls tools forever is ended at the limit of steps', async () => {
    for (const { way, answer } of await inEveryWay(() => scripted('endlessTools'))) {
      const message = new RegExp(`did not finish within ${MAX_STEPS} steps`);
      expectFailure(answer, way, { status: 500, type: 'api_error', message });
      const sql = 'SELECT count(*) AS steps FROM steps s JOIN runs r ON r.seq = s.run_seq WHERE r.id = ?';
      expect(rowsOf(fixtures.get('patient')!.daemon, sql, answer.runId ?? '')).toEqual([{ steps: MAX_STEPS }]);
    }
  });

  test.concurrent('an endpoint never has more calls at once than its max_in_flight', async () => {
    const two = Promise.withResolvers<void>();
    narrow.script({ hang: 'before-headers', until: two.promise, firstMs: 100, text: 'In my turn.' });
    const asked = Promise.all(Array.from({ length: 10 }, () => ask({ content: 'x', key: 'narrow' })));
    await narrow.waitForRequest(2);
    two.resolve();
    const answers = await asked;
    expect(answers.map(({ text }) => text)).toEqual(Array.from({ length: 10 }, () => 'In my turn.'));
    expect(narrow.maxInFlight()).toBe(2);
  });

  test.concurrent.each([true, false])(
    'a client that leaves does not stop its run (stream: %s)',
    { tags: ['C7'] },
    async (stream) => {
      const leave = new AbortController();
      const content = `[[text=finished alone]] [[deltas=4 every=200]] [[leave=${stream}]]`;
      const sent = openTurn(doorOf('openai'), { content, stream, signal: leave.signal }).catch(() => undefined);
      await waitFor(() => model.requests.some(({ body }) => JSON.stringify(body).includes(`leave=${stream}`)));
      if (stream) await sent;
      leave.abort();
      await sent;
      const sql = `SELECT r.status, ${ANSWER} FROM runs r JOIN messages m ON m.run_seq = r.seq AND m.role = 'user'
      WHERE m.content LIKE ?`;
      const row = await waitFor(() =>
        rowsOf<{ status: string; answer: string }>(fixtures.get('patient')!.daemon, sql, `%leave=${stream}%`).find(
          ({ status }) => status === 'completed',
        ),
      );
      expect(row.answer).toBe('finished alone');
    },
  );

  test.each(Object.keys(TEMPERS) as Temper[])(
    'after all of it the %s daemon is ready and holds no run',
    async (temper) => {
      const { daemon } = fixtures.get(temper)!;
      const status = await daemon.admin('GET', '/api/v1/status');
      expect(status).toMatchObject({
        ready: true,
        runs: { queued: 0, running: 0, finalizing: 0 },
        workers: { busy: 0 },
      });
      await waitFor(() => model.inFlight() === 0 && narrow.inFlight() === 0);
      const faults = daemon
        .stderr()
        .split('\n')
        .filter((line) => /^(?!\{"level":"(info|warn)")./.test(line));
      expect(faults).toEqual([]);
    },
  );

  test('after all of it a daemon answers', async () => {
    expect(await ask({ content: '[[text=Still here.]]', key: 'openai' })).toMatchObject({
      status: 200,
      text: 'Still here.',
    });
  });
});
