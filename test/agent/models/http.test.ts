// Connections to model servers: what is reused, what is closed, and what is reported of those that fail.
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { createServer as createTlsServer } from 'node:https';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { askEndpoint } from '../../../src/agent/models/list-models.ts';
import { PLAIN_WAYS, takeWays } from '../../../src/outbound/ways/ways.ts';
import { GRANT, LIMITS, makeBrief, startRun } from '../play-main.ts';
import { waitFor } from '../../support/time/wait-for.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { makeCertificate, pemOf } from '../../support/http/certificates.ts';
import { startConnectProxy } from '../../support/http/connect-proxy.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function run(baseUrl: string, changes: Partial<typeof GRANT> = {}) {
  const main = startRun(await makeBrief({ model: { ...GRANT, baseUrl, ...changes } }), []);
  const outcome = await main.done;
  const message = outcome.status === 'failed' ? outcome.error.message : '';
  return { outcome, message, logs: main.of('log').map(({ facts }) => facts) };
}

const REPLY = `data: ${JSON.stringify({ choices: [{ delta: { content: 'Fine.' }, finish_reason: 'stop' }] })}\n\n`;
const streams =
  (wire: string): RequestListener =>
  (_request, response) =>
    void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(wire);

test('a connection is used again after a complete reply', async () => {
  const server = createHttpServer(streams(`${REPLY}data: [DONE]\n\n`));
  let connections = 0;
  server.on('connection', () => (connections += 1));
  const url = `http://127.0.0.1:${await listen(server)}`;
  // The reply is complete a moment before its connection is free.
  const isReused = async () => {
    const before = connections;
    expect((await run(url)).outcome.status).toBe('completed');
    return connections === before;
  };
  await waitFor(isReused);
});

test('a reply without an end mark is complete with its connection', async () => {
  const url = `http://127.0.0.1:${await listen(createHttpServer(streams(REPLY)))}`;
  expect((await run(url)).outcome).toMatchObject({ status: 'completed', text: 'Fine.' });
});

test.each([
  ['closes', (socket: Socket) => socket.end()],
  ['resets', (socket: Socket) => socket.resetAndDestroy()],
])(
  'a reply is complete by its reason to finish, also when its server %s the connection without an end',
  async (_, cut) => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket.on('error', () => undefined));
      socket.once('data', () => socket.write(`${head}${REPLY.length.toString(16)}\r\n${REPLY}\r\n`));
    });
    const baseUrl = `http://127.0.0.1:${await listen(server)}`;
    const main = startRun(await makeBrief({ model: { ...GRANT, baseUrl } }), []);
    await main.next(({ t }) => t === 'text');
    sockets.forEach(cut);
    expect(await main.done).toMatchObject({ status: 'completed', text: 'Fine.' });
  },
);

const piece = (delta: object, finish: string | null) =>
  `data: ${JSON.stringify({ choices: [{ delta, finish_reason: finish }] })}\n\n`;
/** Sends pieces with a pause before each but the first, and keeps the connection open. */
const streamsSlowly =
  (pieces: readonly string[], pauseMs: number): RequestListener =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(pieces[0]);
    for (const [at, next] of pieces.slice(1).entries()) setTimeout(() => response.write(next), pauseMs * (at + 1));
  };

test('a reason to finish with each piece of content does not end the reply at a pause', async () => {
  const pieces = [
    piece({ reasoning_content: 'Hm.' }, 'stop'),
    `${piece({ content: 'Fine.' }, 'stop')}data: [DONE]\n\n`,
  ];
  const url = `http://127.0.0.1:${await listen(createHttpServer(streamsSlowly(pieces, 2_500)))}`;
  expect((await run(url)).outcome).toMatchObject({ status: 'completed', text: 'Fine.' });
});

test.each([
  ['a reason to finish of its own', [piece({ content: 'Fine.' }, null), piece({}, 'stop')]],
  ['one with its last piece', [piece({ content: 'Fine.' }, 'stop')]],
])('a reply with %s is complete, also when comments follow it for ever', async (_name, content) => {
  const pieces = [content.join(''), ...Array.from({ length: 200 }, () => ': keep-alive\n\n')];
  const url = `http://127.0.0.1:${await listen(createHttpServer(streamsSlowly(pieces, 50)))}`;
  const brief = await makeBrief({ model: { ...GRANT, baseUrl: url }, limits: { ...LIMITS, idleTimeoutMs: 3_000 } });
  expect(await startRun(brief, []).done).toMatchObject({ status: 'completed', text: 'Fine.' });
});

test('servers are asked over HTTP/1.1, where each call has a connection of its own', async () => {
  const { cert, key } = makeCertificate('localhost');
  const offered: string[][] = [];
  const ALPNCallback = ({ protocols }: { protocols: string[] }) => {
    offered.push(protocols);
    return undefined;
  };
  const url = `https://127.0.0.1:${await listen(createTlsServer({ cert, key: pemOf(key), ALPNCallback }))}`;
  await run(url);
  expect(offered[0]).toEqual(['http/1.1']);
});

test('a server that does not speak HTTP is reported as such', async () => {
  const server = createServer((socket) => socket.once('data', () => socket.end('SSH-2.0-OpenSSH_9.2\r\n')));
  const { message, logs } = await run(`http://127.0.0.1:${await listen(server)}`);
  expect(message).toContain('sent something that violates its protocol');
  expect(logs).toHaveLength(5);
});

test('an issuer that is not trusted is named, and the call is not repeated', async () => {
  const { cert, key } = makeCertificate('localhost', { issuer: makeCertificate('Corp Root CA') });
  const server = createTlsServer({ cert, key: pemOf(key) }, streams(REPLY));
  const { message, logs } = await run(`https://localhost:${await listen(server)}`);
  expect(message).toContain(
    'could not be reached. The certificate of localhost is issued by "Corp Root CA", which is not trusted',
  );
  expect(logs).toHaveLength(1);
});

test('a file of the endpoint is trusted for its calls, and one of the installation in the thread of the run', async () => {
  const issuer = makeCertificate('Corp Root CA');
  const caFile = join(temporaryDirectory({ 'ca.pem': issuer.cert }), 'ca.pem');
  const { cert, key } = makeCertificate('localhost', { issuer });
  const server = createTlsServer({ cert, key: pemOf(key) }, streams(REPLY));
  const baseUrl = `https://localhost:${await listen(server)}`;
  const model = { ...GRANT, baseUrl };
  const own = await makeBrief({ model: { ...model, caFile } });
  expect(await startRun(own, []).done).toMatchObject({ status: 'completed' });
  expect(await askEndpoint({ ...model, caFile }, 5_000)).not.toMatchObject({ kind: 'unreachable' });
  expect(await askEndpoint(model, 5_000)).toMatchObject({ why: expect.stringContaining('issued by "Corp Root CA"') });
});

test('calls go through a proxy, which is named when it fails', async () => {
  const port = await listen(createHttpServer(streams(REPLY)));
  const proxy = await startConnectProxy({ leads: { 'models.test:8000': port } });
  onTestFinished(() => takeWays(PLAIN_WAYS));
  takeWays({ ...PLAIN_WAYS, proxies: { 'http:': { url: proxy.url, authorization: null }, 'https:': null } });
  const model = { ...GRANT, baseUrl: 'http://models.test:8000' };
  expect(await startRun(await makeBrief({ model }), []).done).toMatchObject({ status: 'completed' });
  const { message } = await run('http://other.test:8000');
  expect(message).toContain(`could not be reached. The proxy 127.0.0.1:${proxy.port} can't reach other.test (502).`);
});

test('a call that can not be sent is not repeated, and its headers are not reported', async () => {
  const url = `http://127.0.0.1:${await listen(createHttpServer(streams(REPLY)))}`;
  const { message, logs } = await run(url, { apiKey: 'sk-with\nbreak' });
  expect(message).toContain('InvalidArgumentError');
  expect(JSON.stringify(logs)).not.toContain('break');
  expect(logs).toHaveLength(1);
});
