import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import {
  type ConnectionLimitParts,
  connectionsFor,
  makeConnectionLimits,
} from '../../../src/http/server/connection-limits.ts';
import { maxDescriptors } from '../../../src/http/server/descriptors.ts';
import { listen } from '../../../src/http/server/listen.ts';
import { makeHttpServer } from '../../../src/http/server/server.ts';
import { makeLog } from '../../../src/log/log.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { fakeClock } from '../../support/time/fake-clock.ts';
import { SETTINGS } from '../../support/http/http-fixture.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const limited = (connections: number, connectionsPerAddress: number) => ({
  limits: { ...SETTINGS.limits, connections, connectionsPerAddress },
});

const LIMIT_PARTS = { isTrustedProxy: () => false, maxDescriptors: 20_000, clock: fakeClock() };

/** A server with limits, and connections to it that say nothing. */
async function openServer(over: Partial<ConnectionLimitParts> = {}) {
  const clock = fakeClock();
  const lines: Record<string, unknown>[] = [];
  const sink = new Writable({
    write(line: Buffer, _encoding, done) {
      lines.push(JSON.parse(line.toString()) as Record<string, unknown>);
      done();
    },
  });
  const server = makeHttpServer((_req, res) => void res.end('here'));
  const limits = makeConnectionLimits({
    ...LIMIT_PARTS,
    settings: () => limited(6, 4),
    clock,
    log: makeLog({ level: 'info' }, sink),
    ...over,
  });
  limits(server);
  await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1' }, resolve));
  const { port } = server.address() as AddressInfo;
  const sockets: Socket[] = [];
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  /**
   * Opens this many connections from one address of this machine, and waits until `refused` of all opened ones are closed.
   */
  const open = async (count: number, localAddress: string, refused: number): Promise<void> => {
    let connected = 0;
    for (let i = 0; i < count; i += 1) {
      const socket = connect({ port, host: '127.0.0.1', localAddress });
      socket.on('connect', () => (connected += 1));
      socket.on('error', () => undefined);
      sockets.push(socket);
    }
    await waitFor(() => connected === count && sockets.filter((socket) => socket.closed).length === refused);
  };
  /** Says something, and answers the first line of what comes back until the connection closes. */
  const say = async (text: string, localAddress: string): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect({ port, host: '127.0.0.1', localAddress });
      let heard = '';
      socket.on('connect', () => socket.write(text));
      socket.on('data', (chunk: Buffer) => (heard += chunk.toString()));
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(heard.split('\r\n')[0] ?? ''));
    });
  const get = (localAddress: string) => say('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', localAddress);
  return { server, clock, lines, sockets, open, say, get };
}

test('one address stays within its limit of connections, and all others still connect', async () => {
  const { open, get } = await openServer({ settings: () => limited(8, 4) });
  await open(10, '127.0.0.1', 6);
  expect(await get('127.0.0.1')).toBe('');
  expect(await get('127.0.0.2')).toBe('HTTP/1.1 200 OK');
});

test('one address never has more than half of all connections', async () => {
  const { open } = await openServer({ settings: () => limited(6, 200) });
  await open(6, '127.0.0.1', 3);
});

test('all addresses together stay within the limit, and a connection that closes frees its place', async () => {
  const { open, get, sockets } = await openServer({ settings: () => limited(4, 2) });
  await open(2, '127.0.0.1', 0);
  await open(2, '127.0.0.2', 0);
  expect(await get('127.0.0.3')).toBe('');
  sockets[0]!.destroy();
  await waitFor(async () => (await get('127.0.0.3')) === 'HTTP/1.1 200 OK');
});

test('a trusted proxy may have every connection there is', async () => {
  const { open } = await openServer({
    settings: () => limited(6, 2),
    isTrustedProxy: (address) => address === '127.0.0.9',
  });
  await open(8, '127.0.0.9', 2);
});

test('all who connect to a Unix socket share the limit of all alone', async () => {
  const path = join(temporaryDirectory(), 'http.sock');
  const server = makeHttpServer((_req, res) => void res.end('here'));
  makeConnectionLimits({ ...LIMIT_PARTS, settings: () => limited(6, 2), log: makeLog({ level: 'fatal' }) })(server);
  const listener = await listen(server, { kind: 'unix', path });
  const sockets = Array.from({ length: 8 }, () => connect(path).on('error', () => undefined));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await listener.close();
  });
  await waitFor(() => sockets.filter((socket) => socket.closed).length === 2);
  expect(await new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)))).toBe(6);
});

test('refused connections are logged once, then with their number every ten seconds', async () => {
  const { open, lines, clock } = await openServer({ settings: () => limited(4, 2) });
  await open(7, '127.0.0.1', 5);
  expect(lines).toMatchObject([{ refused: 1, limit: 'limits.connections_per_address', newest_from: '127.0.0.1' }]);
  clock.advance(10_000);
  expect(lines).toMatchObject([{ refused: 1 }, { refused: 4 }]);
  clock.advance(60_000);
  expect(lines).toHaveLength(2);
});

test('a server with few descriptors reserves enough of them for everything but connections', () => {
  expect(connectionsFor(limited(2_000, 200), 20_000)).toBe(2_000);
  expect(connectionsFor(limited(2_000, 200), 1_024)).toBe(384);
  expect(connectionsFor(limited(2_000, 200), 400)).toBe(150);
  expect(maxDescriptors('Max open files            400                  4096                 files     \n')).toBe(400);
  expect(maxDescriptors('')).toBe(1_024);
});

test('headers that do not come are waited for ten seconds', async () => {
  const { server, say } = await openServer();
  expect(server.headersTimeout).toBe(10_000);
  const heard = await say('GET / HTTP/1.1\r\nHost: x\r\n', '127.0.0.1');
  expect(heard).toMatch(/^HTTP\/1\.1 408 /);
});
