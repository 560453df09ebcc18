// Everything that may break below a run: models, tools, worker threads, clients, disks. The daemon keeps serving.
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contentsOf, rowsOf } from '../support/daemon/daemon-look.ts';
import { type DaemonProcess, startDaemonProcess } from '../support/daemon/daemon-process.ts';
import { type ModelQuestion, type Reply, replyFromDirectives } from '../support/model/model-reply.ts';
import { type ModelServer, startModelServer } from '../support/model/model-server.ts';
import { openTurn, takeTurn, type TurnAnswer, type TurnProtocol } from '../support/daemon/turn.ts';
import { waitFor } from '../support/time/wait-for.ts';

const RUN_TIMEOUT_SECONDS = 12;
const MAX_STEPS = 5;

/** Ways of asking: both protocols, with and without a stream. */
const WAYS = (['messages', 'chat'] as const).flatMap((protocol) =>
  [false, true].map((stream) => ({ protocol, stream, name: `${protocol}${stream ? ' stream' : ''}` })),
);

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

/** The answer of a run `r`: the text of its last step. */
const ANSWER = '(SELECT text FROM steps WHERE run_seq = r.seq ORDER BY step DESC LIMIT 1) AS answer';

/** Limits of the daemons that meet faulty models. Only what must run out is short: a busy machine lets everything wait. */
const TEMPERS = {
  patient: '',
  hasty: ', connect_timeout_seconds: 1, first_token_timeout_seconds: 1, idle_timeout_seconds: 1',
  brief: `, run_timeout_seconds: ${RUN_TIMEOUT_SECONDS}`,
} as const;
type Temper = keyof typeof TEMPERS;

interface House {
  readonly daemon: DaemonProcess;
  /** By the name of the model. */
  readonly keys: ReadonlyMap<string, string>;
}

describe('models and tools', () => {
  let model: ModelServer;
  let narrow: ModelServer;
  const houses = new Map<Temper, House>();

  beforeAll(async () => {
    [model, narrow] = await Promise.all([startModelServer(), startModelServer()]);
    model.script(makeScript());
    for (const [temper, limits] of Object.entries(TEMPERS)) houses.set(temper as Temper, await openHouse(limits));
  });
  afterAll(async () => {
    for (const { daemon } of houses.values()) await daemon.close();
    await Promise.all([model.close(), narrow.close()]);
  });

  async function openHouse(limits: string): Promise<House> {
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
    const { daemon, keys } = houses.get(temper)!;
    return { url: daemon.url, apiKey: keys.get(key)! };
  };
  const ask = ({ key, temper, ...wish }: Asking): Promise<TurnAnswer> => takeTurn(doorOf(key, temper), wish);

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
      message: /^The model "closed" could not be read: the connection was refused\. \(tried 5 times\)$/,
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
      temper: 'hasty',
      content: '[[hang=before-headers]]',
      status: 504,
      type: 'timeout_error',
      message: /sent nothing for 1 seconds/,
    },
    {
      name: 'hangs after its headers',
      temper: 'hasty',
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
      streamed: /^half an$/,
    },
    {
      name: 'ends its reply without an end',
      content: '[[text=so]] [[nofinish=1]]',
      status: 500,
      type: 'api_error',
      message: /broke off: its reply ended before it was finished/,
      streamed: /^so$/,
    },
    {
      name: 'sends broken JSON',
      content: '[[text=so far]] [[broken=1]]',
      status: 500,
      type: 'api_error',
      message: /sent something that violates its protocol/,
      streamed: /^so far$/,
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
      temper: 'hasty',
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
      expect(rowsOf(houses.get('patient')!.daemon, sql, answer.runId ?? '')).toEqual([{ steps: MAX_STEPS }]);
    }
  });

  test.concurrent('an endpoint never has more calls at once than its max_in_flight', async () => {
    narrow.script({ firstMs: 100, text: 'In my turn.' });
    const answers = await Promise.all(Array.from({ length: 10 }, () => ask({ content: 'x', key: 'narrow' })));
    expect(answers.map(({ text }) => text)).toEqual(Array.from({ length: 10 }, () => 'In my turn.'));
    expect(narrow.maxInFlight()).toBe(2);
  });

  test.concurrent.each([true, false])('a client that leaves does not stop its run (stream: %s)', async (stream) => {
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
      rowsOf<{ status: string; answer: string }>(houses.get('patient')!.daemon, sql, `%leave=${stream}%`).find(
        ({ status }) => status === 'completed',
      ),
    );
    expect(row.answer).toBe('finished alone');
  });

  test.each(Object.keys(TEMPERS) as Temper[])(
    'after all of it the %s daemon is ready and holds no run',
    async (temper) => {
      const { daemon } = houses.get(temper)!;
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

describe('worker threads', () => {
  const PRELOAD = fileURLToPath(new URL('../support/daemon/worker-fault.mjs', import.meta.url));
  let model: ModelServer;
  let daemon: DaemonProcess;
  /** Ends hung threads soon. On a busy machine, that may also end a thread that is only starting. */
  let hasty: DaemonProcess;
  let ofHasty: string;
  /** All of its runs share one thread. */
  let crowd: DaemonProcess;
  let ofCrowd: string;
  let faults: string;

  beforeAll(async () => {
    faults = mkdtempSync(join(tmpdir(), 'errand-faults-'));
    model = await startModelServer();
    const start = (folder: string, limit: string) =>
      startDaemonProcess({
        modelServerUrl: model.url,
        errandYaml: `workers: { threads: 2, runs_per_thread: 2, memory_mb: 256${limit} }\n`,
        env: { NODE_OPTIONS: `--import=${PRELOAD}`, TEST_WORKER_FAULTS: folder },
      });
    daemon = await start(faults, '');
    ofHasty = mkdtempSync(join(tmpdir(), 'errand-faults-'));
    hasty = await start(ofHasty, ', hang_timeout_seconds: 6');
    ofCrowd = mkdtempSync(join(tmpdir(), 'errand-faults-'));
    crowd = await startDaemonProcess({
      modelServerUrl: model.url,
      errandYaml: 'workers: { threads: 1, runs_per_thread: 8 }\n',
      env: { NODE_OPTIONS: `--import=${PRELOAD}`, TEST_WORKER_FAULTS: ofCrowd },
    });
  });
  afterAll(async () => {
    await crowd.close();
    rmSync(ofCrowd, { recursive: true });
    await daemon.close();
    await hasty.close();
    rmSync(ofHasty, { recursive: true });
    await model.close();
    rmSync(faults, { recursive: true });
  });

  test.each(['throw', 'exit', 'allocate', 'loop'])(
    'a thread that dies (%s) takes no run with it: its runs resume and the others do not notice',
    async (fault) => {
      const house = fault === 'loop' ? hasty : daemon;
      // Four runs fill both threads, two each. A run that asks again after the fault gets its reply at once.
      let broken = false;
      const before = model.requests.length;
      const resumed = Promise.withResolvers<void>();
      const words = Array.from({ length: 30 }, () => 'w');
      model.script(() => (broken ? { text: 'resumed' } : { text: words, hang: 'mid-stream', until: resumed.promise }));
      const turns = Array.from({ length: 4 }, () =>
        takeTurn({ url: house.url, apiKey: house.apiKey }, { content: fault, stream: true }),
      );
      await model.waitForRequest(before + 4);
      broken = true;
      writeFileSync(join(house === hasty ? ofHasty : faults, fault), '');
      // The others are in the middle of their replies until the model calls of the dead thread were repeated.
      await model.waitForRequest(before + 6);
      resumed.resolve();
      const answers = await Promise.all(turns);
      const why = house
        .stderr()
        .match(/"why":"[^"]*"/g)
        ?.slice(-8)
        .join('\n');
      const runs = answers.map(({ runId }) => runId ?? '');
      const rows = rowsOf<{ status: string; resumes: number; attempt: number; answer: string }>(
        house,
        `SELECT status, resumes, attempt, ${ANSWER} FROM runs r WHERE id IN (${runs.map(() => '?').join(', ')}) ORDER BY attempt`,
        ...runs,
      );
      expect(
        rows.map(({ status }) => status),
        why,
      ).toEqual(Array.from({ length: 4 }, () => 'completed'));
      expect(
        rows.map(({ attempt }) => attempt),
        why,
      ).toEqual([1, 1, 2, 2]);
      // Each had a neighbour, which may have been the one.
      expect(rows.map(({ resumes }) => resumes)).toEqual([0, 0, 0, 0]);
      expect(rows.map(({ answer }) => answer)).toEqual([
        ...Array.from({ length: 2 }, () => 'w'.repeat(30)),
        'resumed',
        'resumed',
      ]);
      expect(model.requests.length - before).toBe(6);
      for (const { error, events, text } of answers) {
        expect(error).toBeNull();
        expect(text).toMatch(/^(w{30}|w*resumed)$/);
        const starts = events.filter(({ event }) => event === 'content_block_start');
        expect(events.filter(({ event }) => event === 'content_block_stop')).toHaveLength(starts.length);
      }
    },
  );

  test('an unreadable message of a run interrupts it, and it continues with the others next to it', async () => {
    const garbled = Promise.withResolvers<void>();
    const words = Array.from({ length: 10 }, () => 'w');
    model.script({ text: words, hang: 'mid-stream', until: garbled.promise });
    const before = model.requests.length;
    const turns = Array.from({ length: 4 }, () =>
      takeTurn({ url: crowd.url, apiKey: crowd.apiKey }, { content: 'garbled' }),
    );
    await model.waitForRequest(before + 4);
    writeFileSync(join(ofCrowd, 'garble'), '');
    await waitFor(() => !existsSync(join(ofCrowd, 'garble')));
    garbled.resolve();
    const answers = await Promise.all(turns);
    expect(answers.map(({ text }) => text)).toEqual(Array.from({ length: 4 }, () => 'w'.repeat(10)));
    expect(model.requests.length - before).toBe(5);
  });

  test('a run whose thread dies each time is given up after two resumes, and says so', async () => {
    model.script({ text: ['w'], hang: 'mid-stream' });
    const before = model.requests.length;
    const turn = takeTurn({ url: daemon.url, apiKey: daemon.apiKey }, { content: 'unlucky' });
    let over = false;
    void turn.finally(() => (over = true));
    await model.waitForRequest(before + 1);
    // No thread lives for long, whether it has the run or has only just begun.
    while (!over) {
      writeFileSync(join(faults, 'throw'), '');
      await waitFor(() => over || !existsSync(join(faults, 'throw')));
    }
    rmSync(join(faults, 'throw'), { force: true });
    const answer = await turn;
    expect(answer).toMatchObject({ status: 500, error: { type: 'api_error', message: /interrupted too often/ } });
    const sql = 'SELECT status, resumes, attempt, error FROM runs WHERE id = ?';
    const [row] = rowsOf<{ attempt: number }>(daemon, sql, answer.runId ?? '');
    expect(row).toMatchObject({
      status: 'failed',
      resumes: 2,
      error: expect.stringContaining('"type":"interrupted_error"'),
    });
    // Three losses alone are its own; before them one among others, or two when the first found it waiting for its model.
    expect([4, 5]).toContain(row?.attempt);
  });

  test('a model that never stops fails its own run, and its neighbour on the thread does not notice', async () => {
    let isOver = false;
    model.script(({ userText }) => {
      if (userText === 'endless') return { text: ['x'.repeat(2_000)], endless: true };
      return isOver ? { text: 'too late' } : { text: Array.from({ length: 40 }, () => 'w'), deltaMs: 50 };
    });
    const ask = (content: string) => takeTurn({ url: crowd.url, apiKey: crowd.apiKey }, { content });
    const before = model.requests.length;
    const neighbour = ask('neighbour');
    await model.waitForRequest(before + 1);
    isOver = true;
    const endless = await ask('endless');
    const message = /sent a longer reply than is accepted \(more than 4 MB\)\.$/;
    expect(endless).toMatchObject({ status: 500, error: { type: 'api_error', message } });
    expect(await neighbour).toMatchObject({ status: 200, text: 'w'.repeat(40) });
    expect(model.requests.length - before).toBe(2);
    const size = 'SELECT sum(length(payload)) AS bytes FROM events e JOIN runs r ON r.seq = e.run_seq WHERE r.id = ?';
    const [kept] = rowsOf<{ bytes: number }>(crowd, size, endless.runId ?? '');
    expect(kept?.bytes).toBeLessThan(6 * 1_048_576);
  });

  test('a run that ends its thread each time costs its neighbours no resume, and is given up alone', async () => {
    const isPoison = (content: string) => content.includes('poison');
    let poured = false;
    model.script(({ userText }) => {
      if (isPoison(userText)) return { text: 'arsenic', firstMs: 300 };
      if (poured) return { text: 'Survived.' };
      // Two write, two have their model think.
      return userText.includes('writer') ? { text: ['w'], endless: true, deltaMs: 20 } : { hang: 'after-headers' };
    });
    const before = model.requests.length;
    const turn = (content: string) => takeTurn({ url: crowd.url, apiKey: crowd.apiKey }, { content });
    const neighbours = ['writer 1', 'writer 2', 'thinker 1', 'thinker 2'].map(turn);
    await model.waitForRequest(before + 4);
    poured = true;
    const poison = await turn('poison');
    expect(poison).toMatchObject({ status: 500, error: { type: 'api_error', message: /interrupted too often/ } });
    const answers = await Promise.all(neighbours);
    expect(answers.map(({ text }) => text)).toEqual(Array.from({ length: 4 }, () => 'Survived.'));
    const sql = 'SELECT resumes, attempt FROM runs WHERE id = ?';
    expect(rowsOf(crowd, sql, poison.runId ?? '')).toEqual([{ resumes: 2, attempt: 4 }]);
    for (const { runId } of answers) expect(rowsOf(crowd, sql, runId ?? '')).toEqual([{ resumes: 0, attempt: 2 }]);
    await waitFor(
      async () => ((await crowd.admin('GET', '/api/v1/status')) as { workers: { busy: number } }).workers.busy === 0,
    );
  });

  test.each(['throw', 'exit'])(
    'threads that die with nothing to do (%s) are replaced, and the daemon continues',
    async (fault) => {
      const pid = daemon.pid();
      for (let times = 1; times <= 3; times += 1) {
        writeFileSync(join(faults, fault), '');
        await waitFor(async () => {
          // A thread is there to take it, at the latest when there is work again.
          model.script({ text: 'Here.' });
          const answer = await takeTurn({ url: daemon.url, apiKey: daemon.apiKey }, { content: 'anyone?' });
          return answer.text === 'Here.' && !existsSync(join(faults, fault));
        });
      }
      expect(await daemon.admin('GET', '/api/v1/status')).toMatchObject({ pid, ready: true });
    },
  );
});

/** Mounts a small disk of its own, or a read-only view of a directory; only root may, and not everywhere. */
const canMount =
  spawnSync('sh', ['-c', 'd=$(mktemp -d) && mount -t tmpfs tmpfs $d && umount $d && rmdir $d']).status === 0;
if (!canMount) console.warn('SKIPPED: full and read-only disks. Mounting needs root and CAP_SYS_ADMIN.');

describe.skipIf(!canMount)('disks', () => {
  let model: ModelServer;
  let daemon: DaemonProcess;
  let disk: string;
  // One by one: a mount must not be left behind when the daemon did not start.
  const closers: (() => unknown)[] = [];

  beforeAll(async () => {
    disk = mkdtempSync(join(tmpdir(), 'errand-disk-'));
    closers.push(() => rmSync(disk, { recursive: true }));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=96m', 'tmpfs', disk]);
    closers.push(() => execFileSync('umount', [disk]));
    model = await startModelServer();
    closers.push(() => model.close());
    const errandYaml = 'streams: { drain_seconds: 1 }\ndisk: { keep_free_mb: 0 }\n';
    daemon = await startDaemonProcess({ modelServerUrl: model.url, within: disk, errandYaml });
    closers.push(() => daemon.close());
  });
  afterAll(async () => {
    for (const close of closers.toReversed()) await close();
  });

  const ask = (content: string | readonly object[], protocol: TurnProtocol = 'messages', stream = false) =>
    takeTurn({ url: daemon.url, apiKey: daemon.apiKey }, { content, protocol, stream });

  const attachment = (bytes: Buffer) => ({
    type: 'file',
    file_name: 'a.bin',
    source: { type: 'base64', media_type: 'application/octet-stream', data: bytes.toString('base64') },
  });

  /** Takes what is free. The daemon may give some back by and by, as when it cuts the log of its database. */
  function fill(): void {
    const filler = openSync(join(disk, 'filler'), 'a');
    try {
      for (const bytes of [1 << 20, 1 << 12]) {
        for (;;) {
          try {
            if (writeSync(filler, Buffer.alloc(bytes)) < bytes) break;
          } catch {
            break;
          }
        }
      }
    } finally {
      closeSync(filler);
    }
  }

  const filesPart = async (): Promise<{ state: string }> => {
    const { parts } = (await (await fetch(`${daemon.url}/readyz`)).json()) as {
      parts: { name: string; state: string }[];
    };
    return parts.find(({ name }) => name === 'files')!;
  };

  const refused = {
    status: 503,
    error: { type: 'api_error', message: expect.stringMatching(/storage refuses to write/) },
  };

  test('a full disk refuses turns with 503, keeps nothing of them, and serves again once there is room', async () => {
    expect(await ask('[[text=before]]')).toMatchObject({ status: 200, text: 'before' });
    // Longer than what the database's own log may have room for.
    const long = `[[text=heard]] ${'x'.repeat(3_000_000)}`;
    fill();
    const before = await contentsOf(daemon);
    const pid = daemon.pid();
    for (const { protocol, stream } of WAYS) {
      fill();
      const answer = await ask(long, protocol, stream);
      expect(answer).toMatchObject(refused);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(answer.runId).toBeNull();
    }
    fill();
    expect(await ask([attachment(randomBytes(3_000_000))])).toMatchObject(refused);
    expect(await contentsOf(daemon)).toEqual(before);
    const ready = await waitFor(async () => {
      fill();
      const response = await fetch(`${daemon.url}/readyz`);
      return response.status === 503 && response;
    });
    expect(await ready.json()).toMatchObject({
      parts: expect.arrayContaining([expect.objectContaining({ name: 'disk', state: 'failed' })]),
    });
    expect((await fetch(`${daemon.url}/healthz`)).status).toBe(200);

    rmSync(join(disk, 'filler'));
    expect(await ask(long)).toMatchObject({ status: 200, text: 'heard' });
    expect((await fetch(`${daemon.url}/readyz`)).status).toBe(200);
    expect(daemon.pid()).toBe(pid);
    expect(rowsOf(daemon, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  });

  test('where blobs cannot be written, a turn with an attachment is refused and others continue', async () => {
    const blobs = join(daemon.dataDir, 'blobs');
    execFileSync('mount', ['--bind', blobs, blobs]);
    execFileSync('mount', ['-o', 'remount,bind,ro', blobs]);
    try {
      const before = await contentsOf(daemon);
      const answer = await ask([attachment(Buffer.from('never kept'))]);
      expect(answer).toMatchObject(refused);
      expect(answer.headers.has('retry-after')).toBe(true);
      expect(await contentsOf(daemon)).toEqual(before);
      expect(await ask('[[text=no file]]')).toMatchObject({ status: 200, text: 'no file' });
      await waitFor(async () => (await filesPart()).state === 'degraded', { timeoutMs: 30_000 });
    } finally {
      execFileSync('umount', [blobs]);
    }
    await waitFor(async () => (await filesPart()).state === 'ok', { timeoutMs: 30_000 });
    expect(await ask([attachment(Buffer.from('kept')), { type: 'text', text: '[[text=got it]]' }])).toMatchObject({
      status: 200,
      text: 'got it',
    });
  });

  test('a disk that fills up under a run fails neither the daemon nor, once there is room, the run', async () => {
    const full = Promise.withResolvers<void>();
    const text = ['y', 'y'.repeat(2_000_000)];
    model.script((question) =>
      question.step === 0
        ? { text, hang: 'mid-stream', until: full.promise, tools: [{ name: 'list_files', input: {} }] }
        : { text: 'over it' },
    );
    const before = model.requests.length;
    const turn = ask('long one', 'messages', true);
    await model.waitForRequest(before + 1);
    fill();
    full.resolve();
    await waitFor(() => daemon.stderr().includes('the journal could not be written'));
    rmSync(join(disk, 'filler'));
    const answer = await turn;
    expect(answer.error).toBeNull();
    expect(answer.text.endsWith('over it')).toBe(true);
  });

  test('SIGTERM on a full disk is a clean drain, also of a run, which continues when there is room', async () => {
    model.script({ text: ['half ', 'of it'], hang: 'mid-stream', afterDeltas: 1 });
    const before = model.requests.length;
    const turn = ask('through the drain', 'messages', true);
    await model.waitForRequest(before + 1);
    fill();
    expect(await daemon.stop('SIGTERM')).toEqual({ code: 0, signal: null });
    const { runId } = await turn;
    rmSync(join(disk, 'filler'));
    model.script({ text: 'the rest' });
    await daemon.restart();
    await waitFor(() => rowsOf(daemon, "SELECT 1 FROM runs WHERE id = ? AND status = 'completed'", runId!)[0], {
      timeoutMs: 20_000,
    });
  }, 120_000);
});
