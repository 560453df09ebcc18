// Kept connections: used again, guarded when they open, and never older than the rules.
import type { LookupAddress } from 'node:dns';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { RequestListener } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { type EgressRule, EGRESS_PURPOSES } from '../../src/domain/egress.ts';
import type { ResolveName } from '../../src/outbound/egress.ts';
import type { PooledRequest } from '../../src/outbound/exchange.ts';
import { makeGuardedPool } from '../../src/outbound/guarded-pool.ts';
import { startWebServer } from '../support/http/web-server.ts';
import { fakeClock } from '../support/time/fake-clock.ts';
import { waitFor } from '../support/time/wait-for.ts';

const LOOPBACK: EgressRule = { cidr: '127.0.0.0/8', host: null, ports: null, for: EGRESS_PURPOSES };
const HERE: LookupAddress = { address: '127.0.0.1', family: 4 };

/** A pool under rules that a test changes; every name is this machine unless a test resolves it. */
function openPool({ resolve = async () => [HERE], maxIdle = 8 }: { resolve?: ResolveName; maxIdle?: number } = {}) {
  const rules = { allow: [LOOPBACK] as readonly EgressRule[] };
  const clock = fakeClock();
  const pool = makeGuardedPool({ policy: () => ({ purpose: 'webhook', ...rules, resolve }), maxIdle, clock });
  onTestFinished(pool.close);
  const post = (url: string, over: Partial<PooledRequest> = {}) =>
    pool.send({
      url,
      method: 'POST',
      headers: {},
      body: Buffer.from('{}'),
      timeoutMs: 5_000,
      maxBytes: 1_000,
      ...over,
    });
  return { pool, post, clock, rules };
}

/** A server on loopback that gives each connection to the test. */
async function startRawServer(onConnection: (socket: Socket) => void) {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => undefined).once('close', () => open.delete(socket));
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  return { port: (server.address() as AddressInfo).port, open };
}

/** The ports that clients of a server used: one per connection. */
async function startCountingServer(handler?: RequestListener) {
  const ports = new Set<number>();
  const server = await startWebServer((req, res) => {
    ports.add(req.socket.remotePort!);
    if (handler === undefined) res.end('hello');
    else handler(req, res);
  });
  return { ...server, ports };
}

test('requests one after another share a connection; requests at once have one each', async () => {
  const server = await startCountingServer();
  const { post } = openPool();
  for (let count = 0; count < 5; count += 1)
    expect(await post(`${server.url}/${count}`)).toMatchObject({ status: 200, isWhole: true, error: null });
  expect(server.ports.size).toBe(1);
  await Promise.all([1, 2, 3].map(async () => post(server.url)));
  expect(server.ports.size).toBe(3);
});

test('no more idle connections are kept than allowed', async () => {
  const server = await startCountingServer();
  const { post } = openPool({ maxIdle: 2 });
  await Promise.all([1, 2, 3, 4, 5].map(async () => post(server.url)));
  expect(server.ports.size).toBe(5);
  await Promise.all([1, 2, 3, 4, 5].map(async () => post(server.url)));
  expect(server.ports.size).toBe(8);
});

test('a connection that the server closes is replaced', async () => {
  const server = await startCountingServer((_req, res) => void res.setHeader('connection', 'close').end('bye'));
  const { post } = openPool();
  for (const _ of [1, 2, 3]) expect(await post(server.url)).toMatchObject({ status: 200, error: null });
  expect(server.ports.size).toBe(3);
});

test('an idle connection that the server drops is not used again', async () => {
  const raw = await startRawServer((socket) => {
    socket.on('data', () => void socket.write('HTTP/1.1 204 None\r\n\r\n'));
  });
  const { post } = openPool();
  const url = `http://127.0.0.1:${raw.port}/`;
  expect(await post(url)).toMatchObject({ status: 204, error: null });
  const [first] = raw.open;
  first!.destroy();
  expect(await post(url)).toMatchObject({ status: 204, error: null });
  expect(raw.open.has(first!)).toBe(false);
});

test('a request is sent again only over a new connection, and only once', async () => {
  let sent = 0;
  const raw = await startRawServer((socket) => {
    socket.on('data', () => {
      sent += 1;
      if (sent === 1) socket.write('HTTP/1.1 204 None\r\n\r\n');
      else socket.destroy();
    });
  });
  const { post } = openPool();
  const url = `http://127.0.0.1:${raw.port}/`;
  expect(await post(url)).toMatchObject({ status: 204 });
  expect(await post(url)).toMatchObject({ status: null, error: { kind: 'unreachable' } });
  expect(sent).toBe(3);
  expect(await post(url)).toMatchObject({ status: null });
  expect(sent).toBe(4);
});

test('a change of the rules ends the connections that were opened before it', async () => {
  const server = await startCountingServer();
  const { post, rules } = openPool();
  await post(server.url);
  rules.allow = [];
  expect(await post(server.url)).toMatchObject({ status: null, error: { kind: 'refused' } });
  expect(server.hits).toHaveLength(1);
  rules.allow = [server.rule];
  expect(await post(server.url)).toMatchObject({ status: 200 });
  expect(server.ports.size).toBe(2);
});

test('a connection in use when the rules change is not kept', async () => {
  let answer = () => {};
  const server = await startCountingServer((_req, res) => void (answer = () => void res.end('late')));
  const { post, rules } = openPool();
  const first = post(server.url);
  await waitFor(() => server.hits.length === 1);
  rules.allow = [server.rule];
  answer();
  expect(await first).toMatchObject({ status: 200 });
  const second = post(server.url);
  await waitFor(() => server.hits.length === 2);
  answer();
  await second;
  expect(server.ports.size).toBe(2);
});

test('each new connection resolves its name again, and one that has become private is refused', {
  tags: ['H7'],
}, async () => {
  const server = await startCountingServer((_req, res) => void res.setHeader('connection', 'close').end());
  const answers = [[HERE], [{ address: '10.0.0.1', family: 4 }], [HERE, { address: '::1', family: 6 }], []];
  const { post } = openPool({ resolve: async () => answers.shift() ?? [] });
  const url = `http://rebinding.example:${server.port}/`;
  expect(await post(url)).toMatchObject({ status: 200 });
  for (const kind of ['refused', 'refused', 'refused'])
    expect(await post(url)).toMatchObject({ status: null, error: { kind } });
  expect(server.hits).toHaveLength(1);
});

test.each([
  'http://[::1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:10.0.0.1]/',
  'http://[64:ff9b::a00:1]/',
  'http://[fe80::1]/',
  'http://[fd00::1]/',
  'http://10.0.0.1/',
  'http://2130706433/',
  'http://169.254.169.254/latest/',
  'http://0x7f.1/',
  'http://93.184.216.34:25/',
  'http://user:word@93.184.216.34/',
  'ftp://93.184.216.34/',
  'no address',
])('%s is refused without a rule', { tags: ['H7'] }, async (url) => {
  const { post, rules } = openPool();
  rules.allow = [];
  expect(await post(url)).toMatchObject({ status: null, error: { kind: 'refused' } });
});

test('a redirect is a reply, and its target hears nothing', async () => {
  const target = await startWebServer();
  const server = await startWebServer((_req, res) => void res.writeHead(307, { location: target.url }).end());
  const { post } = openPool();
  expect(await post(server.url)).toMatchObject({ status: 307, error: null });
  expect(target.hits).toEqual([]);
});

test('a body over the limit is cut, and its connection ends', async () => {
  const server = await startCountingServer((_req, res) => void res.end(Buffer.alloc(10_000_000, 'x')));
  const { post } = openPool();
  const reply = await post(server.url, { maxBytes: 65_536 });
  expect(reply).toMatchObject({ status: 200, isWhole: false, error: null });
  expect(reply.body.length).toBe(65_536);
  await post(server.url);
  expect(server.ports.size).toBe(2);
});

test('a body of exactly the limit is complete', async () => {
  const server = await startWebServer((_req, res) => void res.end(Buffer.alloc(1_000, 'x')));
  expect(await openPool().post(server.url)).toMatchObject({ isWhole: true, body: Buffer.alloc(1_000, 'x') });
});

test('a compressed body is not decompressed', async () => {
  const bomb = gzipSync(Buffer.alloc(1_000_000));
  const server = await startWebServer((_req, res) => void res.setHeader('content-encoding', 'gzip').end(bomb));
  const reply = await openPool().post(server.url, { maxBytes: 65_536 });
  expect(reply).toMatchObject({ status: 200, isWhole: true, body: bomb });
});

test('a look-up that hangs ends at the time limit, as one that finds no address', async () => {
  const asked: string[] = [];
  const { post, clock } = openPool({ resolve: (name) => (asked.push(name), new Promise(() => undefined)) });
  const reply = post('http://silent.example/');
  await waitFor(() => asked.length === 1);
  clock.advance(5_000);
  const message = 'The host silent.example has no address that may be reached.';
  expect(await reply).toMatchObject({ status: null, error: { kind: 'refused', message } });
});

test('a connection that hangs in its handshake ends at the time limit, and with it the socket', async () => {
  const raw = await startRawServer((socket) => void socket.resume());
  const { post, clock } = openPool();
  const reply = post(`https://127.0.0.1:${raw.port}/`);
  await waitFor(() => raw.open.size === 1);
  clock.advance(5_000);
  expect(await reply).toMatchObject({ status: null, error: { kind: 'timeout' } });
  await waitFor(() => raw.open.size === 0);
});

test('a reply that never comes ends at the time limit', async () => {
  const server = await startWebServer(() => undefined);
  const { post, clock } = openPool();
  const reply = post(server.url);
  await waitFor(() => server.hits.length === 1);
  clock.advance(4_999);
  clock.advance(1);
  const message = `No reply from 127.0.0.1:${server.port} within 5 s.`;
  expect(await reply).toMatchObject({ status: null, error: { kind: 'timeout', message } });
});

test('a body that trickles ends at the time limit, and keeps its status and what arrived', async () => {
  const raw = await startRawServer((socket) => {
    socket.once('data', () => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc'));
  });
  const { post, clock } = openPool();
  const begun = new Promise<void>((resolve) => {
    const channel = 'undici:request:headers';
    const onHead = () => (unsubscribe(channel, onHead), resolve());
    subscribe(channel, onHead);
  });
  const reply = post(`http://127.0.0.1:${raw.port}/`);
  await begun;
  clock.advance(5_000);
  const message = `The reply of 127.0.0.1:${raw.port} did not end within 5 s.`;
  expect(await reply).toMatchObject({ status: 200, isWhole: false, error: { kind: 'timeout', message } });
});

test.each([
  ['no HTTP at all', 'SSH-2.0-OpenSSH_9.9\r\n', 'bad_reply', /does not respond with HTTP/],
  ['a status that is no number', 'HTTP/1.1 abc Bad\r\n\r\n', 'bad_reply', /does not respond with HTTP/],
  ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab', 'bad_reply', /breaks off/],
  ['a head over 64 KB', `HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(20_000)}\r\n`, 'bad_reply', /HTTP/],
  [
    'a switch of protocols',
    'HTTP/1.1 101 Switch\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
    'unreachable',
    /closed/,
  ],
  ['a connection closed at once', '', 'unreachable', /closed the connection without a reply/],
  ['half a head', 'HTTP/1.1 200 OK\r\nx-a: ', 'unreachable', /closed the connection without a reply/],
])('%s is a failure in words', async (_, bytes, kind, message) => {
  const raw = await startRawServer((socket) => void socket.once('data', () => socket.end(bytes)));
  const reply = await openPool().post(`http://127.0.0.1:${raw.port}/`);
  expect(reply).toMatchObject({ status: null, error: { kind, message: expect.stringMatching(message) } });
});

test.each([
  ['fewer bytes than announced', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc'],
  ['a chunk that is none', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n'],
])('a reply of %s keeps its status, and has an error', async (_, bytes) => {
  const raw = await startRawServer((socket) => void socket.once('data', () => socket.end(bytes)));
  const reply = await openPool().post(`http://127.0.0.1:${raw.port}/`);
  expect(reply).toMatchObject({ status: 200, isWhole: false, error: { kind: 'bad_reply' } });
  expect(reply.body.toString()).toBe('abc');
});

test('informational responses before a reply are not the reply, and 100 headers are not too many', async () => {
  const headers = Array.from({ length: 100 }, (_, index) => `x-${index}: y\r\n`).join('');
  const raw = await startRawServer((socket) => {
    socket.once('data', () => socket.end(`HTTP/1.1 103 Early\r\nx: y\r\n\r\nHTTP/1.1 202 OK\r\n${headers}\r\n`));
  });
  expect(await openPool().post(`http://127.0.0.1:${raw.port}/`)).toMatchObject({ status: 202, error: null });
});

test('a port where nobody listens is an error in words', async () => {
  const free = createServer();
  await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve));
  const { port: unused } = free.address() as AddressInfo;
  await new Promise((resolve) => free.close(resolve));
  const message = `The host 127.0.0.1:${unused} refused the connection.`;
  expect(await openPool().post(`http://127.0.0.1:${unused}/`)).toMatchObject({
    error: { kind: 'unreachable', message },
  });
});

test('a canceled request ends at once, also before it starts', async () => {
  const server = await startWebServer(() => undefined);
  const { post } = openPool();
  const canceling = new AbortController();
  const reply = post(server.url, { signal: canceling.signal });
  await waitFor(() => server.hits.length === 1);
  canceling.abort();
  expect(await reply).toMatchObject({ status: null, error: { kind: 'canceled' } });
  expect(await post(server.url, { signal: canceling.signal })).toMatchObject({ error: { kind: 'canceled' } });
});

test('closing ends what is in progress, and nothing is sent afterwards', async () => {
  const server = await startWebServer(() => undefined);
  const { pool, post } = openPool();
  const reply = post(server.url);
  await waitFor(() => server.hits.length === 1);
  pool.close();
  expect(await reply).toMatchObject({ status: null, error: { kind: 'unreachable' } });
  expect(await post(server.url)).toMatchObject({ status: null });
  expect(server.hits).toHaveLength(1);
});
