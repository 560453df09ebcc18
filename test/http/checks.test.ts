import { expect, test } from 'vitest';
import { ErrandError } from '../../src/domain/errors.ts';
import { type Got, type Fixture, openFixture, type Sent, send, TURN } from '../support/http/http-fixture.ts';

const MESSAGES = '/openapi/v1/messages';
const CHAT = '/openapi/v1/chat/completions';
const UNKNOWN_ID = '0198c0de-0000-7000-8000-0000000000ff';
const KEY = 'conversation-key';

/** The content of an error body in the shape of this path. */
function errorOf(path: string, got: Got): { type?: string; message: string; param?: string | null } {
  const json = got.json as Record<string, unknown>;
  if (path.startsWith('/api/')) {
    expect(json).toEqual({ code: got.status, message: expect.any(String) as string, data: null });
    return { message: json['message'] as string };
  }
  const error = json['error'] as { type: string; message: string; param: string | null };
  if (/^\/openapi\/v1\/(chat|models|responses)/.test(path)) {
    expect(Object.keys(json)).toEqual(['error']);
    expect(Object.keys(error).sort()).toEqual(['code', 'message', 'param', 'type']);
  } else {
    expect(json['type']).toBe('error');
    expect(Object.keys(json).sort()).toEqual(['error', 'type']);
    expect(Object.keys(error).sort()).toEqual(['message', 'type']);
  }
  return error;
}

interface Scenario extends Sent {
  readonly does: string;
  readonly status: number;
  readonly type?: string;
  readonly says?: RegExp;
}

const deep = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const oversize = Buffer.alloc(5_600_000, 0x20);

/** Every refusal that both conversation endpoints share. Each request has every later fault too, to prove the order. */
const SHARED: readonly Omit<Scenario, 'path'>[] = [
  { does: 'no credential is 401', body: oversize, status: 401, type: 'authentication_error' },
  { does: 'an unknown key is 401', as: 'nonsense', body: 'x', status: 401, type: 'authentication_error' },
  { does: 'a disabled user is 403', as: 'disabled-key', body: oversize, status: 403, type: 'permission_error' },
  { does: 'a body over the limit is 413', as: KEY, body: oversize, status: 413, type: 'invalid_request_error' },
  { does: 'no content type is 415', as: KEY, body: '{', status: 415, type: 'invalid_request_error' },
  { does: 'another content type is 415', as: KEY, body: '{', headers: { 'content-type': 'text/plain' }, status: 415 },
  {
    does: 'another charset is 415',
    as: KEY,
    body: '{}',
    headers: { 'content-type': 'application/json; charset=latin1' },
    status: 415,
  },
  {
    does: 'a packed body is 415',
    as: KEY,
    body: '{',
    headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    status: 415,
  },
  {
    does: 'an empty body is 400',
    as: KEY,
    body: '',
    headers: { 'content-type': 'application/json' },
    status: 400,
    says: /empty/,
  },
  {
    does: 'malformed JSON is 400',
    as: KEY,
    body: '{"model":',
    headers: { 'content-type': 'application/json' },
    status: 400,
    type: 'invalid_request_error',
  },
  {
    does: 'invalid UTF-8 is 400',
    as: KEY,
    body: Buffer.from([0x7b, 0xff, 0x7d]),
    headers: { 'content-type': 'application/json' },
    status: 400,
    says: /UTF-8/,
  },
  {
    does: 'an array is 422',
    as: KEY,
    body: '[]',
    headers: { 'content-type': 'application/json' },
    status: 422,
    says: /must be a JSON object/,
  },
  {
    does: '65 levels are 422',
    as: KEY,
    body: `{"x":${deep(64)}}`,
    headers: { 'content-type': 'application/json' },
    status: 422,
    says: /64 levels/,
  },
  {
    does: '64 levels are read',
    as: KEY,
    body: `{"x":${deep(63)}}`,
    headers: { 'content-type': 'application/json' },
    status: 422,
    says: /^model: /,
  },
  {
    does: 'a field of the wrong type is 422',
    as: KEY,
    body: { ...TURN, stream: 'true' },
    status: 422,
    type: 'invalid_request_error',
    says: /^stream: must be true or false$/,
  },
  {
    does: 'fields in __proto__ count for nothing',
    as: KEY,
    body: '{"__proto__":{"model":"m","messages":[]}}',
    headers: { 'content-type': 'application/json' },
    status: 422,
    says: /^model: /,
  },
  {
    does: 'charset utf-8 is read',
    as: KEY,
    body: JSON.stringify(TURN),
    headers: { 'content-type': 'Application/JSON; charset="UTF-8"' },
    status: 200,
  },
  { does: 'x-api-key is a credential too', headers: { 'x-api-key': KEY }, body: TURN, status: 200 },
  { does: 'the same key in both headers is one', as: KEY, headers: { 'x-api-key': KEY }, body: TURN, status: 200 },
  {
    does: 'two different credentials are 401',
    as: KEY,
    headers: { 'x-api-key': 'global-key' },
    body: TURN,
    status: 401,
  },
  { does: 'a repeated x-api-key is 401', headers: { 'x-api-key': [KEY, KEY] }, body: TURN, status: 401 },
  {
    does: 'a repeated Authorization is 401',
    headers: { authorization: [`Bearer ${KEY}`, `Bearer ${KEY}`] },
    body: TURN,
    status: 401,
  },
  { does: 'another scheme is 401', headers: { authorization: `Basic ${KEY}` }, body: TURN, status: 401 },
  { does: 'a key in a cookie is not read', headers: { cookie: `x-api-key=${KEY}` }, body: TURN, status: 401 },
];

const SCENARIOS: readonly Scenario[] = [
  ...[MESSAGES, CHAT].flatMap((path) => SHARED.map((scenario) => ({ method: 'POST', ...scenario, path }))),
  {
    does: 'a key in the query is not read',
    method: 'POST',
    path: `${MESSAGES}?api_key=${KEY}&x-api-key=${KEY}`,
    body: TURN,
    status: 401,
  },
  { does: 'an unknown path', path: '/openapi/v1/nothing', status: 404, type: 'not_found_error' },
  {
    does: 'what another client library asks first',
    method: 'POST',
    path: '/openapi/v1/completions',
    status: 404,
    says: /POST \/openapi\/v1\/chat\/completions, \/openapi\/v1\/responses and \/openapi\/v1\/messages/,
  },
  { does: 'an unknown path elsewhere', path: '/v2/responses', status: 404, says: /^No such endpoint\.$/ },
  { does: 'a response of another form', path: '/openapi/v1/responses/resp_1', as: KEY, status: 404, says: /Response/ },
  { does: 'an unknown path under chat', path: '/openapi/v1/chat/nothing', status: 404, type: 'not_found_error' },
  { does: 'an unknown path under the management API', path: '/api/v1/nothing', status: 404 },
  { does: 'the root', path: '/', status: 404, type: 'not_found_error' },
  { does: 'a trailing slash', method: 'POST', path: `${MESSAGES}/`, as: KEY, body: TURN, status: 404 },
  { does: 'other letters', method: 'POST', path: '/openapi/v1/Messages', as: KEY, body: TURN, status: 404 },
  { does: 'a whole address as the target', path: 'http://elsewhere.example/healthz', status: 200 },
  { does: 'an odd address as the target', path: 'http://[/x', status: 404 },
  {
    does: 'a broken escape in an id',
    path: '/openapi/v1/sessions/%E0%A4%A/messages',
    as: KEY,
    status: 404,
    says: /Session/,
  },
  {
    does: 'a way out in an id',
    path: '/openapi/v1/sessions/..%2F..%2Fx/messages',
    as: KEY,
    status: 404,
    says: /Session/,
  },
  { does: 'an id of the wrong form', path: '/openapi/v1/runs/run_1/stream', as: KEY, status: 404, says: /Run/ },
  {
    does: 'an unknown run',
    path: `/openapi/v1/runs/${UNKNOWN_ID}/stream`,
    as: KEY,
    status: 404,
    type: 'not_found_error',
  },
  {
    does: 'a position that is no integer',
    path: `/openapi/v1/runs/${UNKNOWN_ID}/stream?after=1.5`,
    as: KEY,
    status: 422,
    says: /^after: /,
  },
  {
    does: 'a negative position',
    path: `/openapi/v1/runs/${UNKNOWN_ID}/stream?after=-1`,
    as: KEY,
    status: 422,
    says: /^after: /,
  },
  {
    does: 'an empty position',
    path: `/openapi/v1/runs/${UNKNOWN_ID}/stream?after=`,
    as: KEY,
    status: 422,
    says: /^after: /,
  },
  {
    does: 'two positions',
    path: `/openapi/v1/runs/${UNKNOWN_ID}/stream?after=1&after=2`,
    as: KEY,
    status: 422,
    says: /^after: /,
  },
  {
    does: 'a header position that is no integer',
    path: `/openapi/v1/runs/${UNKNOWN_ID}/stream`,
    as: KEY,
    headers: { 'last-event-id': 'x' },
    status: 422,
  },
  {
    does: 'x-api-key on the management API',
    path: '/api/v1/status',
    headers: { 'x-api-key': 'admin-key' },
    status: 401,
    says: /Bearer/,
  },
  { does: 'the management API by Bearer', path: '/api/v1/status', as: 'admin-key', status: 200 },
];

test.each(SCENARIOS)(
  '$path: $does',
  { tags: ['§5-credentials', '§7-shapes', '§7-types', 'A1-order', 'A6', 'A9', 'C2'] },
  async ({ does: _does, status, type, says, ...sent }) => {
    const fixture = await openFixture();
    const got = await send(fixture, sent);
    expect([got.status, got.text]).toEqual([status, got.text]);
    expect(got.headers['x-request-id']).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    expect(got.headers['x-content-type-options']).toBe('nosniff');
    if (status < 400) return;
    expect(got.headers['content-type']).toBe('application/json; charset=utf-8');
    const error = errorOf(sent.path, got);
    if (type !== undefined) expect(error.type).toBe(type);
    if (says !== undefined) expect(error.message).toMatch(says);
    expect(fixture.turns).toEqual([]);
  },
);

test('a 422 of the chat protocol names the field as param, a 401 names none', { tags: ['A3'] }, async () => {
  const fixture = await openFixture();
  const wrong = await send(fixture, {
    method: 'POST',
    path: CHAT,
    as: KEY,
    body: { ...TURN, messages: [{ role: 'user', content: 7 }] },
  });
  expect(errorOf(CHAT, wrong)).toEqual({
    message: 'messages[0].content: must be a string or an array of blocks',
    type: 'invalid_request_error',
    param: 'messages[0].content',
    code: null,
  });
  expect(errorOf(CHAT, await send(fixture, { method: 'POST', path: CHAT })).param).toBeNull();
});

const REFUSALS = [
  ['conflict', 409, 'invalid_request_error', undefined],
  ['rate_limited', 429, 'rate_limit_error', '2'],
  ['unavailable', 503, 'api_error', '5'],
  ['wait_timeout', 504, 'timeout_error', '5'],
  ['not_found', 404, 'not_found_error', undefined],
  ['bad_gateway', 502, 'api_error', undefined],
] as const;

test.each(REFUSALS)(
  'a refusal %s of an operation is a %i in each shape',
  { tags: ['§7-shapes', '§7-types', '§7-queue-full', 'A2', 'A3'] },
  async (reason, status, type, retryAfter) => {
    const refuse = async () => {
      throw new ErrandError(reason, 'Words.');
    };
    const fixture = await openFixture({ operations: { acceptTurn: refuse, listUsers: refuse } });
    for (const path of [MESSAGES, CHAT]) {
      const got = await send(fixture, { method: 'POST', path, as: KEY, body: TURN });
      expect([got.status, got.headers['retry-after']]).toEqual([status, retryAfter]);
      expect(errorOf(path, got)).toMatchObject({ type, message: 'Words.' });
    }
    const got = await send(fixture, { path: '/api/v1/users', as: 'admin-key' });
    expect([got.status, errorOf('/api/v1/users', got).message]).toEqual([status, 'Words.']);
  },
);

test('an error that says so has no retry-after, and asks clients not to repeat the request', async () => {
  const acceptTurn = async () => {
    throw new ErrandError('rate_limited', 'Used up.', { details: { retryAfterSeconds: null, noRetry: true } });
  };
  const fixture = await openFixture({ operations: { acceptTurn } });
  const { headers } = await send(fixture, { method: 'POST', path: MESSAGES, as: KEY, body: TURN });
  expect([headers['retry-after'], headers['x-should-retry']]).toEqual([undefined, 'false']);
});

test('an error’s own retry-after takes precedence over the usual one, and is at least a second', {
  tags: ['A3'],
}, async () => {
  const acceptTurn = async () => {
    throw new ErrandError('rate_limited', 'Slow.', { details: { retryAfterSeconds: 0.2 } });
  };
  const fixture = await openFixture({ operations: { acceptTurn } });
  expect((await send(fixture, { method: 'POST', path: MESSAGES, as: KEY, body: TURN })).headers['retry-after']).toBe(
    '1',
  );
});

test('a bug is a bare 500 to the caller, and its cause is in the log with the request id', async () => {
  const acceptTurn = async () => {
    throw new TypeError('the secret inside');
  };
  const fixture = await openFixture({ operations: { acceptTurn } });
  const got = await send(fixture, { method: 'POST', path: MESSAGES, as: KEY, body: TURN });
  expect([got.status, errorOf(MESSAGES, got)]).toEqual([500, { type: 'api_error', message: 'Internal error.' }]);
  expect(got.text).not.toContain('secret');
  const line = fixture.lines.find(({ level }) => level === 'error');
  expect(line).toMatchObject({ request_id: got.headers['x-request-id'], err: { message: 'the secret inside' } });
});

test('a request id of the client is not used, and no two are equal', { tags: ['A9'] }, async () => {
  const fixture = await openFixture();
  const mine = UNKNOWN_ID;
  const ids = await Promise.all(
    [1, 2].map(
      async () =>
        (await send(fixture, { path: '/healthz', headers: { 'x-request-id': mine } })).headers['x-request-id'],
    ),
  );
  expect(new Set([...ids, mine]).size).toBe(3);
});

test('HEAD answers as GET without a body, and 405 on a stream', { tags: ['A7'] }, async () => {
  const fixture = await openFixture();
  const get = await send(fixture, { path: '/openapi/v1/models', as: KEY });
  const head = await send(fixture, { method: 'HEAD', path: '/openapi/v1/models', as: KEY });
  expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', String(get.text.length)]);
  const refused = await send(fixture, { method: 'HEAD', path: `/openapi/v1/runs/${UNKNOWN_ID}/stream`, as: KEY });
  expect([refused.status, refused.headers.allow, refused.text]).toEqual([405, 'GET', '']);
});

test('a body that grows past the limit without saying its length is 413 and closes the connection', {
  tags: ['A5-limits'],
}, async () => {
  const fixture = await openFixture();
  const got = await send(fixture, {
    method: 'POST',
    path: MESSAGES,
    as: KEY,
    body: oversize,
    headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
  });
  expect([got.status, got.headers.connection]).toEqual([413, 'close']);
  expect(errorOf(MESSAGES, got).type).toBe('invalid_request_error');
});

test('each request but those for health gets a log line, and no line contains its key', {
  tags: ['§4.1-rule-4'],
}, async () => {
  const fixture = await openFixture();
  for (const path of ['/api/v1/status?x=1', '/healthz', '/readyz']) await send(fixture, { path, as: 'admin-key' });
  await send(fixture, { path: '/api/v1/status', via: 'socket' });
  const requests = fixture.lines.filter(({ msg, level }) => msg === 'request' && level !== 'debug');
  expect(requests.length).toBe(2);
  expect(requests).toMatchObject([
    { method: 'GET', path: '/api/v1/status', status: 200, client_address: '127.0.0.1' },
    { method: 'GET', path: '/api/v1/status', status: 200, client_address: 'socket' },
  ]);
  expect(JSON.stringify(fixture.lines)).not.toContain('admin-key');
});

test('readyz is 503 with Retry-After while a part has failed, healthz stays 200', async () => {
  const parts = [{ name: 'store', state: 'failed' as const, detail: 'disk full' }];
  const fixture: Fixture = await openFixture({ parts: { readiness: () => ({ ready: false, parts }) } });
  const ready = await send(fixture, { path: '/readyz' });
  expect([ready.status, ready.headers['retry-after'], ready.json]).toEqual([503, '5', { ready: false, parts }]);
  expect(fixture.lines).toContainEqual(expect.objectContaining({ path: '/readyz', status: 503, level: 'info' }));
  expect((await send(fixture, { path: '/healthz' })).status).toBe(200);
});
