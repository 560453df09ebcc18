// What a pipe is handed may come to a terminal: nothing of what others wrote reaches it as control characters.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { NOW, run, startFakeDaemon, type Route } from '../outside.ts';

const HOSTILE = '\u001b[2J\u001b]52;c;eA==\u0007\u009b31m\u007f\u0008\u202etitle\u2066\u200f\u061c\r';
/** All but what separates lines and columns. */
const CONTROL = /[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const ID = '0190f6a1-0000-7000-8000-000000000001';
const SESSION = {
  session_id: ID,
  status: 'completed',
  username: HOSTILE,
  key_id: null,
  updated_at: new Date(NOW).toISOString(),
  title: HOSTILE,
};
const REPLIES = {
  'GET /api/v1/sessions': () => ({ items: [SESSION], total: 3 }),
  [`GET /api/v1/sessions/${ID}`]: () => SESSION,
};

test.each([
  ['a list', ['sessions', 'list']],
  ['one thing', ['sessions', 'show', ID]],
  ['a list as JSON', ['sessions', 'list', '-o', 'json']],
  ['one thing as JSON', ['sessions', 'show', ID, '-o', 'json']],
  ['what is not there', ['sessions', 'show', HOSTILE]],
])('%s has escapes in a pipe, and nothing of it is lost', async (_, args) => {
  const { dataDir } = await startFakeDaemon(REPLIES);
  const { stdout, stderr } = await run(args, { dataDir });
  expect(stdout).not.toMatch(CONTROL);
  expect(stderr).not.toMatch(CONTROL);
  if (!args.includes('json')) return;
  const printed = JSON.parse(stdout) as typeof SESSION & { readonly items?: readonly (typeof SESSION)[] };
  expect((printed.items?.[0] ?? printed).title).toBe(HOSTILE);
});

const DELTA = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: `${HOSTILE}end\r\n` } };
const CALL = { tool_use_id: 'a', name: HOSTILE, input: { command: HOSTILE } };
const TAILED = [
  { type: DELTA.type, payload: DELTA },
  { type: 'tool_use', payload: CALL },
  { type: 'run.failed', payload: { status: 'failed', error: { type: 'api_error', message: HOSTILE } } },
];
const SAID = [DELTA, { type: 'tool_use', ...CALL }, { type: 'message_stop' }];

const streamOf =
  (events: readonly { readonly type: string }[]): Route =>
  (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-session-id': ID, 'x-run-id': ID });
    const lines = events.map((event, at) => `event: ${event.type}\nid: ${at + 1}\ndata: ${JSON.stringify(event)}\n\n`);
    response.end(lines.join(''));
    return undefined;
  };

/** Streams the turn; asked again without a stream, has the whole answer. */
const answering: Route = (received, response) => {
  if ((received.body as { readonly stream: boolean }).stream) return streamOf(SAID)(received, response);
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ type: 'message', content: [{ type: 'text', text: DELTA.delta.text }] }));
  return undefined;
};

test.each([
  ['a run that is followed', ['runs', 'tail', ID]],
  ['an answer', ['chat', 'x']],
  ['an answer as it arrives', ['chat', 'x', '--stream']],
])('%s has escapes in a pipe, and keeps its line ends', async (_, args) => {
  const { dataDir } = await startFakeDaemon({
    [`GET /api/v1/runs/${ID}/stream`]: streamOf(TAILED),
    'POST /openapi/v1/messages': answering,
  });
  const environment = { ERRAND_API_KEY: 'errand_key' };
  const { stdout, stderr } = await run(args, { dataDir, environment });
  expect(stdout).toContain('\\u001b[2J\\u001b]52;c;eA==\\u0007\\u009b31m');
  expect(stdout).toMatch(/end\r\n$/);
  expect(stdout.replace('\r\n', '')).not.toMatch(CONTROL);
  expect(stderr).not.toMatch(CONTROL);
});

/** They write bytes that are signed, what a terminal alone is shown, or what they have made safe themselves. */
const WRITE_THEMSELVES = [
  'chat/converse.ts',
  'chat/keyboard.ts',
  'chat/sign.ts',
  'frame/output.ts',
  'frame/standard-input.ts',
  'nouns/administration/gc.ts',
  'nouns/administration/logs.ts',
  'nouns/backups/passphrase.ts',
  'nouns/webhooks/deliveries.ts',
  'program.ts',
  'terminal/progress.ts',
];

test('commands print by their output alone, which makes it safe', () => {
  const root = join(import.meta.dirname, '../../../src/cli');
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const writing = files
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => /std(out|err)\.write\(/.test(readFileSync(file, 'utf8')));
  expect(writing.map((file) => relative(root, file)).toSorted()).toEqual(WRITE_THEMSELVES);
});
