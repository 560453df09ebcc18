// `errand chat` prints only the answer on stdout.
import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { refuse, run, start, startFakeDaemon, type Route } from '../../outside.ts';

const SESSION = '0190f6a0-0000-7000-8000-000000000002';
const RUN = '0190f6a0-0000-7000-8000-000000000001';
const IDS = { 'x-session-id': SESSION, 'x-run-id': RUN };
const environment = { ERRAND_API_KEY: 'errand_key' };

const EVENTS = [
  [
    'message_start',
    { message: { id: 'msg_1', type: 'message', model: 'errand', content: [], usage: { input_tokens: 1 } } },
  ],
  ['content_block_start', { index: 0, content_block: { type: 'text', text: '' } }],
  ['content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Let me\u001b[31m see' } }],
  ['content_block_stop', { index: 0 }],
  ['tool_use', { tool_use_id: 't1', name: 'write_file', input: { count: 1, path: 'notes.md', content: 'x' } }],
  ['tool_result', { tool_use_id: 't1', name: 'write_file', ok: true, preview: 'done', duration_ms: 3 }],
  ['tool_use', { tool_use_id: 't2', name: 'shell', input: { command: `false ${'x'.repeat(100)}` } }],
  ['tool_result', { tool_use_id: 't2', name: 'shell', ok: false, preview: 'exit code 1\nsorry', duration_ms: 3 }],
  ['ping', {}],
  ['content_block_start', { index: 1, content_block: { type: 'text', text: '' } }],
  ['content_block_delta', { index: 1, delta: { type: 'text_delta', text: '做' } }],
  ['content_block_delta', { index: 1, delta: { type: 'text_delta', text: '完了' } }],
  ['content_block_stop', { index: 1 }],
  ['message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 5 } }],
  ['result', { subtype: 'success', structured_output: [1] }],
  ['message_stop', {}],
] as const;

const streaming: Route = (_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream', ...IDS });
  response.end(
    EVENTS.map(
      ([name, data], at) => `event: ${name}\nid: ${at + 1}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`,
    ).join(''),
  );
  return undefined;
};

const MESSAGE = { id: 'msg_1', type: 'message', content: [{ type: 'text', text: 'Done.' }], stop_reason: 'end_turn' };

const answering: Route = (received, response) => {
  const { stream } = received.body as { readonly stream: boolean };
  if (stream) return streaming(received, response);
  response.writeHead(200, { 'content-type': 'application/json', ...IDS });
  response.end(JSON.stringify(MESSAGE));
  return undefined;
};

test('without --stream the answer goes to stdout and the session to stderr', async () => {
  const { dataDir, received } = await startFakeDaemon({ 'POST /openapi/v1/messages': answering });
  const ended = await run(['chat', 'Do it', '--session', SESSION], { dataDir, environment });
  expect(ended).toEqual({
    code: 0,
    stdout: 'Done.\n',
    stderr: `Continue with: errand chat --session ${SESSION} TEXT\n`,
  });
  expect(received[0]?.headers.authorization).toBe('Bearer errand_key');
  expect(received.map(({ body }) => (body as { idempotency_key: string }).idempotency_key)).toEqual([
    expect.any(String),
    (received[0]!.body as { idempotency_key: string }).idempotency_key,
  ]);
  expect(received[0]?.body).toMatchObject({
    model: 'errand',
    stream: true,
    messages: [{ role: 'user', content: 'Do it' }],
    metadata: { session_id: SESSION },
  });
});

test('with -o json the whole reply is one document with session and run', async () => {
  const { dataDir } = await startFakeDaemon({ 'POST /openapi/v1/messages': answering });
  const { stdout, stderr } = await run(['chat', 'Do it', '-o', 'json'], { dataDir, environment });
  expect(JSON.parse(stdout)).toEqual({ ...MESSAGE, session_id: SESSION, run_id: RUN });
  expect(stderr).toBe('');
});

test('with --stream text goes to stdout, and what the agent does to stderr', async () => {
  const { dataDir, received } = await startFakeDaemon({ 'POST /openapi/v1/messages': streaming });
  const { code, stdout, stderr } = await run(['chat', 'Do it', '--stream'], { dataDir, environment });
  expect(code).toBe(0);
  expect(stdout).toBe('Let me\\u001b[31m see\n做完了\n');
  expect(stderr.split('\n')).toEqual([
    '* write_file notes.md',
    `* shell false ${'x'.repeat(100)}`,
    '! shell failed: exit code 1 sorry',
    `Continue with: errand chat --session ${SESSION} TEXT`,
    '',
  ]);
  expect(received[0]?.headers['x-stream-tool-events']).toBe('true');
});

test('on a terminal streamed text cannot steer it', async () => {
  const { dataDir } = await startFakeDaemon({ 'POST /openapi/v1/messages': streaming });
  const { stdout } = await run(['chat', 'x', '--stream'], { dataDir, environment, terminal: { stdout: true } });
  expect(stdout).toBe('Let me see\n做完了\n');
});

/** What removes the sign. */
const CLEARED = '\r\u001b[K';

test.each([
  ['without --stream', [], 'Done.\n'],
  ['with --stream', ['--stream'], 'Let me see\n做完了\n'],
  ['with -o json', ['-o', 'json'], expect.stringContaining('"text": "Done."') as string],
])('on a terminal, %s, a sign of life is there until the first word', async (_, flags, answered) => {
  const released = Promise.withResolvers<void>();
  const { dataDir } = await startFakeDaemon({
    'POST /openapi/v1/messages': (received, response) => {
      void released.promise.then(() => answering(received, response));
    },
  });
  let [answer, before] = ['', ''];
  const stdout = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (answer === '') before = running.stderr();
      answer += chunk.toString();
      done();
    },
  });
  const terminal = { stdout: true, stderr: true };
  const running = start(['chat', 'x', ...flags], {
    dataDir,
    environment: { ...environment, NO_COLOR: '1' },
    terminal,
    stdout,
  });
  await running.until('\r…');
  expect(answer).toBe('');
  released.resolve();
  expect(await running.code).toBe(0);
  expect(before.replaceAll(/\r…[ :\d]*/g, '')).toBe(CLEARED);
  expect(running.stderr().slice(before.length)).not.toContain('\r');
  expect(answer).toEqual(answered);
});

test('the sign of life goes before a failure is said', async () => {
  const { dataDir } = await startFakeDaemon({
    'POST /openapi/v1/messages': (_, response) => refuse(response, 503, 'Not now.'),
  });
  const terminal = { stderr: true };
  const ended = await run(['chat', 'x'], { dataDir, environment: { ...environment, NO_COLOR: '1' }, terminal });
  expect(ended.stderr.split(CLEARED)).toEqual([
    expect.stringMatching(/^\r…/),
    expect.stringMatching(/^errand: Not now\./),
  ]);
});

test('with --stream and -o json the events add up to one document', async () => {
  const { dataDir } = await startFakeDaemon({ 'POST /openapi/v1/messages': streaming });
  const { stdout } = await run(['chat', 'Do it', '--stream', '-o', 'json'], { dataDir, environment });
  expect(JSON.parse(stdout)).toEqual({
    id: 'msg_1',
    type: 'message',
    model: 'errand',
    content: [
      { type: 'text', text: 'Let me\u001b[31m see' },
      { type: 'text', text: '做完了' },
    ],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 5 },
    structured_output: [1],
    session_id: SESSION,
    run_id: RUN,
  });
});

test('a text of "-" is standard input', async () => {
  const { dataDir, received } = await startFakeDaemon({ 'POST /openapi/v1/messages': answering });
  await run(['chat', '-'], { dataDir, environment, stdin: 'two\nlines\n' });
  expect(received[0]?.body).toMatchObject({ messages: [{ content: 'two\nlines\n' }] });
  expect(await run(['chat', '-'], { dataDir, environment, stdin: ' \n' })).toMatchObject({ code: 2 });
  expect(await run(['chat', ' '], { dataDir, environment })).toMatchObject({ code: 2 });
});

test('a run that takes too long ends with 7 and names the session', async () => {
  const { dataDir } = await startFakeDaemon({
    'POST /openapi/v1/messages': (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', ...IDS });
      const error = { type: 'error', error: { type: 'timeout_error', message: 'It took too long.' } };
      response.end(`event: error\nid: 1\ndata: ${JSON.stringify(error)}\n\n`);
    },
  });
  const ended = await run(['chat', 'x'], { dataDir, environment });
  expect(ended).toMatchObject({ code: 7, stdout: '' });
  expect(ended.stderr).toContain('errand: It took too long.\n');
  expect(ended.stderr).toContain(SESSION);
});

test('without --stream, what the run waits for is told', async () => {
  const wait = { type: 'model_wait.started', model: 'qwen', agent: null, message: 'The model "qwen" refuses.' };
  const asked = { type: 'user_input.requested', request_id: 'q1' };
  const { dataDir } = await startFakeDaemon({
    'POST /openapi/v1/messages': (received, response) => {
      if (!(received.body as { stream: boolean }).stream) return answering(received, response);
      response.writeHead(200, { 'content-type': 'text/event-stream', ...IDS });
      const events = [
        { ...wait, patience_ms: 120_000, until: '2026-03-01T16:12:00Z' },
        asked,
        { type: 'message_stop' },
      ];
      response.end(
        events.map((event, at) => `event: ${event.type}\nid: ${at}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
      );
      return undefined;
    },
  });
  const ended = await run(['chat', 'x'], { dataDir, environment });
  expect(ended).toMatchObject({ code: 0, stdout: 'Done.\n' });
  expect(ended.stderr).toMatch(/^! The model "qwen" refuses. Trying until \d\d:12.\nThe agent is waiting/);
  const signed = await run(['chat', 'x'], { dataDir, environment, terminal: { stderr: true } });
  const lines = signed.stderr.split('\n').map((line) => line.split(CLEARED).at(-1));
  expect(lines).toEqual(ended.stderr.split('\n'));
});

test('a run that fails in the middle of the stream ends with 1 after its text', async () => {
  const { dataDir } = await startFakeDaemon({
    'POST /openapi/v1/messages': (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', ...IDS });
      const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Half' } };
      response.write(`event: content_block_delta\nid: 1\ndata: ${JSON.stringify(delta)}\n\n`);
      response.end(
        'event: error\nid: 2\ndata: {"type":"error","error":{"type":"api_error","message":"The model is gone."}}\n\n',
      );
    },
  });
  const ended = await run(['chat', 'x', '--stream'], { dataDir, environment });
  expect(ended).toMatchObject({ code: 1, stdout: 'Half\n' });
  expect(ended.stderr).toContain('errand: The model is gone.\n');
});

test('Ctrl-C in the middle of a stream ends with 130 and shows the session', async () => {
  const { dataDir } = await startFakeDaemon({
    'POST /openapi/v1/messages': (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', ...IDS });
      const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Half' } };
      response.write(`event: content_block_delta\nid: 1\ndata: ${JSON.stringify(delta)}\n\n`);
    },
  });
  const running = start(['chat', 'x', '--stream'], { dataDir, environment });
  await running.until('Half');
  running.signal('SIGINT');
  expect(await running.code).toBe(130);
  expect(running.stdout()).toBe('Half\n');
  expect(running.stderr().split('\n')).toEqual([
    `The run continues in the daemon. Follow it with: errand runs tail ${RUN}`,
    `Stop it with: errand runs stop ${RUN}`,
    `Continue with: errand chat --session ${SESSION} TEXT`,
    '',
  ]);
});

test('Ctrl-C before the daemon answers says that the run continues', async () => {
  const arrived = Promise.withResolvers<void>();
  const { dataDir } = await startFakeDaemon({ 'POST /openapi/v1/messages': () => arrived.resolve() });
  const running = start(['chat', 'x', '--data-dir', dataDir], { environment });
  await arrived.promise;
  running.signal('SIGINT');
  expect(await running.code).toBe(130);
  expect(running.stderr()).toBe(
    `Your message was sent, and its run continues in the daemon. Find it with: errand --data-dir ${dataDir} runs list\n`,
  );
});

test('words without quotes are one text', async () => {
  const { dataDir, received } = await startFakeDaemon({ 'POST /openapi/v1/messages': answering });
  const ended = await run(['chat', 'write', 'a', 'poem', '--session', SESSION, '--data-dir', dataDir], { environment });
  expect(ended.code).toBe(0);
  expect(ended.stderr).toBe(`Continue with: errand --data-dir ${dataDir} chat --session ${SESSION} TEXT\n`);
  expect(received[0]?.body).toMatchObject({ messages: [{ role: 'user', content: 'write a poem' }] });
});

test('a reader that closes the pipe ends a stream quietly with 0', async () => {
  const { dataDir } = await startFakeDaemon({
    'POST /openapi/v1/messages': (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', ...IDS });
      const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Half' } };
      response.write(`event: content_block_delta\nid: 1\ndata: ${JSON.stringify(delta)}\n\n`);
    },
  });
  const stdout = new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })),
  });
  const running = start(['chat', 'x', '--stream'], { dataDir, environment, stdout });
  expect(await running.code).toBe(0);
  expect(running.stderr()).not.toContain('errand: ');
});

test('an output that cannot be written ends with 1', async () => {
  const { dataDir } = await startFakeDaemon({ 'POST /openapi/v1/messages': answering });
  const stdout = new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error('no space left'), { code: 'ENOSPC' })),
  });
  const ended = await run(['chat', 'x'], { dataDir, environment, stdout });
  expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('no space left') as string });
});

test('as a user, beside the daemon and without a key', async () => {
  const { dataDir, received } = await startFakeDaemon({ 'POST /openapi/v1/messages': answering });
  const ended = await run(['chat', 'Do it', '--as', 'ada l'], { dataDir });
  expect(ended).toMatchObject({ code: 0, stdout: 'Done.\n' });
  expect(ended.stderr).toContain(`Continue with: errand chat --as 'ada l' --session ${SESSION} TEXT`);
  expect(received.map(({ headers }) => headers.authorization)).toEqual(['Bearer as:ada%20l', 'Bearer as:ada%20l']);
  const remote = await run(['chat', 'Do it', '--as', 'ada', '--url', 'http://127.0.0.1:9'], {});
  expect(remote).toMatchObject({ code: 2, stdout: '' });
  expect(remote.stderr).toContain('without --url');
});

test('a user and a session that are not found are named', async () => {
  const refused = ['Session not found.', 'User not found.'];
  const { dataDir } = await startFakeDaemon({
    'POST /openapi/v1/messages': (_, response) => refuse(response, 404, refused.pop()!),
  });
  const noUser = await run(['chat', 'x', '--as', 'nobody'], { dataDir });
  expect(noUser).toMatchObject({ code: 5, stderr: expect.stringContaining('User "nobody" not found.') as string });
  const noSession = await run(['chat', 'x', '--session', SESSION], { dataDir, environment });
  expect(noSession.stderr).toContain(`Session "${SESSION}" not found.`);
});

test('the start of no session is named, and nothing is sent', async () => {
  const { dataDir, received } = await startFakeDaemon({
    'GET /api/v1/ids/sessions/0190f6': (_, response) => refuse(response, 404, 'Id not found.'),
  });
  const ended = await run(['chat', 'x', '--session', '0190f6'], { dataDir, environment });
  expect(ended).toMatchObject({ code: 5, stderr: expect.stringContaining('Session "0190f6" not found.') as string });
  expect(received.filter(({ method }) => method === 'POST')).toEqual([]);
});
