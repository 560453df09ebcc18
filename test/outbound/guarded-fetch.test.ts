// How a guarded request ends: bounded in time, bytes and redirects, and with its credentials at home.
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, onTestFinished, test, vi } from 'vitest';
import { EGRESS_PURPOSES, type EgressRule } from '../../src/domain/egress.ts';
import type { EgressPolicy } from '../../src/outbound/egress.ts';
import { type GuardedRequest, guardedFetch } from '../../src/outbound/guarded-fetch.ts';
import { type Hop, nextHop } from '../../src/outbound/hop.ts';
import { startWebServer } from '../support/http/web-server.ts';

const LOOPBACK: EgressRule = { cidr: '127.0.0.0/8', host: null, ports: null, for: EGRESS_PURPOSES };
/** Every name is this machine. */
const POLICY: EgressPolicy = {
  purpose: 'connector',
  allow: [LOOPBACK],
  resolve: async () => [{ address: '127.0.0.1', family: 4 }],
};

const get = (url: string, over: Partial<GuardedRequest> = {}) =>
  guardedFetch(POLICY, { url, timeoutMs: 60_000, maxBytes: 100_000, ...over });

async function getFrom(handler: RequestListener, over: Partial<GuardedRequest> = {}) {
  const server = await startWebServer(handler);
  return get(server.url, over);
}

const textOf = ({ body }: { readonly body: Uint8Array }) => Buffer.from(body).toString();

test('a reply arrives complete, with its status, its headers and its address', async () => {
  const server = await startWebServer((_req, res) => {
    res.writeHead(404, { 'X-One': 'a', 'Set-Cookie': ['b=1', 'c=2'] }).end('gone');
  });
  const reply = await get(`${server.url}/x?y=1#part`, { method: 'post', body: 'hi', headers: { 'X-Mine': 'yes' } });
  expect(reply).toMatchObject({ status: 404, url: `${server.url}/x?y=1`, truncated: false });
  expect(reply.headers).toMatchObject({ 'x-one': 'a', 'set-cookie': 'b=1, c=2' });
  expect(textOf(reply)).toBe('gone');
  expect(server.hits).toMatchObject([
    { method: 'POST', path: '/x?y=1', headers: { 'x-mine': 'yes', 'user-agent': expect.stringMatching(/^Errand\//) } },
  ]);
});

test('headers of the connection are not taken from the caller', async () => {
  const server = await startWebServer();
  await get(server.url, {
    headers: { Host: 'other.example', 'Content-Length': '5', Connection: 'upgrade', 'Transfer-Encoding': 'chunked' },
  });
  expect(server.hits[0]?.headers).toMatchObject({ host: `127.0.0.1:${server.port}` });
  expect(server.hits[0]?.headers['content-length']).toBeUndefined();
});

test.each([
  ['a header with a line break', { headers: { 'x-a': 'b\r\nx-c: d' } }],
  ['a name that is no header', { headers: { 'a b': 'c' } }],
  ['a method that is none', { method: 'GET / HTTP/1.1\r\nX: y' }],
])('%s is refused and sends no request', async (_, over) => {
  const server = await startWebServer();
  await expect(get(server.url, over)).rejects.toMatchObject({ name: 'EgressError', kind: 'refused' });
  expect(server.hits).toEqual([]);
});

const CODERS = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  br: brotliCompressSync,
  zstd: zstdCompressSync,
  deflate: deflateSync,
} as const;

test.each(Object.entries(CODERS))('%s is decoded, and a bomb of it ends at the limit', async (coding, encode) => {
  const plain = await getFrom((_req, res) => {
    res.setHeader('content-encoding', coding).end(encode(Buffer.from('hello hello')));
  });
  expect(textOf(plain)).toBe('hello hello');
  const bomb = encode(Buffer.alloc(64 * 1024 * 1024));
  expect(bomb.length).toBeLessThan(100_000);
  const handler: RequestListener = (_req, res) => void res.setHeader('content-encoding', coding).end(bomb);
  await expect(getFrom(handler)).rejects.toMatchObject({ kind: 'too_large' });
  const cut = await getFrom(handler, { onOverflow: 'truncate' });
  expect([cut.truncated, cut.body.length]).toEqual([true, 100_000]);
});

test('deflate without its head is decoded as well', async () => {
  const reply = await getFrom((_req, res) => {
    res.setHeader('content-encoding', 'deflate').end(deflateRawSync('hello'));
  });
  expect(textOf(reply)).toBe('hello');
});

test('codings one upon the other are decoded, and a bomb within a bomb ends at the limit', async () => {
  const twice =
    (bytes: Buffer): RequestListener =>
    (_req, res) =>
      void res.setHeader('content-encoding', 'gzip, br').end(brotliCompressSync(gzipSync(bytes)));
  expect(textOf(await getFrom(twice(Buffer.from('hello'))))).toBe('hello');
  await expect(getFrom(twice(Buffer.alloc(64 * 1024 * 1024)))).rejects.toMatchObject({ kind: 'too_large' });
});

test.each(['snappy', 'gzip, gzip, gzip, gzip'])('a body in %s is reported as unreadable', async (coding) => {
  const asked = getFrom((_req, res) => void res.setHeader('content-encoding', coding).end('x'));
  await expect(asked).rejects.toMatchObject({
    kind: 'bad_reply',
    message: expect.stringContaining('unknown compression'),
  });
});

test.each([
  ['cut', gzipSync('hello hello hello').subarray(0, 20)],
  ['no gzip at all', Buffer.from('hello')],
])('a gzip body that is %s is reported as unreadable', async (_, bytes) => {
  const asked = getFrom((_req, res) => void res.setHeader('content-encoding', 'gzip').end(bytes));
  await expect(asked).rejects.toMatchObject({ kind: 'bad_reply' });
});

test('an empty body is not a broken gzip', async () => {
  const empty = await getFrom((_req, res) => void res.setHeader('content-encoding', 'gzip').end());
  expect(empty.body.length).toBe(0);
  const head = await getFrom(
    (_req, res) => void res.writeHead(200, { 'content-encoding': 'gzip', 'content-length': 200_000 }).end(),
    { method: 'HEAD' },
  );
  expect([head.status, head.body.length]).toEqual([200, 0]);
});

test('a body of exactly the limit is complete, and one byte more is too large, declared or not', async () => {
  const sending =
    (bytes: number, declared: boolean): RequestListener =>
    (_req, res) => {
      if (declared) res.setHeader('content-length', bytes);
      res.write(Buffer.alloc(bytes));
      res.end();
    };
  for (const declared of [true, false]) {
    expect((await getFrom(sending(100_000, declared))).body.length).toBe(100_000);
    await expect(getFrom(sending(100_001, declared))).rejects.toMatchObject({ kind: 'too_large' });
    const cut = await getFrom(sending(100_001, declared), { onOverflow: 'truncate' });
    expect([cut.truncated, cut.body.length]).toEqual([true, 100_000]);
  }
});

test('an unwanted type is reported before its body is read', async () => {
  let sent = 0;
  const asked = getFrom(
    (_req, res) => {
      res.writeHead(200, { 'content-type': 'Application/PDF; x=y', 'content-length': 99_000 });
      res.flushHeaders();
      res.once('close', () => (sent = res.socket?.bytesWritten ?? 0));
    },
    { acceptType: (type, size) => type !== 'application/pdf' || size !== 99_000 },
  );
  await expect(asked).rejects.toMatchObject({
    kind: 'bad_reply',
    message: expect.stringMatching(/^The host 127\.0\.0\.1:\d+ answered with application\/pdf\.$/),
  });
  expect(sent).toBeLessThan(99_000);
});

test('a failed reply of another type is reported by its status', async () => {
  const asked = getFrom((_req, res) => void res.writeHead(503, { 'content-type': 'text/html' }).end('<p>no'), {
    acceptType: (type) => type.startsWith('image/'),
  });
  await expect(asked).rejects.toThrow(/answered with status 503\.$/);
});

test.each([
  ['sends no head', (): void => undefined],
  ['stops in the middle', (_req, res): void => void res.writeHead(200, { 'content-length': 10 }).write('abc')],
] as readonly (readonly [string, RequestListener])[])('a server that %s is given up in time', async (_, handler) => {
  await expect(getFrom(handler, { timeoutMs: 150 })).rejects.toMatchObject({
    kind: 'timeout',
    message: expect.stringContaining('within 0.15 s'),
  });
});

test('a server that sends a byte now and then is given up in time', async () => {
  const asked = getFrom(
    (_req, res) => {
      const timer = setInterval(() => res.write('x'), 10);
      res.once('close', () => clearInterval(timer));
    },
    { timeoutMs: 150 },
  );
  await expect(asked).rejects.toMatchObject({ kind: 'timeout' });
});

test('a name that is never resolved is given up in time, as one without an address', async () => {
  const policy: EgressPolicy = { ...POLICY, resolve: async () => new Promise(() => undefined) };
  const asked = guardedFetch(policy, { url: 'http://slow.example/', timeoutMs: 500, maxBytes: 10 });
  const message = 'The host slow.example has no address that may be reached.';
  await expect(asked).rejects.toMatchObject({ kind: 'refused', message });
});

test('a caller who gives up ends the request, before its head and in its body', async () => {
  for (const begin of [false, true]) {
    const leaving = new AbortController();
    let closed: Promise<unknown> | undefined;
    const asked = getFrom(
      (_req, res) => {
        closed = once(res, 'close');
        if (begin) res.write('abc', () => leaving.abort());
        else leaving.abort();
      },
      { signal: leaving.signal },
    );
    await expect(asked).rejects.toMatchObject({ kind: 'canceled' });
    await closed;
  }
  const gone = AbortSignal.abort();
  await expect(getFrom((_req, res) => void res.end(), { signal: gone })).rejects.toMatchObject({ kind: 'canceled' });
});

test('a body that breaks off is a failure', async () => {
  const asked = getFrom((_req, res) => {
    res.writeHead(200, { 'content-length': 10 });
    res.write('abc', () => res.destroy());
  });
  await expect(asked).rejects.toMatchObject({ kind: 'bad_reply' });
});

async function listenRaw(answer: string): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

test.each([
  ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n', 'bad_reply'],
  ['endless headers', `HTTP/1.1 200 OK\r\nX: ${'y'.repeat(100_000)}\r\n\r\n`, 'bad_reply'],
  ['nothing', '', 'unreachable'],
])('a server that answers with %s is reported as such', async (_, answer, kind) => {
  const port = await listenRaw(answer);
  await expect(get(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({ kind });
});

test('a missing server is reported as unreachable, and an unknown name in the same words as one that is refused', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  await expect(get(`http://127.0.0.1:${port}/`)).rejects.toMatchObject({ kind: 'unreachable' });
  const lost: EgressPolicy = { ...POLICY, resolve: async () => Promise.reject(new Error('ENOTFOUND 10.0.0.53')) };
  const inside: EgressPolicy = { ...POLICY, resolve: async () => [{ address: '10.0.0.7', family: 4 }] };
  const empty: EgressPolicy = { ...POLICY, resolve: async () => [] };
  for (const policy of [lost, inside, empty]) {
    const asked = guardedFetch(policy, { url: 'http://lost.example/', timeoutMs: 1_000, maxBytes: 10 });
    await expect(asked).rejects.toMatchObject({
      kind: 'refused',
      message: 'The host lost.example has no address that may be reached.',
    });
  }
});

test('an encrypted connection requests the certificate of the name, and rejects one that isn’t trusted', async () => {
  const named: string[] = [];
  const server = createTlsServer({
    SNICallback: (name, done) => {
      named.push(name);
      done(new Error('no certificate'));
    },
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  await expect(get(`https://wiki.example:${port}/`)).rejects.toMatchObject({ kind: 'unreachable' });
  expect(named).toEqual(['wiki.example']);
});

test('a proxy that the environment names is not used', async () => {
  const proxy = await startWebServer();
  const server = await startWebServer();
  for (const name of ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'ALL_PROXY']) vi.stubEnv(name, proxy.url);
  vi.stubEnv('NODE_USE_ENV_PROXY', '1');
  onTestFinished(() => void vi.unstubAllEnvs());
  await get(server.url);
  expect([proxy.hits.length, server.hits.length]).toEqual([0, 1]);
});

const redirecting =
  (location: string, status = 302): RequestListener =>
  (req, res) =>
    void (req.url === '/end' ? res.end('end') : res.writeHead(status, { location }).end('moved'));

test('redirects are followed to their end, five at most', async () => {
  const chain: RequestListener = (req, res) => {
    const left = Number((req.url ?? '').slice(1));
    if (left === 0) res.end('end');
    else res.writeHead(302, { location: `/${left - 1}` }).end();
  };
  const server = await startWebServer(chain);
  const reply = await get(`${server.url}/5`);
  expect([textOf(reply), reply.url]).toEqual(['end', `${server.url}/0`]);
  await expect(get(`${server.url}/6`)).rejects.toMatchObject({ kind: 'too_many_redirects' });
  await expect(get(`${server.url}/2`, { maxRedirects: 1 })).rejects.toMatchObject({ kind: 'too_many_redirects' });
});

test('a loop of redirects ends', async () => {
  const server = await startWebServer(redirecting('/again'));
  await expect(get(server.url)).rejects.toMatchObject({ kind: 'too_many_redirects' });
  expect(server.hits).toHaveLength(6);
});

test('without redirects wanted, one is answered as it is', async () => {
  const reply = await getFrom(redirecting('http://elsewhere.example/'), { maxRedirects: 0 });
  expect([reply.status, reply.headers['location'], textOf(reply)]).toEqual([302, 'http://elsewhere.example/', 'moved']);
});

test.each(['file:///etc/passwd', 'http://user:word@127.0.0.1/', 'http://[', 'javascript:1'])(
  'a redirect to %s is refused',
  async (location) => {
    await expect(getFrom(redirecting(location))).rejects.toMatchObject({ kind: 'refused' });
  },
);

const CREDENTIALS = {
  authorization: 'Bearer s',
  cookie: 'a=s',
  'x-api-key': 's',
  'proxy-authorization': 's',
  'x-token': 's',
};

test('credentials go along on one host, and not to another host or port, also not on the way back', async () => {
  const second = await startWebServer(redirecting('http://first.example/back'));
  const first = await startWebServer((req, res) => {
    if (req.url === '/same') res.writeHead(307, { location: '/away' }).end();
    else if (req.url === '/away') res.writeHead(307, { location: `http://second.example:${second.port}/` }).end();
    else res.end('end');
  });
  const home = `http://first.example:${first.port}`;
  const there: RequestListener = (_req, res) => void res.writeHead(302, { location: `${home}/back` }).end();
  const third = await startWebServer(there);
  const away = await startWebServer((req, res) => {
    const location = req.url === '/same' ? '/away' : `http://third.example:${third.port}/`;
    res.writeHead(307, { location }).end();
  });
  await get(`http://away.example:${away.port}/same`, { headers: { ...CREDENTIALS, accept: 'text/plain' } });
  expect(away.hits).toHaveLength(2);
  for (const hit of away.hits) expect(hit.headers).toMatchObject(CREDENTIALS);
  for (const hit of [...third.hits, ...first.hits]) {
    for (const name of Object.keys(CREDENTIALS)) expect(hit.headers[name]).toBeUndefined();
    expect(hit.headers.accept).toBe('text/plain');
  }
  expect([third.hits.length, first.hits.length]).toEqual([1, 1]);
});

const hop = (over: Partial<Hop> = {}): Hop => ({
  url: new URL('https://a.example/x'),
  method: 'POST',
  headers: { ...CREDENTIALS, 'content-type': 'text/plain' },
  body: 'hi',
  ...over,
});

test('a redirect from https to http is followed without credentials', () => {
  const next = nextHop(hop(), 307, 'http://a.example/x');
  expect(next).toMatchObject({ method: 'POST', body: 'hi', headers: { 'content-type': 'text/plain' } });
  expect(Object.keys(next?.headers ?? {})).toEqual(['content-type']);
});

test.each([
  [301, 'POST', 'GET'],
  [302, 'POST', 'GET'],
  [303, 'POST', 'GET'],
  [303, 'PUT', 'GET'],
  [303, 'HEAD', 'HEAD'],
  [302, 'PUT', 'PUT'],
  [307, 'POST', 'POST'],
  [308, 'POST', 'POST'],
])('a redirect %i of %s asks for %s', (status, method, expected) => {
  const next = nextHop(hop({ method }), status, '/y');
  expect([next?.method, next?.body, next?.headers['content-type']]).toEqual(
    expected === 'GET' ? ['GET', null, undefined] : [expected, 'hi', 'text/plain'],
  );
});

test.each([200, 300, 304, 305])('status %i is not a redirect', (status) => {
  expect(nextHop(hop(), status, '/y')).toBeNull();
});
