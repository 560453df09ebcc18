import { existsSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { linkSocket, listenSocket, listenTcp } from '../../../src/http/server/listen.ts';
import { makeHttpServer } from '../../../src/http/server/server.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';

const server = () => makeHttpServer((_req, res) => void res.end('here'));

async function reaches(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

test('the socket is for its owner and group, and gone after the end', async () => {
  const path = join(temporaryDirectory(), 'errand.sock');
  const listener = await listenSocket(server(), path);
  expect(statSync(path).mode & 0o777).toBe(0o660);
  expect(await reaches(path)).toBe(true);
  await listener.close();
  expect(existsSync(path)).toBe(false);
});

test('a socket without a listener is replaced; one with a listener is refused', async () => {
  const path = join(temporaryDirectory({ 'errand.sock': 'left by a crash' }), 'errand.sock');
  const listener = await listenSocket(server(), path);
  onTestFinished(() => listener.close());
  await expect(listenSocket(server(), path)).rejects.toMatchObject({ reason: 'conflict' });
});

test('a socket in a runtime directory is reached from the data directory, until the end', async () => {
  const [runtime, data] = [temporaryDirectory(), temporaryDirectory({ 'errand.sock': 'a link left by a crash' })];
  const listener = await listenSocket(server(), join(runtime, 'errand.sock'));
  onTestFinished(() => listener.close());
  const place = join(data, 'errand.sock');
  const unlink = linkSocket(place, join(runtime, 'errand.sock'));
  expect(await reaches(place)).toBe(true);
  unlink();
  expect(existsSync(place)).toBe(false);
});

test('an address that is taken is a conflict that names it', async () => {
  const listener = await listenTcp(server(), '127.0.0.1:0');
  onTestFinished(() => listener.close());
  await expect(listenTcp(server(), listener.address)).rejects.toThrow(
    `Cannot listen on ${listener.address} (EADDRINUSE)`,
  );
});
