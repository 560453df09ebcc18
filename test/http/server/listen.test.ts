import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, renameSync, statSync, symlinkSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { linkSocket, listen } from '../../../src/http/server/listen.ts';
import { peersOf, setPeers } from '../../../src/http/server/peers.ts';
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

/** Leaves a socket that no process listens on, as a crash does. */
async function leaveSocket(directory: string, name: string): Promise<string> {
  const [first, left] = [join(directory, 'first.sock'), join(directory, name)];
  const crashed = createServer().listen(first);
  await once(crashed, 'listening');
  renameSync(first, left);
  await new Promise((resolve) => crashed.close(resolve));
  expect(statSync(left).isSocket()).toBe(true);
  return left;
}

test('the socket is for its owner and group, and gone after the end', { tags: ['K1-socket'] }, async () => {
  const path = join(temporaryDirectory(), 'errand.sock');
  const listener = await listen(server(), { kind: 'unix', path });
  expect(listener.address).toBe(`unix:${path}`);
  expect(statSync(path).mode & 0o777).toBe(0o660);
  expect(await reaches(path)).toBe(true);
  await listener.close();
  expect(existsSync(path)).toBe(false);
});

test('a socket can have another mode, and whoever connects to it is not the operator', async () => {
  const path = join(temporaryDirectory(), 'http.sock');
  const [open, own] = [server(), server()];
  setPeers(own, 'operator');
  const listener = await listen(open, { kind: 'unix', path, mode: 0o666 });
  onTestFinished(() => listener.close());
  const other = await listen(own, { kind: 'unix', path: `${path}.own` });
  onTestFinished(() => other.close());
  expect(statSync(path).mode & 0o777).toBe(0o666);
  expect([peersOf(open), peersOf(own), peersOf(server())]).toEqual(['unix', 'operator', 'network']);
});

test('a socket without a listener is replaced; one with a listener is refused', async () => {
  const path = await leaveSocket(temporaryDirectory(), 'errand.sock');
  const listener = await listen(server(), { kind: 'unix', path });
  onTestFinished(() => listener.close());
  await expect(listen(server(), { kind: 'unix', path })).rejects.toMatchObject({ reason: 'conflict' });
});

test('a link in the place of the socket is replaced; a file with content stays', async () => {
  const directory = temporaryDirectory({ 'notes.txt': 'mine' });
  const [file, link] = [join(directory, 'notes.txt'), join(directory, 'errand.sock')];
  symlinkSync(file, link);
  const listener = await listen(server(), { kind: 'unix', path: link });
  onTestFinished(() => listener.close());
  expect(statSync(link).isSocket()).toBe(true);
  await expect(listen(server(), { kind: 'unix', path: file })).rejects.toThrow("a file that isn't a socket is there");
  expect(readFileSync(file, 'utf8')).toBe('mine');
});

test('a socket in a runtime directory is reached from the data directory, until the end', async () => {
  const [runtime, data] = [temporaryDirectory(), temporaryDirectory({ 'errand.sock': 'a link left by a crash' })];
  const listener = await listen(server(), { kind: 'unix', path: join(runtime, 'errand.sock') });
  onTestFinished(() => listener.close());
  const place = join(data, 'errand.sock');
  const unlink = linkSocket(place, join(runtime, 'errand.sock'));
  expect(await reaches(place)).toBe(true);
  unlink();
  expect(existsSync(place)).toBe(false);
});

test('an address that is taken is a conflict that names it', async () => {
  const listener = await listen(server(), { kind: 'tcp', host: '127.0.0.1', port: 0 });
  onTestFinished(() => listener.close());
  const port = Number(listener.address.split(':')[1]);
  await expect(listen(server(), { kind: 'tcp', host: '127.0.0.1', port })).rejects.toThrow(
    `Cannot listen on ${listener.address} (EADDRINUSE)`,
  );
  await expect(listen(server(), { kind: 'unix', path: '/nowhere/errand.sock' })).rejects.toThrow(
    'Cannot listen on /nowhere/errand.sock: its directory does not exist.',
  );
});

/** Listens on descriptors 3 and 4, as of a service manager; prints the address and the peers of each. */
const ACTIVATED = `
  import { createServer } from 'node:http';
  import { listen } from '${new URL('../../../src/http/server/listen.ts', import.meta.url).href}';
  import { peersOf } from '${new URL('../../../src/http/server/peers.ts', import.meta.url).href}';
  const said = [];
  for (const fd of [3, 4]) {
    const server = createServer();
    const { address, close } = await listen(server, { kind: 'fd', fd });
    said.push([address, peersOf(server)]);
    await close();
  }
  console.log(JSON.stringify(said));`;

test('inherited descriptors are served, and what was bound by another stays there', async () => {
  const path = join(temporaryDirectory(), 'activated.sock');
  const opened = [createServer().listen({ port: 0, host: '127.0.0.1' }), createServer().listen(path)];
  await Promise.all(opened.map((one) => once(one, 'listening')));
  onTestFinished(() => opened.forEach((one) => one.close()));
  const fds = opened.map((one) => {
    const { _handle: handle } = one as unknown as { readonly _handle: { readonly fd: number } };
    return handle.fd;
  });
  const child = spawn(process.execPath, ['--input-type=module', '-e', ACTIVATED], {
    stdio: ['ignore', 'pipe', 'inherit', ...fds],
  });
  const { port } = opened[0]!.address() as AddressInfo;
  expect(JSON.parse(await text(child.stdout!))).toEqual([
    [`127.0.0.1:${port}`, 'network'],
    [`unix:${path}`, 'unix'],
  ]);
  expect(await reaches(path)).toBe(true);
});

test('a listener that accepts nothing more finishes its replies, and then closes', async () => {
  const replying = Promise.withResolvers<void>();
  const reply = Promise.withResolvers<void>();
  const slow = makeHttpServer((_req, res) => {
    replying.resolve();
    void reply.promise.then(() => res.end('late'));
  });
  const listener = await listen(slow, { kind: 'tcp', host: '127.0.0.77', port: 0 });
  const answer = fetch(`http://${listener.address}/`);
  await replying.promise;
  listener.stopAccepting();
  await expect(fetch(`http://${listener.address}/`)).rejects.toThrow('fetch failed');
  reply.resolve();
  expect(await (await answer).text()).toBe('late');
  await listener.close();
  await listener.close();
});
