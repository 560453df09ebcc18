import { inOnePortion } from '../../support/store/read-whole.ts';
import { request } from 'node:http';
import { expect, test } from 'vitest';
import { ErrandError } from '../../../src/domain/errors.ts';
import type { MessageOfRun } from '../../../src/store/sessions/history.ts';
import type { RunError } from '../../../src/domain/sessions/run.ts';
import { AT, finish, openFixture, send, TURN } from '../../support/http/http-fixture.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const KEY = 'conversation-key';
const MESSAGES = { method: 'POST', path: '/openapi/v1/messages', as: KEY };
const CHAT = { method: 'POST', path: '/openapi/v1/chat/completions', as: KEY };

test('a Messages reply is a complete message, with usage as that protocol defines it', {
  tags: ['§2.4-fields', 'C1'],
}, async () => {
  const fixture = await openFixture();
  const got = await send(fixture, { ...MESSAGES, body: { ...TURN, model: 'any name' } });
  const run = fixture.book.runs[0]!;
  expect(got.json).toEqual({
    id: `msg_${run.id.replaceAll('-', '')}`,
    type: 'message',
    role: 'assistant',
    model: 'any name',
    content: [{ type: 'text', text: 'Hello.' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 30, output_tokens: 7, cache_creation_input_tokens: 10, cache_read_input_tokens: 60 },
  });
  expect([got.headers['x-session-id'], got.headers['x-run-id']]).toEqual([run.sessionId, run.id]);
  expect(got.headers['x-should-retry']).toBeUndefined();
});

test('a chat reply is a complete completion, with usage as that protocol defines it', {
  tags: ['§2.2-fields', 'C1'],
}, async () => {
  const fixture = await openFixture();
  const got = await send(fixture, { ...CHAT, body: TURN });
  const run = fixture.book.runs[0]!;
  expect(got.json).toEqual({
    id: `chatcmpl-${run.id.replaceAll('-', '')}`,
    object: 'chat.completion',
    created: AT / 1000,
    model: 'errand',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, logprobs: null, finish_reason: 'stop' }],
    usage: { prompt_tokens: 100, completion_tokens: 7, total_tokens: 107 },
  });
  expect([got.headers['x-session-id'], got.headers['x-run-id']]).toEqual([run.sessionId, run.id]);
});

test('an answer without text has no content blocks', { tags: ['§2.4-fields'] }, async () => {
  const fixture = await openFixture({ play: (run, book) => finish(book, run, '') });
  expect((await send(fixture, { ...MESSAGES, body: TURN })).json).toMatchObject({ content: [] });
});

const FAILURES = [
  ['api_error', 500, 'api_error', undefined],
  ['interrupted_error', 500, 'api_error', undefined],
  ['structured_output_error', 500, 'api_error', undefined],
  ['timeout_error', 504, 'timeout_error', '5'],
  ['queue_timeout_error', 504, 'timeout_error', '5'],
  ['budget_error', 429, 'rate_limit_error', undefined],
] as const;

test.each(FAILURES)(
  'a run that failed with %s is a %i that no client repeats',
  { tags: ['D6'] },
  async (type, status, expected, retryAfter) => {
    const error: RunError = { type, message: 'It broke.', retryable: false };
    const fixture = await openFixture({ play: (run, book) => book.move(run, { status: 'failed', error }) });
    const got = await send(fixture, { ...MESSAGES, body: TURN });
    expect([got.status, got.json]).toEqual([
      status,
      { type: 'error', error: { type: expected, message: 'It broke.' } },
    ]);
    expect(got.headers).toMatchObject({ 'x-should-retry': 'false', 'x-run-id': fixture.book.runs[0]!.id });
    expect(got.headers['retry-after']).toBe(retryAfter);
    const chat = await send(fixture, { ...CHAT, body: TURN });
    expect(chat.json).toEqual({ error: { message: 'It broke.', type: expected, param: null, code: null } });
  },
);

test('a run stopped under its waiting request is a 409', async () => {
  const fixture = await openFixture({ play: () => {} });
  const waiting = send(fixture, { ...MESSAGES, body: TURN });
  await waitFor(() => fixture.book.waiting() === 1);
  fixture.book.move(fixture.book.runs[0]!, { status: 'canceled' });
  const got = await waiting;
  expect([got.status, got.json]).toEqual([
    409,
    { type: 'error', error: { type: 'invalid_request_error', message: 'The run was stopped.' } },
  ]);
});

test('a wait that times out returns the run, and can be repeated only with an idempotency key', {
  tags: ['C8'],
}, async () => {
  const awaitResult = async () => {
    throw new ErrandError('wait_timeout', 'Still running.');
  };
  const fixture = await openFixture({ play: () => {}, operations: { awaitResult } });
  const got = await send(fixture, { ...MESSAGES, body: TURN });
  expect([got.status, got.headers['retry-after'], got.headers['x-should-retry']]).toEqual([504, '5', 'false']);
  const { id } = fixture.book.runs[0]!;
  expect(got.headers['x-run-id']).toBe(id);
  const place = `Still running. Its result comes at GET /openapi/v1/runs/${id}/stream;`;
  const messageOf = ({ json }: typeof got) => (json as { error: { message: string } }).error.message;
  expect(messageOf(got)).toBe(`${place} repeating the request would begin a second run.`);
  const again = await send(fixture, { ...MESSAGES, body: { ...TURN, idempotency_key: 'k' } });
  expect([again.status, again.headers['x-should-retry']]).toEqual([504, undefined]);
  expect(messageOf(again)).toMatch(/or repeat the request with its idempotency key\.$/);
});

test.each([MESSAGES, CHAT])(
  'the header Errand-Session-Id of $path continues a session',
  { tags: ['M1-header'] },
  async (request) => {
    const fixture = await openFixture();
    const first = await send(fixture, { ...request, body: TURN });
    const sessionId = String(first.headers['x-session-id']);
    const same = { metadata: { session_id: sessionId.toUpperCase() } };
    for (const body of [TURN, { ...TURN, ...same }])
      await send(fixture, { ...request, body, headers: { 'errand-session-id': sessionId } });
    expect(fixture.turns.map((turn) => turn.sessionId)).toEqual([null, sessionId, sessionId]);

    const other = { metadata: { session_id: '0198c0de-0000-7000-8000-0000000000ff' } };
    for (const [body, header] of [
      [{ ...TURN, ...other }, sessionId],
      [TURN, 'mine'],
      [TURN, ''],
    ] as const) {
      const refused = await send(fixture, { ...request, body, headers: { 'errand-session-id': header } });
      expect(refused.status).toBe(422);
      expect(refused.text).toMatch(/Errand-Session-Id/);
    }
  },
);

test.each([MESSAGES, CHAT])(
  'the header X-Session-Id of $path is an offer, whatever it says',
  { tags: ['M1-header'] },
  async (request) => {
    const fixture = await openFixture();
    const headers = { 'x-session-id': 'ses_7f3a' };
    expect((await send(fixture, { ...request, body: TURN, headers })).status).toBe(200);
    expect(fixture.turns[0]).toMatchObject({ sessionId: null, offeredSession: 'ses_7f3a' });
  },
);

test.each([MESSAGES, CHAT])(
  'a reply of $path names the parts of its request that were ignored',
  { tags: ['M1-ignored'] },
  async (request) => {
    const fixture = await openFixture();
    const ignored = async (over: object) =>
      (await send(fixture, { ...request, body: { ...TURN, ...over } })).headers['x-errand-ignored'];
    const [last] = TURN.messages;
    const earlier = [{ role: 'user', content: 'hello' }, { role: 'assistant', content: 'Hello!' }, last];
    const tools = [{ type: 'function', function: { name: 'look_up', parameters: {} } }];
    expect(await ignored({})).toBeUndefined();
    expect(await ignored({ messages: [{ role: 'system', content: 'Be brief.' }, last], tools: [] })).toBeUndefined();
    expect(await ignored({ messages: earlier })).toBe('history');
    expect(await ignored({ tools })).toBe('tools');
    expect(await ignored({ messages: earlier, tools })).toBe('history, tools');
    expect(await ignored({ messages: earlier, tools, stream: true })).toBe('history, tools');
  },
);

test('a client that leaves ends its wait and nothing else', async () => {
  const fixture = await openFixture({ play: () => {} });
  const req = request({
    port: fixture.port,
    method: 'POST',
    path: '/openapi/v1/messages',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
  });
  req.on('error', () => {});
  req.end(JSON.stringify(TURN));
  await waitFor(() => fixture.book.waiting() === 1);
  req.destroy();
  await waitFor(() => fixture.book.waiting() === 0);
  expect(fixture.book.runs[0]!.status).toBe('queued');
  await waitFor(() => fixture.lines.some(({ msg }) => msg === 'request'));
  expect(fixture.lines.filter(({ level }) => level === 'error')).toEqual([]);
});

test('what is kept of the header of a trace goes with the turn', async () => {
  const given: unknown[] = [];
  const fixture = await openFixture({
    parts: { traceParentOf: (header) => (header === undefined ? null : `kept ${header}`) },
    operations: {
      acceptTurn: async (_caller, _input, { traceParent }) => {
        given.push(traceParent);
        throw new ErrandError('unavailable', 'Not now.');
      },
    },
  });
  const body = { model: 'qwen', messages: [{ role: 'user', content: 'x' }] };
  await send(fixture, { ...CHAT, headers: { traceparent: 'parent' }, body });
  await send(fixture, { ...CHAT, body });
  expect(given).toEqual(['kept parent', null]);
});

test('the history has blocks, tools and attachments in wire names', {
  tags: ['§2.7-fields', '§4.6-history', 'E2'],
}, async () => {
  const attachment = {
    id: 'a1',
    name: 'p.png',
    path: 'attachments/a1/p.png',
    workspacePath: '/uploads/p.png',
    mimeType: 'image/png',
    size: 2,
    sha256: 'ff',
  };
  const messages: MessageOfRun[] = [
    {
      id: 1,
      role: 'user',
      textPreview: 'see',
      createdAt: AT,
      runId: 'r',
      attachments: [attachment],
      content: [
        { type: 'text', text: 'see' },
        { type: 'attachment', attachmentId: 'a1', media: 'image' },
      ],
    },
    {
      id: 2,
      role: 'assistant',
      textPreview: 'done',
      createdAt: AT,
      runId: 'r',
      attachments: [],
      content: [
        { type: 'tool_use', id: 't1', name: 'write_file', input: { path: '/x' } },
        { type: 'tool_result', toolUseId: 't1', ok: false, output: 'no room' },
        { type: 'text', text: 'done' },
      ],
    },
  ];
  const fixture = await openFixture({
    operations: { listMessages: async (_caller, sessionId) => ({ sessionId, messages: inOnePortion(messages) }) },
  });
  const id = '0198C0DE-0000-7000-8000-000000000009';
  const got = await send(fixture, { path: `/openapi/v1/sessions/${id}/messages`, as: KEY });
  expect(got.json).toEqual({
    session_id: id.toLowerCase(),
    messages: [
      {
        id: 1,
        role: 'user',
        text_preview: 'see',
        content: {
          _type: 'UserMessage',
          content: [
            { type: 'text', text: 'see' },
            { type: 'image', attachment_id: 'a1', file_name: 'p.png', path: 'attachments/a1/p.png' },
          ],
        },
        attachments: [
          { id: 'a1', name: 'p.png', path: 'attachments/a1/p.png', mime_type: 'image/png', size: 2, sha256: 'ff' },
        ],
      },
      {
        id: 2,
        role: 'assistant',
        text_preview: 'done',
        content: {
          _type: 'AssistantMessage',
          content: [
            { type: 'tool_use', id: 't1', name: 'write_file', input: { path: '/x' } },
            { type: 'tool_result', tool_use_id: 't1', is_error: true, content: 'no room' },
            { type: 'text', text: 'done' },
          ],
        },
        attachments: [],
      },
    ],
  });
});

test('the list of models holds the one model of the key', { tags: ['C13'] }, async () => {
  const fixture = await openFixture();
  expect((await send(fixture, { path: '/openapi/v1/models', as: KEY })).json).toEqual({
    object: 'list',
    data: [
      {
        id: 'qwen',
        object: 'model',
        created: AT / 1000,
        owned_by: 'errand',
        // What the other protocol calls these.
        type: 'model',
        display_name: 'qwen',
        created_at: new Date(AT).toISOString(),
      },
    ],
    has_more: false,
    first_id: 'qwen',
    last_id: 'qwen',
  });
});
