import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Connection from 'better-sqlite3';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { ANSWER } from '../../../src/store/rows.ts';
import { type DaemonProcess, runErrand, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import type { Reply } from '../../support/model/model-reply.ts';
import { replyFromDirectives } from '../../support/model/model-reply.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { readSse, type SseEvent } from '../../support/http/sse.ts';
import { waitFor } from '../../support/time/wait-for.ts';

// One daemon for the whole file: each test crashes it and leaves it running and idle for the next.
let daemon: DaemonProcess;
let model: ModelServer;

const HANG: Reply = { text: ['half ', 'of it'], hang: 'mid-stream', afterDeltas: 1 };
const call = (name: string, input: object): Reply => ({ text: `Calling ${name}. `, tools: [{ name, input }] });
const write = (path: string): Reply => call('write_file', { path, content: `${path}\n` });

beforeAll(async () => {
  model = await startModelServer();
  const limits = 'context_window: 128000, max_output_tokens: 4096';
  daemon = await startDaemonProcess({
    modelsYaml: [
      `endpoints: { wide: { kind: openai, base_url: "${model.url}/v1" }, narrow: { kind: anthropic, base_url: "${model.url}/v1", max_in_flight: 1 } }`,
      `models: { scripted: { endpoint: wide, model: scripted, ${limits} }, narrow: { endpoint: narrow, model: narrow, ${limits} } }`,
      'scenarios: { general: { model: scripted } }',
      'default_scenario: general',
      '',
    ].join('\n'),
    errandYaml: 'workers: { threads: 1, runs_per_thread: 3 }\nstreams: { drain_seconds: 1 }\n',
  });
});
beforeEach(() => model.script(replyFromDirectives));
afterEach(async () => {
  // Whatever a test left behind ends here, so that no test waits for another's run.
  model.script(replyFromDirectives);
  if (!(await isUp())) await daemon.restart();
  await idle().catch(async () => {
    // A failed test may leave a model call that hangs.
    await daemon.kill();
    await daemon.restart();
    await idle();
  });
});
afterAll(async () => {
  await daemon.close();
  await model.close();
});

test('runs that wait for a slot or behind their session survive a crash, and are run once each and in order', async () => {
  model.script(HANG);
  const first = await stream({ text: 'first' });
  const behind = [
    await stream({ text: 'second', sessionId: first.sessionId }),
    await stream({ text: 'third', sessionId: first.sessionId }),
  ];
  const others = [await stream({ text: 'fourth' }), await stream({ text: 'fifth' }), await stream({ text: 'sixth' })];
  await waitFor(async () => (await counts())['running'] === 3, { what: 'every slot taken' });
  expect(await counts()).toEqual({ queued: 3, running: 3, waiting: 0, finalizing: 0 });
  await daemon.kill();
  model.script((question) => ({ text: `Done: ${question.userText}` }));
  await daemon.restart();
  const runs = [first, ...behind, ...others];
  for (const run of runs) expect((await replay(run.runId)).at(-1)?.event).toBe('message_stop');
  const [one, two, three] = [first, ...behind].map((run) => rowsOf(run.runId));
  expect(one!.answer).toBe('Done: first');
  expect([one!.run.resumes, two!.run.resumes, three!.run.resumes]).toEqual([1, 0, 0]);
  expect(one!.idOf('run.done')).toBeLessThan(two!.idOf('run.started'));
  expect(two!.idOf('run.done')).toBeLessThan(three!.idOf('run.started'));
  for (const run of runs) expectWhole(run.runId);
});

test('a run that waits for its model endpoint survives a crash', async () => {
  const made = (await daemon.admin('POST', '/api/v1/keys', {
    user: daemon.adminName,
    scope: 'admin',
    model: 'narrow',
  })) as { key: string };
  const from = model.requests.length;
  model.script(HANG);
  const held = await stream({ text: 'held', key: made.key });
  await model.waitForRequest(from + 1);
  const waiting = await stream({ text: 'waiting', key: made.key });
  await waitFor(async () => (await counts())['running'] === 2, { what: 'both running' });
  expect(model.requests).toHaveLength(from + 1);
  await daemon.kill();
  model.script({ text: 'through' });
  await daemon.restart();
  for (const run of [held, waiting]) {
    expect((await replay(run.runId, 0, made.key)).at(-1)?.event).toBe('message_stop');
    expect(expectWhole(run.runId).answer).toBe('through');
  }
});

test('a crash in the middle of the model’s words closes their block, asks again, and bills one answer', async () => {
  const from = model.requests.length;
  model.script(HANG);
  const run = await stream({ text: 'go', idempotencyKey: 'mid-words' });
  await run.until(({ data }) => data?.includes('half ') === true);
  await daemon.kill();
  model.script({ text: ['the whole', ' answer'], usage: { input: 70, output: 7 } });
  await daemon.restart();
  // The same request with the same key finds the run, and streams it from its first event.
  const again = await stream({ text: 'go', idempotencyKey: 'mid-words' });
  expect(again.runId).toBe(run.runId);
  const events = await again.rest();
  expect(events.map(({ event, data }) => [event, textOf(data)])).toEqual([
    ['message_start', undefined],
    ['content_block_start', undefined],
    ['content_block_delta', 'half '],
    ['content_block_stop', undefined],
    ['content_block_start', undefined],
    ['content_block_delta', 'the whole answer'],
    ['content_block_stop', undefined],
    ['message_delta', undefined],
    ['message_stop', undefined],
  ]);
  expect(events.slice(0, run.seen.length)).toEqual(run.seen);
  expect(model.requests).toHaveLength(from + 2);
  const rows = expectWhole(run.runId);
  expect(rows.answer).toBe('the whole answer');
  expect(rows.run).toMatchObject({ resumes: 1, attempt: 2, input_tokens: 70, output_tokens: 7 });
});

test('a crash between a tool’s result and the next model call repeats neither', { tags: ['D7-steps'] }, async () => {
  const from = model.requests.length;
  model.script(({ step }) => (step === 0 ? write('kept.txt') : { hang: 'before-headers' }));
  const run = await stream({ text: 'write it' });
  await model.waitForRequest(from + 2);
  const before = rowsOf(run.runId);
  expect(before.calls).toMatchObject([{ state: 'ended', ok: 1 }]);
  await daemon.kill();
  model.script({ text: 'Written.' });
  await daemon.restart();
  await replay(run.runId);
  const rows = expectWhole(run.runId);
  expect(rows.calls).toEqual(before.calls);
  expect(rows.answer).toBe('Written.');
  // Asked three times in all: for the call once, for the answer twice, each time with the call's one result.
  expect(model.requests).toHaveLength(from + 3);
  const [, second, third] = model.requests.slice(from).map(({ body }) => body.messages);
  expect(third).toEqual(second);
  expect(await readFile(join(daemon.dataDir, 'workspaces', run.sessionId, 'kept.txt'), 'utf8')).toBe('kept.txt\n');
});

test('a run that was cut off by a night without a daemon has its time still', async () => {
  model.script(({ step }) => (step === 0 ? write('evening.txt') : { hang: 'before-headers' }));
  const from = model.requests.length;
  const run = await stream({ text: 'through the night' });
  await model.waitForRequest(from + 2);
  await daemon.kill();
  // Instead of waiting overnight, everything that the database records of the run's time is made half a day older.
  const database = new Connection(join(daemon.dataDir, 'errand.db'));
  const columns = ['created_at', 'started_at', 'lease_until'];
  const older = columns.map((column) => `${column} = ${column} - 43200000`).join(', ');
  expect(database.prepare(`UPDATE runs SET ${older} WHERE id = ?`).run(run.runId).changes).toBe(1);
  database.close();
  model.script({ text: 'Good morning.' });
  await daemon.restart();
  await replay(run.runId);
  const rows = expectWhole(run.runId);
  expect(rows.answer).toBe('Good morning.');
  expect(rows.run).toMatchObject({ status: 'completed', attempt: 2 });
});

const shellTest = existsSync('/usr/bin/bwrap') ? test : test.skip;
if (!existsSync('/usr/bin/bwrap'))
  process.stderr.write('SKIPPED: crashes within shell commands, since bubblewrap is not installed\n');

shellTest(
  'a crash within a shell command ends its processes, and the model learns that the outcome is unknown',
  async () => {
    const from = model.requests.length;
    const pause = `300.0${process.pid}`;
    const commands = [`echo begun >>trace; sleep ${pause}; echo ended >>trace`, 'echo second >>trace'];
    const tools = commands.map((command) => ({ name: 'shell', input: { command } }));
    model.script(({ step }) => (step === 0 ? { tools } : { text: 'Understood.' }));
    const run = await stream({ text: 'run it' });
    const trace = join(daemon.dataDir, 'workspaces', run.sessionId, 'trace');
    // Its shell has these words from the start: what comes after them has begun only once `sleep` has them alone.
    await waitFor(async () => (await processesWith(`sleep\0${pause}`)).length > 0, { what: 'the command sleeps' });
    await daemon.kill();
    await waitFor(async () => (await processesWith(pause)).length === 0, { what: 'the command is gone' });
    await daemon.restart();
    await replay(run.runId);
    const rows = expectWhole(run.runId);
    expect(rows.calls.map(({ ok, output }) => [ok, output])).toEqual([
      [0, 'Interrupted, outcome unknown. The call may have had an effect.'],
      [1, expect.stringContaining('exit code 0')],
    ]);
    expect(await readFile(trace, 'utf8')).toBe('begun\nsecond\n');
    const prompt = JSON.stringify(model.requests.at(-1)?.body.messages);
    expect(model.requests).toHaveLength(from + 2);
    expect(prompt).toContain('Interrupted, outcome unknown');
  },
);

shellTest('a crash while a sandbox is being built leaves no process behind', async () => {
  for (let round = 0; round < 3; round += 1) {
    const tools = [{ name: 'shell', input: { command: 'sleep 0.003' } }];
    model.script(({ step }) => (step === 0 ? { tools } : { text: 'ok' }));
    const run = await stream({ text: 'run it' });
    const isOne = ({ parent }: Living) => parent === daemon.pid();
    const leaders = await waitFor(
      async () => {
        const children = (await living(false)).filter(isOne).map(({ pid }) => pid);
        return (children.length > 0 || isOver(run.runId)) && children;
      },
      { everyMs: 1, what: 'a launch' },
    );
    await daemon.kill();
    const ofIt = ({ group, mounts }: Living) => leaders.includes(group) || mounts.includes(run.sessionId);
    await waitFor(async () => !(await living()).some(ofIt), { what: 'nothing is left' });
    await daemon.restart();
    await replay(run.runId);
    expectWhole(run.runId);
  }
});

test('a crash right upon the last word of the model settles the run once, whatever was committed by then', async () => {
  for (let round = 0; round < 3; round += 1) {
    const from = model.requests.length;
    model.script({ text: `round ${round}`, usage: { input: 10, output: 1 } });
    const run = await stream({ text: 'be brief' });
    const asked = await model.waitForRequest(from + 1);
    await waitFor(() => asked.endedAt !== undefined, { everyMs: 1, what: 'the reply is out' });
    await daemon.kill();
    await daemon.restart();
    const events = await replay(run.runId);
    expect(events.filter(({ event }) => event === 'message_stop')).toHaveLength(1);
    const rows = expectWhole(run.runId);
    expect(rows.answer).toBe(`round ${round}`);
    expect(rows.run).toMatchObject({ input_tokens: 10, output_tokens: 1 });
  }
});

test('a third crash fails the run as interrupted and retryable, and the next run of its session starts', {
  tags: ['D6', 'D7-resumes'],
}, async () => {
  model.script(HANG);
  const run = await stream({ text: 'cursed' });
  const behind = await stream({ text: 'spared', sessionId: run.sessionId });
  for (let crash = 1; crash <= 3; crash += 1) {
    await waitFor(() => rowsOf(run.runId).starts === crash, { what: `attempt ${crash}` });
    await daemon.kill();
    if (crash === 3) model.script({ text: 'fine' });
    await daemon.restart();
  }
  const end = (await replay(run.runId)).at(-1);
  expect(end?.event).toBe('error');
  const rows = expectWhole(run.runId, 'failed');
  expect(JSON.parse(rows.run.error ?? '')).toMatchObject({ type: 'interrupted_error', retryable: true });
  expect(rows.run).toMatchObject({ resumes: 2, attempt: 3 });
  expect((await replay(behind.runId)).at(-1)?.event).toBe('message_stop');
  expect(expectWhole(behind.runId).answer).toBe('fine');
});

test('a drain lets streams continue for their time, and the stream is rejoined without loss or duplicates', {
  tags: ['L8'],
}, async () => {
  model.script({ text: ['one ', 'two ', 'three'], hang: 'mid-stream', afterDeltas: 2 });
  const run = await stream({ text: 'count' });
  await run.until(({ data }) => data?.includes('two ') === true);
  const stopping = daemon.stop();
  const live = await run.rest();
  expect(live.at(-1)).toMatchObject({ event: 'error', data: expect.stringContaining('server restarting') as string });
  expect(await stopping).toEqual({ code: 0, signal: null });

  model.script({ text: ['one ', 'two ', 'three'] });
  await daemon.restart();
  const seen = live.slice(0, -1);
  const rest = await replay(run.runId, Number(live.at(-1)?.id));
  expect([...seen, ...rest]).toEqual(await replay(run.runId));
  expect(rest.at(-1)?.event).toBe('message_stop');
  const rows = expectWhole(run.runId);
  // A drain isn't a crash: it does not count against the run.
  expect(rows.run).toMatchObject({ resumes: 0, attempt: 2 });
  expect(rows.answer).toBe('one two three');
});

test('a drain is reported at once; a second SIGTERM ends the daemon at once, and the run resumes', {
  tags: ['L8'],
}, async () => {
  // A drain of its own would take a minute, and end with 0.
  await daemon.restart({ env: { ERRAND_STREAMS_DRAIN_SECONDS: '60' } });
  model.script(HANG);
  const run = await stream({ text: 'hold on' });
  await run.until(({ data }) => data?.includes('half ') === true);
  const stopping = daemon.stop();
  const refused = await waitFor(
    async () => {
      const readiness = await fetch(`${daemon.url}/readyz`);
      return readiness.status === 503 && readiness;
    },
    { everyMs: 1 },
  );
  expect(await refused.json()).toMatchObject({ ready: false });
  const turnedAway = await fetch(`${daemon.url}/openapi/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': daemon.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'late' }] }),
  });
  expect([turnedAway.status, turnedAway.headers.has('retry-after')]).toEqual([503, true]);
  await turnedAway.body?.cancel();
  const second = daemon.stop();
  const exit = await stopping;
  expect(await second).toEqual(exit);
  expect(exit).toEqual({ code: 143, signal: null });
  model.script({ text: 'held' });
  await daemon.restart();
  await replay(run.runId);
  const rows = expectWhole(run.runId);
  expect(rows.answer).toBe('held');
  // An impatient operator isn't a crash either.
  expect(rows.run).toMatchObject({ resumes: 0, attempt: 2 });
});

test('a second daemon on the same data directory ends at once and names the first', { tags: ['K1-lock'] }, async () => {
  const args = ['serve', '--data-dir', daemon.dataDir, '--listen', '127.0.0.1:0'];
  const failure = await runErrand(args).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 6, stderr: expect.stringContaining(`pid ${daemon.pid()}`) as string });
  expect(await isUp()).toBe(true);
});

interface Request {
  readonly text: string;
  readonly sessionId?: string;
  readonly idempotencyKey?: string;
  readonly key?: string;
}

interface Streamed {
  readonly runId: string;
  readonly sessionId: string;
  /** What has arrived so far, without pings. */
  readonly seen: SseEvent[];
  /** Reads until an event fits; the stream stays open. */
  until(fits: (event: SseEvent) => boolean): Promise<void>;
  /** Reads to the end of the stream; answers all of it. */
  rest(): Promise<SseEvent[]>;
}

/** Sends a turn and resolves once it is accepted. */
async function stream({ text, sessionId, idempotencyKey, key = daemon.apiKey }: Request): Promise<Streamed> {
  const response = await fetch(`${daemon.url}/openapi/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'm',
      stream: true,
      messages: [{ role: 'user', content: text }],
      ...(sessionId === undefined ? {} : { metadata: { session_id: sessionId } }),
      ...(idempotencyKey === undefined ? {} : { idempotency_key: idempotencyKey }),
    }),
  });
  expect(response.status).toBe(200);
  const seen: SseEvent[] = [];
  const events = readSse(response.body as AsyncIterable<Uint8Array>);
  const next = async (): Promise<SseEvent | undefined> => {
    const { value, done } = await events.next();
    if (done === true) return undefined;
    if (value.event !== 'ping') seen.push(value);
    return value;
  };
  return {
    runId: response.headers.get('x-run-id') ?? '',
    sessionId: response.headers.get('x-session-id') ?? '',
    seen,
    until: async (fits) => {
      for (let event = await next(); event !== undefined; event = await next()) if (fits(event)) return;
      throw new Error('The stream ended too early.');
    },
    rest: async () => {
      while ((await next()) !== undefined);
      return seen;
    },
  };
}

/** Rejoins a run's stream and reads it to its end. */
async function replay(runId: string, after = 0, key = daemon.apiKey): Promise<SseEvent[]> {
  const response = await fetch(`${daemon.url}/openapi/v1/runs/${runId}/stream`, {
    headers: { 'x-api-key': key, 'last-event-id': String(after) },
  });
  expect(response.status).toBe(200);
  const events: SseEvent[] = [];
  for await (const event of readSse(response.body as AsyncIterable<Uint8Array>))
    if (event.event !== 'ping') events.push(event);
  return events;
}

function textOf(data: string | null): string | undefined {
  return (JSON.parse(data ?? '{}') as { delta?: { text?: string } }).delta?.text;
}

interface RunRow {
  readonly seq: number;
  readonly status: string;
  readonly attempt: number;
  readonly resumes: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly answer: string | null;
  readonly error: string | null;
}

/** A run as stored on disk. */
function rowsOf(runId: string) {
  const connection = new Connection(join(daemon.dataDir, 'errand.db'), { readonly: true });
  try {
    const run = connection.prepare(`SELECT r.*, ${ANSWER} FROM runs r WHERE r.id = ?`).get(runId) as RunRow;
    const all = <Row>(sql: string) => connection.prepare(sql).all(run.seq) as Row[];
    const events = all<{ id: number; stream_seq: number; type: string }>(
      'SELECT id, stream_seq, type FROM events WHERE run_seq = ? ORDER BY stream_seq',
    );
    return {
      run,
      answer: run.answer,
      events,
      starts: events.filter(({ type }) => type === 'run.started').length,
      idOf: (type: string) => events.find((event) => event.type === type)?.id ?? Number.NaN,
      roles: all<{ role: string }>('SELECT role FROM messages WHERE run_seq = ? ORDER BY id').map(({ role }) => role),
      calls: all<{ state: string; ok: number; output: string }>(
        'SELECT * FROM tool_calls WHERE run_seq = ? ORDER BY step, position',
      ),
    };
  } finally {
    connection.close();
  }
}

/** What holds for every ended run: its state, one terminal event, no gap, and each message once. */
function expectWhole(runId: string, status = 'completed') {
  const rows = rowsOf(runId);
  expect(rows.run.status).toBe(status);
  const terminal = rows.events.filter(({ type }) => ['run.done', 'run.failed', 'run.stopped'].includes(type));
  expect(terminal).toEqual([rows.events.at(-1)]);
  expect(rows.events.map((event) => event.stream_seq)).toEqual(rows.events.map((_, i) => i + 1));
  expect(rows.roles).toEqual(status === 'completed' ? ['user', 'assistant'] : ['user']);
  return rows;
}

function isOver(runId: string): boolean {
  return ['completed', 'failed'].includes(rowsOf(runId).run.status);
}

async function counts(): Promise<Record<string, number>> {
  return ((await daemon.admin('GET', '/api/v1/status')) as { runs: Record<string, number> }).runs;
}

async function idle(): Promise<void> {
  const none = async () => Object.values(await counts()).every((count) => count === 0);
  await waitFor(none, { what: 'no unfinished run' });
}

async function isUp(): Promise<boolean> {
  return fetch(`${daemon.url}/healthz`).then(
    async (response) => {
      await response.body?.cancel();
      return response.status === 200;
    },
    () => false,
  );
}

interface Living {
  readonly pid: number;
  readonly parent: number;
  /** Of processes. */
  readonly group: number;
  /** Its mounts. A sandbox sees its workspace, which is in the folder of its session. */
  readonly mounts: string;
}

/** All living processes. Their mounts take long to read, and are left out where nobody asks. */
async function living(withMounts = true): Promise<Living[]> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    names.map(async (name) => {
      const [stat, mounts = ''] = await Promise.all(
        ['stat', ...(withMounts ? ['mountinfo'] : [])].map((file) =>
          readFile(`/proc/${name}/${file}`, 'latin1').catch(() => ''),
        ),
      );
      // The state follows the name, which is in parentheses and may hold anything.
      const [state, parent, group] = stat!.slice(stat!.lastIndexOf(')') + 2).split(' ');
      return { pid: Number(name), parent: Number(parent), group: Number(group), mounts, state };
    }),
  );
  return found.filter(({ state }) => state !== undefined && !['', 'Z', 'X'].includes(state));
}

/** Living processes with a text in their arguments. */
async function processesWith(text: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return pids.filter((_, i) => commands[i]?.includes(text));
}
