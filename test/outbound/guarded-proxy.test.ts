// The proxy of a browser: everything that the policy allows, and nothing else.
import { once } from 'node:events';
import { request } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import type { EgressRule } from '../../src/domain/egress.ts';
import { startGuardedProxy } from '../../src/outbound/guarded-proxy.ts';
import { PLAIN_WAYS, takeWays } from '../../src/outbound/ways/ways.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';
import { startConnectProxy } from '../support/http/connect-proxy.ts';
import { startWebServer } from '../support/http/web-server.ts';

async function openProxy(allow: readonly EgressRule[]) {
  const refused: string[] = [];
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
  const policy = { purpose: 'web_fetch', allow, resolve } as const;
  const socketPath = join(temporaryDirectory(), 'proxy.sock');
  const proxy = await startGuardedProxy(policy, { socketPath, onRefused: (message) => refused.push(message) });
  onTestFinished(proxy.close);
  return { ...proxy, refused, socketPath };
}

type Proxy = Awaited<ReturnType<typeof openProxy>>;

async function ask({ socketPath }: Proxy, url: string, body?: string) {
  const method = body === undefined ? 'GET' : 'POST';
  const headers = { host: 'liar.example', 'proxy-authorization': 'Basic x', 'x-own': 'yes' };
  const sent = request({ socketPath, method, path: url, headers, agent: false });
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [import('node:http').IncomingMessage];
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
}

/** Opens a tunnel; answers the first line of the proxy and the socket, which the proxy's head has left. */
async function tunnel({ socketPath }: Proxy, authority: string): Promise<{ line: string; socket: Socket }> {
  const socket = connect(socketPath);
  onTestFinished(() => void socket.destroy());
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
  const [head] = (await once(socket, 'data')) as [Buffer];
  return { line: head.toString().split('\r\n')[0]!, socket };
}

test('a plain request goes where its address says, whatever its host header says', async () => {
  const server = await startWebServer((req, res) => {
    res.writeHead(201, { 'x-answer': 'yes' });
    req.pipe(res);
  });
  const proxy = await openProxy([server.rule]);
  const answer = await ask(proxy, `http://wiki.example:${server.port}/a?b=c`, 'body');
  expect(answer).toMatchObject({ status: 201, headers: { 'x-answer': 'yes' }, body: 'body' });
  expect(server.hits).toMatchObject([
    { method: 'POST', path: '/a?b=c', headers: { host: `wiki.example:${server.port}`, 'x-own': 'yes' } },
  ]);
  expect(server.hits[0]?.headers['proxy-authorization']).toBeUndefined();
});

test('a tunnel carries bytes both ways, until one side ends', async () => {
  const echo = createServer((socket) => void socket.pipe(socket));
  await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void echo.close());
  const { port } = echo.address() as AddressInfo;
  const proxy = await openProxy([{ cidr: '127.0.0.1', host: null, ports: [port], for: ['web_fetch'] }]);
  const { line, socket } = await tunnel(proxy, `wiki.example:${port}`);
  expect(line).toBe('HTTP/1.1 200 Connected');
  socket.write('hello');
  expect(String((await once(socket, 'data'))[0])).toBe('hello');
  socket.end();
  await once(socket, 'close');
});

test.each([
  ['127.0.0.1', 'may not be reached: it is not on the public internet.'],
  ['2130706433', 'may not be reached: it is not on the public internet.'],
  ['[::ffff:127.0.0.1]', 'may not be reached: it is not on the public internet.'],
  ['localhost', 'may not be reached: it is not on the public internet.'],
  ['wiki.example', 'has no address that may be reached.'],
  ['0x7f.1', 'may not be reached: it is not on the public internet.'],
])('neither a request nor a tunnel reaches %s when no rule allows it', async (host, words) => {
  const server = await startWebServer();
  // Opens the port, so that it is the address that is refused.
  const proxy = await openProxy([{ cidr: '8.8.8.8', host: null, ports: [server.port], for: ['web_fetch'] }]);
  const answer = await ask(proxy, `http://${host}:${server.port}/`);
  expect([answer.status, answer.body]).toEqual([403, expect.stringContaining(words)]);
  expect((await tunnel(proxy, `${host}:${server.port}`)).line).toBe('HTTP/1.1 403 Refused');
  expect(proxy.refused).toHaveLength(2);
  expect(server.hits).toEqual([]);
});

test.each(['https://wiki.example/', 'ftp://wiki.example/', '/', 'http://user:word@wiki.example/'])(
  'a plain request for %s is refused',
  async (url) => {
    const { rule } = await startWebServer();
    expect((await ask(await openProxy([rule]), url)).status).toBe(403);
  },
);

test.each(['user:word@wiki.example:80', '', ':80', 'a b:80'])('a tunnel to %j is refused', async (authority) => {
  const { rule } = await startWebServer();
  expect((await tunnel(await openProxy([rule]), authority || ' ')).line).toMatch(/^HTTP\/1\.1 40[03] /);
});

test('a server that breaks off is reported as a bad gateway, and the proxy continues', async () => {
  const server = await startWebServer((req, res) => void (req.url === '/' ? req.socket.destroy() : res.end('well')));
  const proxy = await openProxy([server.rule]);
  expect((await ask(proxy, `${server.url}/`)).status).toBe(502);
  expect((await ask(proxy, `${server.url}/again`)).body).toBe('well');
});

test.each([
  ['a status below 100', 'HTTP/1.1 099 x\r\nContent-Length: 2\r\n\r\nok', 502],
  ['another protocol', 'HTTP/1.1 101 x\r\nUpgrade: other\r\nConnection: upgrade\r\n\r\n', 502],
  ['trailers that it cannot have', 'HTTP/1.1 200 x\r\nTrailer: a\r\nContent-Length: 2\r\n\r\nok', 200],
])('a server that answers with %s does no harm', async (_what, reply, status) => {
  const server = createServer((socket) => void socket.once('data', () => socket.end(reply)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const proxy = await openProxy([{ cidr: '127.0.0.1', host: null, ports: [port], for: ['web_fetch'] }]);
  expect((await ask(proxy, `http://wiki.example:${port}/`)).status).toBe(status);
});

test('closing ends what is open, on both sides', async () => {
  const silent = createServer((socket) => void socket.on('error', () => undefined));
  const connected = once(silent, 'connection');
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void silent.close());
  const { port } = silent.address() as AddressInfo;
  const proxy = await openProxy([{ cidr: '127.0.0.1', host: null, ports: [port], for: ['web_fetch'] }]);
  const { socket } = await tunnel(proxy, `127.0.0.1:${port}`);
  const [taken] = (await connected) as [Socket];
  const ended = [once(socket, 'close'), once(taken, 'close')];
  await proxy.close();
  await Promise.all(ended);
});

test('what the browser opens goes through the proxy of the installation, which is named when it fails', async () => {
  const server = await startWebServer();
  const fixture = await startConnectProxy({ leads: { 'wiki.example:80': server.port } });
  onTestFinished(() => takeWays(PLAIN_WAYS));
  const own = { url: fixture.url, authorization: null };
  takeWays({ ...PLAIN_WAYS, proxies: { 'http:': own, 'https:': own }, proxyResolves: true });
  const proxy = await openProxy([]);
  expect(await ask(proxy, 'http://wiki.example/a')).toMatchObject({ status: 200, body: 'hello' });
  expect((await tunnel(proxy, 'other.example:443')).line).toBe('HTTP/1.1 502 Refused');
  expect((await tunnel(proxy, '10.0.0.7:443')).line).toBe('HTTP/1.1 403 Refused');
  expect(fixture.tunnels.map(({ target }) => target)).toEqual(['wiki.example:80', 'other.example:443']);
  expect(proxy.refused[0]).toBe(`The proxy 127.0.0.1:${fixture.port} can't reach other.example (502).`);
});
