// A conversation of `errand chat` against a daemon that is played: what is sent, shown and done at each key.
import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { run, start, startFakeDaemon, type Route } from '../outside.ts';

const SESSION = '0190f6a0-0000-7000-8000-000000000002';
const RUN = '0190f6a0-0000-7000-8000-000000000001';
const REQUEST = '0190f6a0-0000-7000-8000-000000000003';
const environment = { ERRAND_API_KEY: 'errand_key', NO_COLOR: '1' };
const terminal = { stdin: true, stdout: true, stderr: true };
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';

function begin(response: ServerResponse, session = SESSION): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'x-session-id': session, 'x-run-id': RUN });
}
function emit(
  response: ServerResponse,
  ...events: readonly { readonly type: string; readonly [field: string]: unknown }[]
): void {
  for (const event of events) response.write(`event: ${event.type}\nid: 1\ndata: ${JSON.stringify(event)}\n\n`);
}
const says = (text: string) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });
const STOP = { type: 'message_stop' };

const saying =
  (text: string): Route =>
  (_, response) => {
    begin(response);
    emit(response, says(text), STOP);
    return undefined;
  };

async function open(routes: Readonly<Record<string, Route>>, ...args: readonly string[]) {
  const { dataDir, received } = await startFakeDaemon(routes);
  const stdin = new PassThrough();
  const running = start(['chat', ...args], { dataDir, environment, terminal, stdin });
  await running.until('Ctrl-D ends');
  return { ...running, received, press: (keys: string) => void stdin.write(keys) };
}

const textsOf = (received: readonly { readonly body: unknown }[]) =>
  received.flatMap(
    ({ body }) => (body as { messages?: { content: string }[] } | undefined)?.messages?.[0]?.content ?? [],
  );

test('turns continue one session, and /new begins another', async () => {
  const chat = await open({ 'POST /openapi/v1/messages': saying('Hello\u001b[31m there') });
  chat.press('one\r');
  await chat.until('Hello there\n');
  chat.press('two\r/session\r/new\r/session\rthree\r/quit\r');
  expect(await chat.code).toBe(0);
  expect(textsOf(chat.received)).toEqual(['one', 'two', 'three']);
  expect(chat.received.map(({ body }) => (body as { metadata?: unknown }).metadata)).toEqual([
    undefined,
    { session_id: SESSION },
    undefined,
  ]);
  expect(chat.stdout()).toContain(`\n${SESSION}\n`);
  expect(chat.stdout()).toContain('The session begins with your first message.');
  expect(chat.stdout()).toContain(`Continue with: errand chat --session ${SESSION}\n`);
});

test('until its first word there is a sign of life, and words wrap at the width of the terminal', async () => {
  const words = `The **moon** pulls at ${'the sea '.repeat(12)}and goes.`;
  const chat = await open({ 'POST /openapi/v1/messages': saying(`\n${words}`) });
  chat.press('one\r');
  await chat.until('goes.\n');
  chat.press(CTRL_D);
  expect(await chat.code).toBe(0);
  const after = /…[^]*/.exec(chat.stdout())?.[0] ?? '';
  expect(after).toContain('\r\u001b[K\nThe **moon');
  const lines = after.replace(/^[^]*?(?=The)/, '').split('\n');
  expect(lines.slice(0, 2).join(' ')).toBe(words);
  expect(lines[0]!.length).toBeLessThan(80);
});

test('a message may have several lines: by a backslash, Alt-Enter, Ctrl-J, or pasted', async () => {
  const chat = await open({ 'POST /openapi/v1/messages': saying('Yes.') });
  chat.press('a\\\rb\u001b\rc\nd\r');
  await chat.until('Yes.\n');
  chat.press('\u001b[200~x\ry\r\n\u001b[31mz\n\u001b[201~\r');
  await chat.until('Yes.\n');
  chat.press(CTRL_D);
  expect(await chat.code).toBe(0);
  expect(textsOf(chat.received)).toEqual(['a\nb\nc\nd', 'x\ny\nz\n']);
});

test('tool calls are shown as they happen, their results in one line', async () => {
  const chat = await open({
    'POST /openapi/v1/messages': (_, response) => {
      begin(response);
      const call = { tool_use_id: 't1', name: 'shell' };
      const result = { ...call, ok: false, preview: `exit code 1\n${'x'.repeat(100)}`, duration_ms: 1_234 };
      emit(response, says('Let me see'), { type: 'tool_use', ...call, input: { command: 'make' } });
      emit(response, { type: 'tool_result', ...result }, STOP);
    },
  });
  chat.press(`go\r`);
  await chat.until('exit code 1');
  chat.press(CTRL_D);
  await chat.code;
  expect(chat.stdout()).toMatch(/Let me see\n\* shell make\n {2}✗ shell 1\.2 s: exit code 1 x+…\n/);
});

test('Ctrl-C stops the run, and the conversation continues', async () => {
  let streaming: ServerResponse | undefined;
  const chat = await open({
    'POST /openapi/v1/messages': (received, response) => {
      if (textsOf([received])[0] === 'again') return saying('Done.')(received, response);
      begin(response);
      emit(response, says('Half '));
      streaming = response;
      return undefined;
    },
    [`POST /openapi/v1/sessions/${SESSION}/stop`]: () => {
      emit(streaming!, {
        type: 'error',
        error: { type: 'invalid_request_error', message: 'The run was stopped.' },
      });
      streaming!.end();
      return {};
    },
  });
  chat.press('long\r');
  await chat.until('Half');
  chat.press(CTRL_C);
  await chat.until('Stopped.');
  chat.press('again\r');
  // Ctrl-C before the prompt is there would still be for the run.
  await chat.until('Done.\n\r\u001b[J> ');
  chat.press(`half a message${CTRL_C}${CTRL_C}`);
  await chat.until('Ctrl-C again ends the conversation.');
  chat.press(CTRL_C);
  expect(await chat.code).toBe(0);
  expect(textsOf(chat.received)).toEqual(['long', 'again']);
});

test('a second Ctrl-C leaves a run that does not stop', async () => {
  const chat = await open({
    'POST /openapi/v1/messages': (_, response) => {
      begin(response);
      emit(response, says('Half '));
    },
    [`POST /openapi/v1/sessions/${SESSION}/stop`]: () => ({}),
  });
  chat.press('long\r');
  await chat.until('Half');
  chat.press(CTRL_C);
  await chat.until('Stopping.');
  chat.press(CTRL_C);
  await chat.until(`errand runs tail ${RUN}`);
  chat.press(CTRL_D);
  expect(await chat.code).toBe(0);
});

test('a question of the agent is answered at the prompt, but not by what was typed before it', async () => {
  let streaming: ServerResponse | undefined;
  const ids = { request_id: REQUEST, tool_use_id: 't1' };
  const chat = await open({
    'POST /openapi/v1/messages': (received, response) => {
      if (textsOf([received])[0] === 'next') return saying('Next.')(received, response);
      begin(response);
      streaming = response;
      emit(response, { type: 'user_input.requested', ...ids, tool_name: 'ask_user', expires_at: 'x' });
      return undefined;
    },
    [`GET /openapi/v1/sessions/${SESSION}/user-inputs?status=pending`]: (_, response) => {
      const tool_input = { question: 'Which colour?', options: ['red', 'blue'] };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ items: [{ request_id: REQUEST, tool_input }] }));
      return undefined;
    },
    [`POST /openapi/v1/user-inputs/${REQUEST}/answer`]: () => {
      emit(streaming!, { type: 'user_input.answered', ...ids }, says('Blue it is.'), STOP);
      return {};
    },
  });
  chat.press('paint\rnext\r');
  await chat.until('answer> ');
  chat.press('2\r');
  await chat.until('Blue it is.\n');
  await chat.until('Next.\n');
  chat.press(CTRL_D);
  expect(await chat.code).toBe(0);
  expect(chat.received.map(({ body }) => body)).toContainEqual({ answers: 'blue' });
  expect(textsOf(chat.received)).toEqual(['paint', 'next']);
});

test('/files lists the files of the session with their sizes', async () => {
  const file = (path: string, size: number) => ({ path, children: null, oss_meta: { size, sha256: '' } });
  const files = [{ path: 'b', children: [file('b/two.md', 1_500)] }, file('a.md', 12)];
  const chat = await open(
    {
      [`GET /openapi/v1/sessions/${SESSION}/artifacts`]: (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ session_id: SESSION, workspace_export_status: 'pending', files, archive: null }));
        return undefined;
      },
    },
    '--session',
    SESSION,
  );
  chat.press(`/files\r`);
  await chat.until('still being collected');
  chat.press(CTRL_D);
  await chat.code;
  expect(chat.stdout()).toContain('    12 B  a.md\n  1.5 KB  b/two.md\n');
});

test('errors, unknown commands and a terminal that is gone', async () => {
  const chat = await open({});
  chat.press('hello\r');
  await chat.until('! There is no /openapi/v1/messages.');
  chat.press('/nothing\r/help\r');
  await chat.until('Ctrl-J');
  expect(chat.stdout()).toContain('There is no command /nothing;');
  chat.signal('SIGTERM');
  expect(await chat.code).toBe(143);
  expect(chat.stdout().endsWith('\u001b[?2004l')).toBe(true);
});

test('without a text and a terminal, the text comes from standard input', async () => {
  const { dataDir, received } = await startFakeDaemon({
    'POST /openapi/v1/messages': (one, response) => {
      if ((one.body as { stream: boolean }).stream) return saying('Read.')(one, response);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ content: [{ type: 'text', text: 'Read.' }] }));
      return undefined;
    },
  });
  expect(await run(['chat'], { dataDir, environment, stdin: 'a\nb\n' })).toMatchObject({ code: 0, stdout: 'Read.\n' });
  expect(new Set(textsOf(received))).toEqual(new Set(['a\nb\n']));
  expect(await run(['chat'], { dataDir, environment })).toMatchObject({ code: 2 });
});

test.each([
  [['chat'], { stdin: true }],
  [['chat', '-o', 'json'], { stdin: true, stdout: true }],
])('%j with terminals %j is a usage error', async (args, terminal) => {
  const ended = await run(args, { environment, terminal });
  expect(ended).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('A conversation needs a terminal') as string,
  });
});
