// Errand as a tool of other agents: the official client of MCP against the real daemon, by each face (0053).
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { rowsOf } from '../../support/daemon/daemon-look.ts';
import { type DaemonProcess, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { connectErrand, type ErrandClient, FACES } from '../../support/mcp/errand-client.ts';
import type { Reply } from '../../support/model/model-reply.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let model: ModelServer;
let daemon: DaemonProcess;
/** A key of the same user as the daemon's first, and one of another user. */
const keys = { sister: '', other: '' };

const makeKey = async (user: string) =>
  ((await daemon.admin('POST', '/api/v1/keys', { user, scope: 'conversation' })) as { key: string }).key;

/** The clients of all faces keep their connections open. */
const SETTINGS = `workers: { threads: 1, runs_per_thread: 8 }
background: { polls_per_second: 1000 }
limits: { connections_per_address: 1000 }
`;

beforeAll(async () => {
  model = await startModelServer();
  daemon = await startDaemonProcess({
    modelServerUrl: model.url,
    errandYaml: SETTINGS,
  });
  await daemon.admin('POST', '/api/v1/users', { username: 'ben' });
  keys.sister = await makeKey(daemon.adminName);
  keys.other = await makeKey('ben');
});
afterAll(async () => {
  await daemon.close();
  await model.close();
});
beforeEach(() => model.script(script));

const BIG = 'A long line.\n'.repeat(10_000);

function script({ userText, step }: { userText: string; step: number }): Reply {
  if (userText.startsWith('write') && step === 0)
    return {
      tools: [
        { name: 'write_file', input: { path: '/notes/tide table.md', content: 'High at noon. ✓' } },
        { name: 'write_file', input: { path: '/long.txt', content: 'ä'.repeat(40_000) } },
      ],
    };
  if (userText.startsWith('ask') && step === 0)
    return { tools: [{ id: 'ask1', name: 'ask_user', input: { question: 'Which?', options: ['red', 'blue'] } }] };
  if (userText.startsWith('hang')) return { hang: 'mid-stream', text: 'I begin' };
  if (userText.startsWith('count')) return { tools: [{ name: 'submit_result', input: { result: { metres: 3 } } }] };
  if (userText.startsWith('big')) return { text: BIG };
  return { text: `Done: ${userText.slice(0, 40)}` };
}

const rowOf = (runId: unknown) =>
  rowsOf<{ status: string }>(daemon, 'SELECT status FROM runs WHERE id = ?', String(runId))[0];
const newestRun = () =>
  rowsOf<{ id: string; status: string }>(daemon, 'SELECT id, status FROM runs ORDER BY seq DESC LIMIT 1')[0]!;
const stopped = (runId: string) => waitFor(() => rowOf(runId)?.status === 'canceled', { what: 'the run is stopped' });

describe.each(FACES)('%s', (face) => {
  let errand: ErrandClient;
  beforeAll(async () => {
    errand = await connectErrand(face, daemon);
  });
  afterAll(() => errand.close());

  test('a task is handed over and answered, and a later one goes on in its session', async () => {
    const first = await errand.call('run_task', { task: 'first' });
    expect(first).toMatchObject({
      isError: false,
      output: { status: 'completed', answer: 'Done: first', question: null },
    });
    expect(JSON.parse(first.content[0]!.text!)).toEqual(first.output);
    const second = await errand.call('run_task', { task: 'second', session_id: first.output['session_id'] });
    expect(second.output).toMatchObject({ session_id: first.output['session_id'], answer: 'Done: second' });
    expect(JSON.stringify(model.requests.at(-1)!.body.messages)).toContain('Done: first');
  });

  test('each tool says what it takes and gives', async () => {
    const { tools } = await errand.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'run_task',
      'get_result',
      'answer_question',
      'stop_task',
      'list_files',
      'read_file',
    ]);
    for (const { description, inputSchema, outputSchema } of tools) {
      expect(description).toMatch(/\.$/);
      expect(inputSchema.type).toBe('object');
      expect(outputSchema?.['type']).toBe('object');
      expect(JSON.stringify([inputSchema, outputSchema])).not.toContain('$ref');
    }
    expect(errand.client.getInstructions()).toContain('run_task');
  });

  test('a task in the background is asked for its result', async () => {
    const handedOver = Promise.withResolvers<void>();
    model.script((question) => ({ ...script(question), hang: 'before-headers', until: handedOver.promise }));
    const handed = await errand.call('run_task', { task: 'in the background', wait_seconds: 0 });
    expect(['queued', 'running']).toContain(handed.output['status']);
    handedOver.resolve();
    const result = await errand.call('get_result', { run_id: handed.output['run_id'], wait_seconds: 60 });
    expect(result.output).toMatchObject({ status: 'completed', answer: 'Done: in the background' });
  });

  test('a task with a schema gives its result as JSON', async () => {
    const output_schema = { type: 'object', required: ['metres'], properties: { metres: { type: 'number' } } };
    const { output } = await errand.call('run_task', { task: 'count', output_schema });
    expect(output).toMatchObject({ status: 'completed', answer: null, result: { metres: 3 } });
  });

  test('its question ends the wait, and the answer lets it go on', async () => {
    const asked = await errand.call('run_task', { task: 'ask', wait_seconds: 100 });
    const question = { question: 'Which?', options: ['red', 'blue'], multiple: false };
    expect(asked.output).toMatchObject({ status: 'waiting', question });
    const { question_id: questionId } = asked.output['question'] as { question_id: string };
    const look = await errand.call('get_result', { run_id: asked.output['run_id'], wait_seconds: 100 });
    expect(look.output).toMatchObject({ status: 'waiting' });
    const { output } = await errand.call('answer_question', { question_id: questionId, answer: 'blue' });
    expect(output).toMatchObject({ status: 'completed', answer: 'Done: ask' });
    expect(JSON.stringify(model.requests.at(-1)!.body.messages)).toContain('blue');
    const again = await errand.call('answer_question', { question_id: questionId, answer: 'red' });
    expect(again).toMatchObject({ isError: true, content: [{ text: 'The question is answered already.' }] });
  });

  test('files are listed, linked and read, by the tool and as resources', async () => {
    const { output: task } = await errand.call('run_task', { task: 'write' });
    const listed = await waitFor(async () => {
      const list = await errand.call('list_files', { run_id: task['run_id'] });
      return list.output['status'] === 'ready' && list;
    });
    const files = listed.output['files'] as {
      path: string;
      uri: string;
      size: number;
      change: string;
      download_url: string;
    }[];
    expect(files.map(({ path, change }) => [path, change])).toEqual([
      ['/long.txt', 'added'],
      ['/notes/tide table.md', 'added'],
    ]);
    expect(listed.content.filter(({ type }) => type === 'resource_link').map(({ uri }) => uri)).toEqual(
      files.map(({ uri }) => uri),
    );
    const session_id = task['session_id'];
    const whole = await errand.call('list_files', { session_id });
    expect((whole.output['files'] as unknown[]).length).toBe(2);
    const rest = await errand.call('list_files', { session_id, after: '/long.txt' });
    expect(rest.output).toMatchObject({ files: [{ path: '/notes/tide table.md', change: null }], next_after: null });

    const read = await errand.call('read_file', { session_id, path: 'notes/tide table.md' });
    expect(read.output).toMatchObject({ text: 'High at noon. ✓', next_offset: null, mime_type: 'text/markdown' });
    const { contents } = await errand.client.readResource({ uri: files[1]!.uri });
    expect(contents).toMatchObject([{ uri: files[1]!.uri, text: 'High at noon. ✓', mimeType: 'text/markdown' }]);
    expect(await (await fetch(files[1]!.download_url)).text()).toBe('High at noon. ✓');

    let text = '';
    for (let offset: unknown = 0; offset !== null; ) {
      const { output } = await errand.call('read_file', { session_id, path: '/long.txt', offset });
      text += output['text'] as string;
      offset = output['next_offset'];
    }
    expect(text).toBe('ä'.repeat(40_000));
    const none = await errand.call('read_file', { session_id, path: '/none.txt' });
    expect(none).toMatchObject({ isError: true, content: [{ text: 'File not found.' }] });
  });

  test('a long answer is cut, and its link has the whole', async () => {
    const { output, content } = await errand.call('run_task', { task: 'big' });
    expect(output).toMatchObject({ status: 'completed', truncated: true, answer: BIG.slice(0, 40_000) });
    const { uri } = content.find(({ type }) => type === 'resource_link')!;
    expect((await errand.client.readResource({ uri: uri! })).contents).toMatchObject([{ text: BIG }]);
  });

  test('who waits is told what it does', async () => {
    const told: string[] = [];
    const abort = new AbortController();
    const begun = Promise.withResolvers<void>();
    // Until it is started, that is what it waits for.
    const onprogress = ({ message }: { message?: string | undefined }) => {
      told.push(message ?? '');
      if (message !== 'waits for its turn') begun.resolve();
    };
    const call = errand.call('run_task', { task: 'hang', wait_seconds: 600 }, { signal: abort.signal, onprogress });
    await begun.promise;
    expect(told.at(-1)).toMatch(/asks scripted/);
    abort.abort();
    await expect(call).rejects.toThrow();
    await stopped(newestRun().id);
  });

  test('who cancels waiting for a task stops it, unless it is in the background', async () => {
    for (const wait_seconds of [600, 0]) {
      const abort = new AbortController();
      const before = model.requests.length;
      const handed = errand.call('run_task', { task: 'hang', wait_seconds }, { signal: abort.signal });
      await model.waitForRequest(before + 1);
      const { id } = newestRun();
      if (wait_seconds > 0) {
        abort.abort();
        await expect(handed).rejects.toThrow();
        await stopped(id);
        continue;
      }
      await handed;
      const begun = Promise.withResolvers<void>();
      const onprogress = () => begun.resolve();
      const looked = errand.call('get_result', { run_id: id, wait_seconds: 600 }, { signal: abort.signal, onprogress });
      await begun.promise;
      abort.abort();
      await expect(looked).rejects.toThrow();
      expect((await errand.call('get_result', { run_id: id, wait_seconds: 0 })).output['status']).toBe('running');
      expect((await errand.call('stop_task', { run_id: id })).output).toMatchObject({ status: 'canceled' });
    }
  });

  test('a refusal is told in words, and other keys learn nothing', async () => {
    const { output: task } = await errand.call('run_task', { task: 'mine' });
    const { run_id, session_id } = task;
    for (const apiKey of [keys.sister, keys.other]) {
      const stranger = await connectErrand(face, { url: daemon.url, apiKey });
      for (const [name, args] of [
        ['get_result', { run_id }],
        ['stop_task', { run_id }],
        ['list_files', { session_id }],
        ['list_files', { run_id }],
        ['read_file', { session_id, path: '/x' }],
        ['run_task', { task: 'more', session_id }],
      ] as const) {
        const { isError, content, output } = await stranger.call(name, args);
        expect([name, isError, output]).toEqual([name, true, {}]);
        expect(content).toHaveLength(1);
        expect(content[0]!.text).toMatch(/^The (run|session) belongs to another (API key|user)\.$/);
      }
      await expect(stranger.client.readResource({ uri: `errand://runs/${String(run_id)}/answer` })).rejects.toThrow(
        /belongs to/,
      );
      await stranger.close();
    }
    const wrong = await errand.call('run_task', { task: '', wait_seconds: 1 });
    expect(wrong).toMatchObject({ isError: true, content: [{ text: 'task: must not be empty' }] });
    const unknown = await errand.call('run_task', { task: 'x', wait: 1 });
    expect(unknown.content[0]!.text).toMatch(/^wait: must be one of task, session_id/);
    await expect(errand.call('no_tool', {})).rejects.toThrow('There is no tool no_tool.');
    await expect(errand.client.readResource({ uri: 'file:///etc/passwd' })).rejects.toThrow(/not found/i);
    const traversal = `errand://sessions/${String(session_id)}/files/..%2F..%2Fetc/passwd`;
    await expect(errand.client.readResource({ uri: traversal })).rejects.toThrow('File not found.');
  });

  test('a hundred calls at once are all answered', async () => {
    const calls = Array.from({ length: 100 }, (_, at) =>
      errand.call('run_task', { task: `call ${at}`, wait_seconds: 600 }),
    );
    const answers = (await Promise.all(calls)).map(({ output, content }) => output['answer'] ?? content[0]?.text);
    expect(answers).toEqual(Array.from({ length: 100 }, (_, at) => `Done: call ${at}`));
  });

  test('a hundred in the background are bounded by the limits of the key', async () => {
    const calls = Array.from({ length: 100 }, () => errand.call('run_task', { task: 'hang', wait_seconds: 0 }));
    const told = await Promise.all(calls);
    const taken = told.filter(({ isError }) => !isError);
    expect(taken.length).toBeLessThanOrEqual(20);
    const refused = told.find(({ isError }) => isError);
    expect(refused?.content[0]!.text).toMatch(/too many unfinished background runs|queue of background runs is full/);
    for (const { output } of taken) await errand.call('stop_task', { run_id: output['run_id'] });
  });
});

describe('clients that vanish', () => {
  let errand: ErrandClient | undefined;
  afterEach(() => errand?.close());

  test.each([
    ['http', 'canceled'],
    ['stdio', 'canceled'],
    ['stdio legacy', 'canceled'],
    // That protocol says of a connection that ends that nothing follows from it.
    ['http legacy', 'running'],
  ] as const)('%s: a task that it waits for is %s', async (face, status) => {
    errand = await connectErrand(face, daemon);
    const before = model.requests.length;
    const call = errand.call('run_task', { task: 'hang', wait_seconds: 600 });
    const gone = expect(call).rejects.toThrow();
    await model.waitForRequest(before + 1);
    const { id } = newestRun();
    await errand.transport.close();
    await gone;
    if (status === 'canceled') await stopped(id);
    const next = await connectErrand('http', daemon);
    const { output } = await next.call('get_result', { run_id: id, wait_seconds: 0 });
    expect(output['status']).toBe(status);
    await next.call('stop_task', { run_id: id });
    await next.close();
  });
});

test.each(['http', 'http legacy'] as const)('%s: a reply begins before its task ends', async (face) => {
  const begun: number[] = [];
  const noting: typeof fetch = async (url, init) => {
    const reply = await fetch(url, init);
    if (typeof init?.body === 'string' && init.body.includes('"tools/call"')) begun.push(reply.status);
    return reply;
  };
  const errand = await connectErrand(face, { ...daemon, fetch: noting });
  const before = model.requests.length;
  const call = errand.call('run_task', { task: 'hang', wait_seconds: 600 });
  await model.waitForRequest(before + 1);
  await waitFor(() => begun.length > 0, { what: 'the reply begins' });
  const { id, status } = newestRun();
  expect([begun, status]).toEqual([[200], 'running']);
  const stopper = await connectErrand('http', daemon);
  await stopper.call('stop_task', { run_id: id });
  expect((await call).output).toMatchObject({ run_id: id, status: 'canceled' });
  await Promise.all([errand.close(), stopper.close()]);
});

describe('what is no call', () => {
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${daemon.url}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'x-api-key': daemon.apiKey,
        ...headers,
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });

  test('a wrong key is refused with its challenge', async () => {
    const refused = await post({ jsonrpc: '2.0', id: 1, method: 'ping' }, { 'x-api-key': 'errand_no' });
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    await expect(connectErrand('http', { url: daemon.url, apiKey: 'errand_no' })).rejects.toThrow();
    await expect(connectErrand('stdio', { url: daemon.url, apiKey: 'errand_no' })).rejects.toThrow();
  });

  test('pages of other origins have no access', async () => {
    for (const origin of ['http://evil.example', 'http://localhost:3000', 'null', daemon.url])
      expect((await post({ jsonrpc: '2.0', id: 1, method: 'ping' }, { origin })).status).toBe(403);
  });

  test.each([
    ['no JSON', '{', 400, -32_700],
    ['a batch', [{ jsonrpc: '2.0', id: 1, method: 'ping' }], 422, -32_600],
    ['a text', '"x"', 422, -32_600],
    ['a large body', JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'x'.repeat(2_000_000) }), 413, -32_000],
  ])('%s is refused as JSON-RPC does', async (_what, body, status, code) => {
    const reply = await post(body);
    expect([reply.status, await reply.json()]).toMatchObject([status, { jsonrpc: '2.0', id: null, error: { code } }]);
  });

  test.each([
    ['nothing', {}],
    ['no version', { id: 1, method: 'ping' }],
    ['an id that is an object', { jsonrpc: '2.0', id: {}, method: 'ping' }],
    ['a method that is none', { jsonrpc: '2.0', id: 1, method: '__proto__' }],
    [
      'arguments that are a text',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'run_task', arguments: 'x' } },
    ],
    ['a tool that every object has', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'constructor' } }],
    ['a subscription', { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: {} }],
    ['a cancellation of nothing', { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }],
  ])('%s harms nothing', async (_what, message) => {
    const reply = await post(message);
    expect(reply.status).toBeLessThan(500);
    expect(await reply.text()).not.toMatch(/at .*\.(js|ts):/);
    expect((await fetch(`${daemon.url}/healthz`)).status).toBe(200);
  });

  test('GET and DELETE are answered with the one method', async () => {
    for (const method of ['GET', 'DELETE']) {
      const reply = await fetch(`${daemon.url}/mcp`, { method, headers: { 'x-api-key': daemon.apiKey } });
      expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'POST']);
    }
  });
});
