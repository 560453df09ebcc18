import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { ErrandError, type ErrorReason } from '../../../src/domain/errors.ts';
import type { Grant } from '../../../src/operations/people/log-in.ts';
import { type Fixture, openFixture, type Sent, send } from '../../support/http/http-fixture.ts';

const PATH = '/openapi/v1/auth/token';
const ISO = '2026-03-01T12:00:00.000Z';

/** A fixture whose logins succeed, or fail so. */
async function fixtureOf(failure?: Error) {
  const grants: Grant[] = [];
  const fixture = await openFixture({
    operations: {
      logIn: async (grant) => {
        grants.push(grant);
        if (failure !== undefined) throw failure;
        return { text: 'a.b.c', expiresInSeconds: 60 };
      },
    },
  });
  return { fixture, grants };
}

const ask = (fixture: Fixture, body: object, more: Partial<Sent> = {}) =>
  send(fixture, { method: 'POST', path: PATH, body, ...more });

const PASSWORD = { grant_type: 'password', username: 'mara', password: 'correct horse' };

test('a token is returned in its four fields, and is not cacheable', {
  tags: ['§2.1-fields', '§4.1-headers'],
}, async () => {
  const { fixture } = await fixtureOf();
  const got = await ask(fixture, PASSWORD);
  expect([got.status, got.json]).toEqual([200, { access_token: 'a.b.c', token_type: 'bearer', expires_in: 60 }]);
  expect(got.headers).toMatchObject({
    'cache-control': 'no-store',
    pragma: 'no-cache',
    'content-type': 'application/json; charset=utf-8',
    'x-content-type-options': 'nosniff',
  });
});

const GRANTS: readonly [body: object, more: Partial<Sent>, grant: object][] = [
  [PASSWORD, {}, { type: 'password', username: 'mara', password: 'correct horse', address: '127.0.0.1' }],
  [PASSWORD, { via: 'socket' }, { type: 'password', username: 'mara', password: 'correct horse', address: 'socket' }],
  [
    { ...PASSWORD, expires_in: 1, scope: 'x' },
    { as: 'nonsense', headers: { 'x-forwarded-for': '192.0.2.9', 'x-api-key': 'y' } },
    { type: 'password', username: 'mara', password: 'correct horse', address: '127.0.0.1' },
  ],
  [
    { grant_type: 'sso_token', provider: 'corp', sso_token: 't', card: '10086' },
    {},
    { type: 'sso_token', provider: 'corp', ssoToken: 't', address: '127.0.0.1' },
  ],
  [{ grant_type: 'api_key' }, { as: 'errand_key' }, { type: 'api_key', apiKey: 'errand_key' }],
  [{ grant_type: 'api_key' }, {}, { type: 'api_key', apiKey: null }],
  [{ grant_type: 'api_key' }, { via: 'socket' }, { type: 'api_key', apiKey: null }],
  [{ grant_type: 'api_key', api_key: 'errand_key', username: 7 }, {}, { type: 'api_key', apiKey: null }],
];

test.each(GRANTS)(
  '%j %j asks for exactly this',
  { tags: ['§4.1-grants', '§4.1-rule-2'] },
  async (body, more, grant) => {
    const { fixture, grants } = await fixtureOf();
    expect((await ask(fixture, body, more)).status).toBe(200);
    expect(grants).toEqual([grant]);
  },
);

interface Refusal extends Partial<Sent> {
  readonly does: string;
  readonly status: number;
  readonly says?: RegExp;
}

const json = { 'content-type': 'application/json' };

const REFUSALS: readonly Refusal[] = [
  { does: 'another method is 405', method: 'GET', status: 405 },
  { does: 'HEAD is 405', method: 'HEAD', status: 405 },
  { does: 'a path below is 404', path: `${PATH}/x`, body: PASSWORD, status: 404 },
  { does: 'a slash at the end is 404', path: `${PATH}/`, body: PASSWORD, status: 404 },
  { does: '64 KB and one are 413', body: { ...PASSWORD, x: 'x'.repeat(65_536) }, status: 413, says: /65536/ },
  {
    does: 'a form is 415',
    body: 'grant_type=password',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    status: 415,
  },
  { does: 'no body is 415', status: 415 },
  { does: 'broken JSON is 400', body: '{', headers: json, status: 400 },
  { does: 'a list is 422', body: '[]', headers: json, status: 422 },
  {
    does: 'no grant type is 422',
    body: {},
    status: 422,
    says: /^grant_type: must be one of password, sso_token, api_key$/,
  },
  { does: 'another grant type is 422', body: { grant_type: 'client_credentials' }, status: 422 },
  { does: 'a grant type in a list is 422', body: { grant_type: ['password'] }, status: 422 },
  { does: 'no username is 422', body: { grant_type: 'password', password: 'x' }, status: 422, says: /^username: / },
  { does: 'no password is 422', body: { grant_type: 'password', username: 'x' }, status: 422, says: /^password: / },
  { does: 'an empty password is 422', body: { ...PASSWORD, password: '' }, status: 422, says: /^password: / },
  { does: 'a password that is a number is 422', body: { ...PASSWORD, password: 7 }, status: 422 },
  { does: 'an endless password is 422', body: { ...PASSWORD, password: 'x'.repeat(1_001) }, status: 422 },
  { does: 'a NUL in a username is 422', body: { ...PASSWORD, username: 'a\0' }, status: 422 },
  { does: 'no provider is 422', body: { grant_type: 'sso_token', sso_token: 't' }, status: 422, says: /^provider: / },
  {
    does: 'no SSO token is 422',
    body: { grant_type: 'sso_token', provider: 'corp' },
    status: 422,
    says: /^sso_token: /,
  },
  { does: 'a key in x-api-key is 401', body: { grant_type: 'api_key' }, headers: { 'x-api-key': 'k' }, status: 401 },
  {
    does: 'another scheme is 401',
    body: { grant_type: 'api_key' },
    headers: { authorization: 'Basic eA==' },
    status: 401,
  },
  {
    does: 'two keys are 401',
    body: { grant_type: 'api_key' },
    headers: { authorization: ['Bearer a', 'Bearer b'] },
    status: 401,
  },
];

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  405: 'not_found_error',
  429: 'rate_limit_error',
  500: 'api_error',
  502: 'api_error',
};

test.each(REFUSALS)(
  '$does, reported in the first shape and not cacheable',
  { tags: ['§4.1-headers', '§7-token-statuses'] },
  async ({ status, says, ...sent }) => {
    const { fixture, grants } = await fixtureOf();
    const got = await send(fixture, { method: 'POST', path: PATH, ...sent });
    expect(got.status).toBe(status);
    expect(got.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' });
    if (status === 405) expect(got.headers.allow).toBe('POST');
    if (sent.method !== 'HEAD') {
      const message = expect.stringMatching(says ?? /./) as string;
      const type = TYPES[status] ?? 'invalid_request_error';
      expect(got.json).toEqual({ type: 'error', error: { type, message } });
    }
    expect(grants).toEqual([]);
  },
);

const FAILURES: readonly [ErrorReason | 'bug', number][] = [
  ['bad_request', 400],
  ['unauthenticated', 401],
  ['forbidden', 403],
  ['unprocessable', 422],
  ['rate_limited', 429],
  ['bad_gateway', 502],
  ['unavailable', 503],
  ['bug', 500],
];

test.each(FAILURES)(
  'a login that fails with %s is %i, not cacheable',
  { tags: ['§4.1-headers', '§7-token-statuses'] },
  async (reason, status) => {
    const failure = reason === 'bug' ? new Error('secret detail') : new ErrandError(reason, 'No.');
    const { fixture } = await fixtureOf(failure);
    const got = await ask(fixture, PASSWORD);
    const message = reason === 'bug' ? 'Internal error.' : 'No.';
    expect([got.status, got.json]).toEqual([
      status,
      {
        type: 'error',
        error: { type: TYPES[status] ?? (status === 503 ? 'api_error' : 'invalid_request_error'), message },
      },
    ]);
    expect(got.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' });
    expect(got.headers['retry-after'] !== undefined).toBe([429, 503].includes(status));
  },
);

test('a body with broken framing gets a reply that is not cacheable', async () => {
  const { fixture } = await fixtureOf();
  const socket = connect(fixture.port, '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  socket.write(
    `POST ${PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n`,
  );
  await new Promise((resolve) => socket.once('close', resolve));
  expect(text).toMatch(/^HTTP\/1\.1 400 /);
  expect(text).toMatch(/\r\nCache-Control: no-store\r\nPragma: no-cache\r\n/);
});

test('no password, token or key is in the log, also when the login breaks', async () => {
  for (const failure of [undefined, new Error('broken'), new ErrandError('bad_gateway', 'No.')]) {
    const { fixture } = await fixtureOf(failure);
    await ask(fixture, PASSWORD);
    await ask(fixture, { grant_type: 'sso_token', provider: 'corp', sso_token: 'se-cret' });
    await ask(fixture, { grant_type: 'api_key' }, { as: 'errand_key' });
    expect(fixture.lines.length).toBeGreaterThanOrEqual(3);
    expect(JSON.stringify(fixture.lines)).not.toMatch(/correct horse|se-cret|errand_key|a\.b\.c/);
  }
});

test('the signing keys are listed without their salt, rotated, and all revoked', async () => {
  const at = Date.parse(ISO);
  const key = { id: 'k', salt: Buffer.from('salt'), createdAt: at, retiredAt: null, revokedAt: null };
  const old = { ...key, id: 'j', retiredAt: at };
  const asked: string[] = [];
  const fixture = await openFixture({
    operations: {
      listSigningKeys: async () => ({ items: [key, old, { ...old, id: 'i', revokedAt: at }], total: 3 }),
      rotateSigningKey: async () => (asked.push('rotate'), key),
      revokeAllTokens: async () => (asked.push('revoke'), key),
    },
  });
  const signing = { id: 'k', state: 'signing', created_at: ISO, retired_at: null, revoked_at: null };
  const listed = await send(fixture, { path: '/api/v1/tokens/keys', via: 'socket' });
  expect(listed.json).toEqual({
    code: 0,
    message: 'ok',
    data: {
      items: [
        signing,
        { ...signing, id: 'j', state: 'verifying', retired_at: ISO },
        { ...signing, id: 'i', state: 'revoked', retired_at: ISO, revoked_at: ISO },
      ],
      total: 3,
    },
  });
  for (const verb of ['rotate', 'revoke-all']) {
    const got = await send(fixture, { method: 'POST', path: `/api/v1/tokens/${verb}`, as: 'admin-key' });
    expect([got.status, got.json]).toEqual([201, { code: 0, message: 'ok', data: signing }]);
  }
  expect(asked).toEqual(['rotate', 'revoke']);
});
