// TLS as clients meet it: versions, protocols, a certificate that is replaced, and peers that never finish a handshake.
import type { IncomingMessage } from 'node:http';
import { request, type RequestOptions, type Server } from 'node:https';
import { type AddressInfo, connect as connectPlain, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import type { HttpApp } from '../../../src/http/app.ts';
import { makeConnectionLimits } from '../../../src/http/server/connection-limits.ts';
import { listen } from '../../../src/http/server/listen.ts';
import { presentCertificate } from '../../../src/http/server/secure-server.ts';
import { makeHttpsServer } from '../../../src/http/server/server.ts';
import { makeLog } from '../../../src/log/log.ts';
import { makeCertificate, pemOf } from '../../support/http/certificates.ts';
import { SETTINGS } from '../../support/http/http-fixture.ts';
import { fakeClock } from '../../support/time/fake-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const [first, second] = ['first.test', 'second.test'].map((name) => makeCertificate(name));
const pair = ({ cert, key }: ReturnType<typeof makeCertificate>) => ({ cert, key: pemOf(key) });

async function open(app: HttpApp = (_req, res) => void res.end('here'), over: { handshakeTimeoutMs?: number } = {}) {
  const server = makeHttpsServer(app, pair(first!), over);
  const limit = makeConnectionLimits({
    settings: () => ({ limits: { ...SETTINGS.limits, connections: 4, connectionsPerAddress: 4 } }),
    isTrustedProxy: () => true,
    maxDescriptors: 20_000,
    clock: fakeClock(),
    log: makeLog({ level: 'fatal' }),
  });
  limit(server);
  const listener = await listen(server, { kind: 'tcp', host: '127.0.0.1', port: 0 });
  onTestFinished(() => listener.close());
  return { server, listener, port: (server.address() as AddressInfo).port };
}

/** The outcome of a handshake: the protocols, or the code of the error. */
async function shake(port: number, options: ConnectionOptions = {}): Promise<string> {
  return new Promise((resolve) => {
    const socket: TLSSocket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options }, () => {
      const { CN } = socket.getPeerCertificate().subject;
      resolve([socket.getProtocol(), socket.alpnProtocol, CN].map(String).join(' '));
      socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
}

const ask = (port: number, options: RequestOptions = {}) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    const req = request({ port, host: '127.0.0.1', rejectUnauthorized: false, agent: false, ...options }, resolve);
    req.once('error', reject).end();
  });

const connections = (server: Server) =>
  new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)));

const closed = (socket: Socket) =>
  new Promise<void>(
    (resolve) =>
      void socket
        .on('error', () => undefined)
        .resume()
        .once('close', resolve),
  );

test('TLS 1.2 and 1.3 are spoken, with HTTP/1.1 alone, and nothing older or weaker', async () => {
  const { port } = await open();
  const both = { ALPNProtocols: ['h2', 'http/1.1'] };
  expect(await shake(port, both)).toBe('TLSv1.3 http/1.1 first.test');
  expect(await shake(port, { ...both, maxVersion: 'TLSv1.2' })).toBe('TLSv1.2 http/1.1 first.test');
  expect(await shake(port)).toBe('TLSv1.3 false first.test');
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
  expect(await shake(port, old)).toBe('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION');
  expect(await shake(port, { maxVersion: 'TLSv1.2', ciphers: 'AES128-SHA' })).toMatch(/HANDSHAKE_FAILURE/);
  expect(await shake(port, { ALPNProtocols: ['h2'] })).toMatch(/NO_APPLICATION_PROTOCOL/);
});

test('a new certificate is for new connections, and a stream that runs continues', async () => {
  let write = (_text: string): void => undefined;
  let end = (): void => undefined;
  const { port, server } = await open((req, res) => {
    res.write('one ');
    [write, end] = [(text) => void res.write(text), () => void res.end()];
    if (req.url !== '/stream') end();
  });
  const stream = await ask(port, { path: '/stream' });
  presentCertificate(server, pair(second!));
  expect(await shake(port)).toMatch(/second\.test$/);
  expect(await shake(port, { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' })).toMatch(
    /VERSION/,
  );
  write('two');
  end();
  expect(await text(stream)).toBe('one two');
});

test('a session of the certificate before is not resumed with the new one', async () => {
  const { port, server } = await open();
  const session = await new Promise<Buffer>((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
    socket.once('session', (ticket: Buffer) => {
      socket.destroy();
      resolve(ticket);
    });
  });
  presentCertificate(server, pair(second!));
  expect(await shake(port, { session })).toMatch(/second\.test$/);
});

/** Connections whose handshakes do not end: three say nothing, one sends a byte of its ClientHello now and then. */
function beginHandshakes(port: number): Socket[] {
  const peers = Array.from({ length: 4 }, () => connectPlain(port, '127.0.0.1').on('error', () => undefined));
  const slow = peers.at(-1)!;
  slow.write(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00]));
  const trickle = setInterval(() => void slow.write(Buffer.from([0])), 20);
  onTestFinished(() => clearInterval(trickle));
  return peers;
}

test('a peer that does not finish its handshake counts as a connection', async () => {
  const { port, server } = await open();
  const peers = beginHandshakes(port);
  await waitFor(async () => (await connections(server)) === 4);
  expect(await shake(port)).toMatch(/ECONNRESET|ERR_SSL/);
  for (const peer of peers) peer.destroy();
  await waitFor(async () => (await connections(server)) === 0);
  expect(await shake(port)).toMatch(/first\.test$/);
});

test('a peer that does not finish its handshake is disconnected in time, and leaves its place', async () => {
  const { port, server } = await open(undefined, { handshakeTimeoutMs: 300 });
  await Promise.all(beginHandshakes(port).map(closed));
  await waitFor(async () => (await connections(server)) === 0);
  // A busy machine may take longer than that for a whole handshake.
  await waitFor(async () => (await shake(port)).endsWith('first.test'));
});

test('plain HTTP, and noise, end their own connection and nothing else', async () => {
  const { port, server } = await open();
  for (const noise of ['GET / HTTP/1.1\r\nHost: x\r\n\r\n', '\0'.repeat(100)]) {
    const socket = connectPlain(port, '127.0.0.1');
    socket.write(noise);
    await closed(socket);
  }
  await waitFor(async () => (await connections(server)) === 0);
  expect(await text(await ask(port))).toBe('here');
});

test('closing the listener does not wait for a handshake', async () => {
  const { port, listener, server } = await open();
  const socket = connectPlain(port, '127.0.0.1');
  await waitFor(async () => (await connections(server)) === 1);
  await Promise.all([listener.close(), closed(socket)]);
});

test('a request that cannot be parsed is answered over TLS as well', async () => {
  const { port } = await open();
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () =>
    socket.write('nonsense\r\n\r\n'),
  );
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 Bad Request/);
});
