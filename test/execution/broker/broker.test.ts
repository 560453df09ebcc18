// The broker against real servers on loopback, with connections in a real store.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Connector, ConnectorAuth } from '../../../src/domain/capabilities/connector.ts';
import type { EgressRule } from '../../../src/domain/egress.ts';
import { newId } from '../../../src/domain/ids.ts';
import { makeBroker } from '../../../src/execution/broker/broker.ts';
import { openMasterKey } from '../../../src/files/master-key.ts';
import { makeSecretBox } from '../../../src/files/secret-box.ts';
import { makeLog } from '../../../src/log/log.ts';
import { storeFixture } from '../../support/store/store-fixture.ts';
import { makeCertificate } from '../../support/http/certificates.ts';
import { startTlsFront } from '../../support/http/tls-front.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

type Answer = (seen: Seen, response: ServerResponse) => void;

async function startService(answer: Answer): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const one = { method, url, headers, body: Buffer.concat(chunks).toString() };
      seen.push(one);
      answer(one, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const json = (response: ServerResponse, status: number, value: unknown, headers = {}) =>
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));

const LOOPBACK: EgressRule = { cidr: '127.0.0.0/8', host: null, ports: null, for: ['connector'] };
const TOKEN_AUTH: ConnectorAuth = { kind: 'token', header: 'Authorization', prefix: 'Bearer ' };
const RUN = 7;

async function fixture(parts: {
  readonly baseUrl: string;
  readonly auth?: ConnectorAuth;
  readonly secret?: string | null;
  readonly changes?: Partial<Connector>;
  readonly egress?: readonly EgressRule[];
}) {
  const { store, user } = await storeFixture();
  const secrets = makeSecretBox(openMasterKey({ path: join(temporaryDirectory(), 'master.key'), isCredential: false }));
  const connector: Connector = {
    name: 'crm',
    description: 'customers',
    baseUrl: parts.baseUrl,
    caFile: null,
    auth: parts.auth ?? TOKEN_AUTH,
    methods: ['GET', 'POST'],
    paths: ['/v1/*'],
    ...parts.changes,
  };
  let now = 1_000_000;
  const lines: string[] = [];
  const destination = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(String(chunk));
      done();
    },
  });
  const broker = makeBroker({
    store,
    secrets,
    log: makeLog({ level: 'info' }, destination),
    connector: (name) => (name === connector.name ? connector : undefined),
    egress: () => parts.egress ?? [LOOPBACK],
    now: () => now,
  });
  const id = newId();
  const secret = parts.secret === undefined ? 'user-secret-1' : parts.secret;
  await store.connections.create({
    id,
    userSeq: user.seq,
    connector: 'crm',
    name: 'crm',
    secret: secret === null ? null : secrets.seal(secret, id),
  });
  const admission = broker.admit(RUN, [id]);
  const call = (changes: object = {}, runSeq = RUN) =>
    broker.call(runSeq, {
      token: admission.token!,
      connectionId: id,
      method: 'GET',
      path: '/v1/items',
      headers: {},
      body: null,
      ...changes,
    });
  return { store, secrets, broker, id, admission, call, lines, later: (ms: number) => void (now += ms) };
}

describe('a connector with a token', () => {
  test('the credential is added on the way, and what the agent sends and gets has none', { tags: ['I4'] }, async () => {
    const service = await startService((seen, response) =>
      json(response, 200, { you: seen.headers.authorization }, { 'set-cookie': 'a=b', etag: '"1"' }),
    );
    const { call, lines } = await fixture({ baseUrl: service.url });
    const reply = await call({ path: '/v1/items?limit=5', headers: { Accept: 'application/json' } });
    expect(service.seen[0]).toMatchObject({ method: 'GET', url: '/v1/items?limit=5' });
    expect(service.seen[0]!.headers.authorization).toBe('Bearer user-secret-1');
    expect(reply.status).toBe(200);
    expect(reply.headers).toMatchObject({ etag: '"1"' });
    expect(reply.headers).not.toHaveProperty('set-cookie');
    expect(reply.body).toBe('{"you":"Bearer [credential]"}');
    expect(lines.join('')).toContain('a connected service was called');
    expect(lines.join('')).not.toContain('user-secret-1');
  });

  test.each<[string, (secret: string) => string]>([
    ['Base64', (secret) => Buffer.from(`user:${secret}`).toString('base64')],
    [
      '\\u escapes',
      (secret) =>
        Array.from(secret)
          .map((one) => `\\u00${one.charCodeAt(0).toString(16)}`)
          .join(''),
    ],
    [
      'percent escapes',
      (secret) =>
        Array.from(secret)
          .map((one) => `%${one.charCodeAt(0).toString(16)}`)
          .join(''),
    ],
    ['hex', (secret) => Buffer.from(secret).toString('hex')],
    ['reverse', (secret) => Array.from(secret).toReversed().join('')],
  ])(
    'a service that repeats the credential in %s gives nothing away, and the log says that it did',
    async (_, encode) => {
      const form = encode('user-secret-1');
      const service = await startService((_seen, response) =>
        response.writeHead(200, { location: `/x?${form}` }).end(`You: ${form}.`),
      );
      const { call, lines } = await fixture({ baseUrl: service.url });
      const reply = await call();
      expect(reply.body).toMatch(/^You: [A-Za-z0-9]{0,7}\[credential\]=*\.$/);
      expect(reply.headers['location']).toContain('[credential]');
      expect(lines.map((line) => JSON.parse(line) as object)).toContainEqual(
        expect.objectContaining({ msg: 'a connected service repeated its credential', places: 2 }),
      );
    },
  );

  test('a reply that is cut in the middle of the credential reveals no part of it', async () => {
    const length = 1024 * 1024;
    const service = await startService((_seen, response) => response.end(`${'x'.repeat(length - 8)}user-secret-1`));
    const reply = await (await fixture({ baseUrl: service.url })).call();
    expect(reply.truncated).toBe(true);
    expect(reply.body).toMatch(/^x+$/);
    expect(reply.body.length).toBeGreaterThan(length - 1_000);
  });

  test.each(['Range', 'If-Range'])("the header %s is not an agent's to set", async (name) => {
    const service = await startService((_seen, response) => json(response, 200, {}));
    const { call } = await fixture({ baseUrl: service.url });
    await expect(call({ headers: { [name]: 'bytes=9-' } })).rejects.toThrow('cannot be set here');
    expect(service.seen).toEqual([]);
  });

  test('a token of another run, of none, for another connection, or after the end of its run is refused', {
    tags: ['§2.10-connections', 'I4'],
  }, async () => {
    const service = await startService((_seen, response) => json(response, 200, {}));
    const { broker, admission, call } = await fixture({ baseUrl: service.url });
    const refused = { reason: 'forbidden' };
    await expect(call({}, RUN + 1)).rejects.toMatchObject(refused);
    await expect(call({ token: 'x' })).rejects.toMatchObject(refused);
    await expect(call({ connectionId: newId() })).rejects.toMatchObject(refused);
    expect(broker.admit(RUN, []).token).toBeNull();
    admission.end();
    await expect(call()).rejects.toMatchObject(refused);
    expect(service.seen).toEqual([]);
  });

  test('a connection that was revoked during the run is refused', async () => {
    const service = await startService((_seen, response) => json(response, 200, {}));
    const { store, id, call } = await fixture({ baseUrl: service.url });
    await store.connections.revoke(id);
    await expect(call()).rejects.toMatchObject({ reason: 'not_found' });
    expect(service.seen).toEqual([]);
  });

  test.each([
    ['a method that is not allowed', { method: 'DELETE' }],
    ['a path that is not allowed', { path: '/v2/items' }],
    ['a path that climbs out', { path: '/v1/../admin' }],
    ['an escaped climb', { path: '/v1/%2e%2e/admin' }],
    ['an escaped slash', { path: '/v1/%2fadmin' }],
    ['dots before a semicolon', { path: '/v1/..;/admin' }],
    ['dots before an escaped semicolon', { path: '/v1/..%3bx/admin' }],
    ['a backslash', { path: '/v1\\..\\admin' }],
    ['another host', { path: '@evil.example/v1/' }],
    ['an address', { path: 'http://evil.example/v1/' }],
    ['a fragment', { path: '/v1/items#x' }],
    ["the credential's own header", { headers: { Authorization: 'mine' } }],
    ['a host header', { headers: { host: 'evil.example' } }],
    ['a header with a line break', { headers: { accept: 'a\r\nx: y' } }],
  ])('%s never leaves', async (_name, changes) => {
    const service = await startService((_seen, response) => json(response, 200, {}));
    const { call } = await fixture({ baseUrl: service.url });
    await expect(call(changes)).rejects.toMatchObject({ reason: 'bad_request' });
    expect(service.seen).toEqual([]);
  });

  test('a redirect is returned, not followed, so that no credential goes elsewhere', async () => {
    const other = await startService((_seen, response) => json(response, 200, {}));
    const service = await startService((_seen, response) => {
      response.writeHead(302, { location: `${other.url}/v1/items` }).end();
    });
    const { call } = await fixture({ baseUrl: service.url });
    expect(await call()).toMatchObject({ status: 302, headers: { location: `${other.url}/v1/items` } });
    expect(other.seen).toEqual([]);
  });

  test('a private address is refused unless the administrator allows it for connectors', async () => {
    const service = await startService((_seen, response) => json(response, 200, {}));
    const { call } = await fixture({ baseUrl: service.url, egress: [{ ...LOOPBACK, for: ['web_fetch'] }] });
    await expect(call()).rejects.toMatchObject({ reason: 'bad_gateway' });
    expect(service.seen).toEqual([]);
  });

  test('a refused credential is noted on the connection, and noted as good once it is taken', async () => {
    let status = 401;
    const service = await startService((_seen, response) => json(response, status, {}));
    const { store, id, call } = await fixture({ baseUrl: service.url });
    expect((await call()).status).toBe(401);
    expect(await store.connections.get(id)).toMatchObject({ state: 'failed', lastError: expect.stringMatching(/401/) });
    status = 200;
    await call();
    expect(await store.connections.get(id)).toMatchObject({ state: 'active', lastError: null });
  });

  test('a connection is tried at a path that the connector allows, never elsewhere', async () => {
    const service = await startService((_seen, response) => json(response, 404, {}));
    const { broker, id } = await fixture({ baseUrl: service.url });
    expect(await broker.probe(id)).toMatchObject({ status: 404 });
    expect(service.seen.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /v1/']);
    expect(service.seen[0]!.headers.authorization).toBe('Bearer user-secret-1');
  });

  test('an address is tried without any credential', async () => {
    const service = await startService((_seen, response) => json(response, 200, {}));
    const { broker } = await fixture({ baseUrl: service.url });
    expect(await broker.reach('crm')).toMatchObject({ status: 200 });
    expect(service.seen[0]!.headers.authorization).toBeUndefined();
    await expect(broker.reach('nope')).rejects.toMatchObject({ reason: 'not_found' });
  });

  test('a long reply is cut and says so', async () => {
    const service = await startService((_seen, response) => void response.end('x'.repeat(2_000_000)));
    const { call } = await fixture({ baseUrl: service.url });
    const reply = await call();
    expect(reply.truncated).toBe(true);
    // Its end is left out, since it might contain half a credential.
    expect(reply.body).toMatch(/^x+$/);
    expect(reply.body.length).toBeGreaterThan(1024 * 1024 - 1_000);
  });
});

describe('a connector with OAuth', () => {
  const oauth = (kind: 'oauth2_client_credentials' | 'oauth2_refresh_token', tokenUrl: string): ConnectorAuth => ({
    kind,
    header: 'Authorization',
    prefix: 'Bearer ',
    tokenUrl: `${tokenUrl}/token`,
    clientId: 'errand client',
    clientSecret: 'client:secret',
    scopes: ['read', 'write'],
  });

  test('client credentials are exchanged once for an access token that serves until it ends', async () => {
    let given = 0;
    const tokens = await startService((_seen, response) => {
      given += 1;
      json(response, 200, { access_token: `access-${given}`, token_type: 'bearer', expires_in: 3600 });
    });
    const service = await startService((_seen, response) => json(response, 200, {}));
    const auth = oauth('oauth2_client_credentials', tokens.url);
    const { call, later } = await fixture({ baseUrl: service.url, auth, secret: null });
    await Promise.all([call(), call()]);
    expect(tokens.seen.map(({ body }) => body)).toEqual(['grant_type=client_credentials&scope=read+write']);
    const basic = Buffer.from('errand+client:client%3Asecret').toString('base64');
    expect(tokens.seen[0]!.headers.authorization).toBe(`Basic ${basic}`);
    later(3_599_000);
    await call();
    expect(service.seen.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer access-1',
      'Bearer access-1',
      'Bearer access-2',
    ]);
  });

  test('a refresh token that the server rotates replaces the old one', async () => {
    const tokens = await startService((seen, response) => {
      const used = new URLSearchParams(seen.body).get('refresh_token');
      json(response, 200, { access_token: 'access', refresh_token: `${used}+`, expires_in: 60 });
    });
    const service = await startService((_seen, response) => json(response, 200, {}));
    const auth = oauth('oauth2_refresh_token', tokens.url);
    const { call, later, store, secrets, id } = await fixture({ baseUrl: service.url, auth });
    await call();
    later(60_000);
    await call();
    expect(secrets.open((await store.connections.secretOf(id))!, id)).toBe('user-secret-1++');
  });

  test('an access token that is refused before its time is exchanged for another once', async () => {
    let given = 0;
    const tokens = await startService((_seen, response) => {
      given += 1;
      json(response, 200, { access_token: `access-${given}` });
    });
    const service = await startService((seen, response) =>
      json(response, seen.headers.authorization === 'Bearer access-2' ? 200 : 401, {}),
    );
    const auth = oauth('oauth2_client_credentials', tokens.url);
    const { call, store, id } = await fixture({ baseUrl: service.url, auth, secret: null });
    expect((await call()).status).toBe(200);
    expect(given).toBe(2);
    expect((await store.connections.get(id)).state).toBe('active');
  });

  test('a token server that refuses, replies with nonsense or is gone is reported without a secret', async () => {
    const service = await startService((_seen, response) => json(response, 200, {}));
    const refusing = await startService((_seen, response) => json(response, 400, { error: 'invalid_grant' }));
    const senseless = await startService((_seen, response) => void response.end('<html>'));
    const repeating = await startService((_seen, response) => json(response, 400, { error: 'bad user-secret' }));
    const coded = await startService((_seen, response) => json(response, 400, { error: 'a_secret_like_a_code' }));
    const auth = Object.assign(oauth('oauth2_refresh_token', coded.url), { clientSecret: 'a_secret_like_a_code' });
    const shown = await fixture({ baseUrl: service.url, auth });
    await expect(shown.call()).rejects.toThrow('The token server gave no access token (status 400).');
    for (const [url, words] of [
      [refusing.url, /invalid_grant/],
      [senseless.url, /no access token/],
      [repeating.url, /status 400/],
      ['http://127.0.0.1:9', /token server/],
    ] as const) {
      const auth = oauth('oauth2_refresh_token', url);
      const { call, store, id } = await fixture({ baseUrl: service.url, auth });
      const error = (await call().catch((thrown: unknown) => thrown)) as Error;
      expect(error).toMatchObject({ reason: 'bad_gateway', message: expect.stringMatching(words) });
      expect(error.message).not.toMatch(/user-secret|client:secret/);
      expect((await store.connections.get(id)).state).toBe('failed');
    }
    expect(service.seen).toEqual([]);
  });
});

test('a file of the connector is trusted for its service and for its token server, and for no other', async () => {
  const service = await startService((seen, response) =>
    json(response, 200, seen.url === '/token' ? { access_token: 'token-of-the-test' } : { ok: true }),
  );
  const issuer = makeCertificate('Corp Root CA');
  const port = await startTlsFront(makeCertificate('localhost', { issuer }), Number(new URL(service.url).port));
  const baseUrl = `https://localhost:${port}`;
  const auth: ConnectorAuth = {
    kind: 'oauth2_client_credentials',
    header: 'Authorization',
    prefix: 'Bearer ',
    tokenUrl: `${baseUrl}/token`,
    clientId: 'errand',
    clientSecret: 'secret-of-the-client',
    scopes: [],
  };
  const changes = { caFile: join(temporaryDirectory({ 'ca.pem': issuer.cert }), 'ca.pem') };
  const { call } = await fixture({ baseUrl, auth, changes });
  expect(await call()).toMatchObject({ status: 200 });
  expect(service.seen.map(({ url }) => url)).toEqual(['/token', '/v1/items']);
  const other = await fixture({ baseUrl, auth });
  await expect(other.call()).rejects.toThrow('is issued by "Corp Root CA", which is not trusted');
});
