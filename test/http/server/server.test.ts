import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { makeHttpServer } from '../../../src/http/server/server.ts';
import { fakeClock } from '../../support/time/fake-clock.ts';
import { type Fixture, openFixture } from '../../support/http/http-fixture.ts';
import { waitFor } from '../../support/time/wait-for.ts';

/** Writes raw bytes and reads until the server closes. */
async function speak(fixture: Fixture, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(fixture.port, '127.0.0.1', () => socket.write(text));
    let heard = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      heard += chunk;
    });
    socket.once('error', reject);
    socket.once('close', () => resolve(heard));
  });
}

const bodyOf = (reply: string): unknown => JSON.parse(reply.slice(reply.indexOf('\r\n\r\n') + 4));

const BROKEN = [
  ['a request that is not HTTP', 'nonsense\r\n\r\n', 'HTTP/1.1 400 Bad Request'],
  [
    'two lengths',
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
    'HTTP/1.1 400 Bad Request',
  ],
  [
    'a length beside chunks',
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
    'HTTP/1.1 400 Bad Request',
  ],
  [
    'too many headers',
    `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`,
    'HTTP/1.1 431 Request Header Fields Too Large',
  ],
] as const;

test.each(BROKEN)(
  '%s is answered in the first shape and the connection closes',
  { tags: ['A2', 'A9'] },
  async (_name, text, head) => {
    const reply = await speak(await openFixture(), text);
    expect(reply.split('\r\n')[0]).toBe(head);
    expect(reply).toMatch(/\r\nConnection: close\r\n/);
    expect(reply).toMatch(/\r\nX-Request-Id: [0-9a-f-]{36}\r\n/);
    expect(bodyOf(reply)).toEqual({
      type: 'error',
      error: { type: 'invalid_request_error', message: expect.any(String) as string },
    });
  },
);

test('a client that got such a reply and keeps its end of the connection open is disconnected', async () => {
  const clock = fakeClock();
  const server = makeHttpServer(() => undefined, clock);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => socket.write('nonsense\r\n\r\n'));
  onTestFinished(() => {
    socket.destroy();
    server.close();
  });
  await new Promise((resolve) => socket.resume().once('end', resolve));
  const open = () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)));
  expect(await open()).toBe(1);
  clock.advance(2_000);
  await waitFor(async () => (await open()) === 0);
});

/** A connection to a server that waits for no request, or for no body: what it has heard, and bodies that arrived as a whole. */
async function lateConnection(waitsFor: 'request' | 'body') {
  const bodies: string[] = [];
  const waitNoMore = () => ([server.headersTimeout, server.requestTimeout] = [1, 1]);
  const server = makeHttpServer((req, res) => {
    // Not before: it may look for what is late between a connection and its first bytes.
    waitNoMore();
    text(req).then(
      (body) => {
        bodies.push(body);
        res.end();
      },
      () => bodies.push('broken off'),
    );
  });
  if (waitsFor === 'request') waitNoMore();
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  let heard = '';
  socket.on('error', () => undefined).on('data', (chunk: Buffer) => (heard += chunk.toString()));
  const closed = new Promise((resolve) => void socket.once('close', resolve));
  return { socket, bodies, closed, heard: () => heard };
}

const SMALL_POST = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n';

test('a request that arrives after its client was told that it took too long is not carried out', async () => {
  const { socket, bodies, closed, heard } = await lateConnection('request');
  await waitFor(() => heard().includes('\r\n\r\n'));
  expect(heard().split('\r\n')[0]).toBe('HTTP/1.1 408 Request Timeout');
  socket.end(`${SMALL_POST}late`);
  await closed;
  expect(bodies).toEqual([]);
});

test('a body whose rest arrives after its client was told so never arrives as a whole', async () => {
  const { socket, bodies, closed, heard } = await lateConnection('body');
  socket.write(`${SMALL_POST}la`);
  await waitFor(() => heard().includes('\r\n\r\n'));
  expect(heard().split('\r\n')[0]).toBe('HTTP/1.1 408 Request Timeout');
  socket.end('te');
  await closed;
  expect(bodies).toEqual(['broken off']);
});

test('a request without Host is 400 in the shape of its path', async () => {
  const reply = await speak(await openFixture(), 'GET /api/v1/status HTTP/1.1\r\nConnection: close\r\n\r\n');
  expect(reply.split('\r\n')[0]).toBe('HTTP/1.1 400 Bad Request');
  expect(bodyOf(reply)).toEqual({ code: 400, message: 'The Host header is missing.', data: null });
});

const POST = 'POST /openapi/v1/messages HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';

test('a body announced with Expect is not invited when it is too large', async () => {
  const head = `${POST}Authorization: Bearer conversation-key\r\nExpect: 100-continue\r\nContent-Length: 99999999\r\n\r\n`;
  const fixture = await openFixture();
  const reply = await new Promise<string>((resolve) => {
    const socket = connect(fixture.port, '127.0.0.1', () => socket.write(head));
    socket.once('data', (chunk: Buffer) => {
      resolve(chunk.toString());
      socket.destroy();
    });
  });
  expect(reply.split('\r\n')[0]).toBe('HTTP/1.1 413 Payload Too Large');
});

test('a body announced with Expect is asked for once the request may continue', async () => {
  const body = '{"model":"m","messages":[{"role":"user","content":"Hi"}]}';
  const head = `${POST}Authorization: Bearer conversation-key\r\nExpect: 100-continue\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`;
  const fixture = await openFixture();
  const reply = await new Promise<string>((resolve) => {
    let heard = '';
    const socket = connect(fixture.port, '127.0.0.1', () => socket.write(head));
    socket.on('data', (chunk: Buffer) => {
      if (heard === '') socket.write(body);
      heard += chunk.toString();
    });
    socket.once('close', () => resolve(heard));
  });
  expect(reply).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
});

test('a client that sends its entire oversize body before it reads still gets the 413', async () => {
  // However long a busy machine pauses in it.
  const fixture = await openFixture({ parts: { clock: fakeClock() } });
  const body = Buffer.alloc(40_000_000, 0x20);
  const head = `${POST}Authorization: Bearer conversation-key\r\nContent-Length: ${body.length}\r\n\r\n`;
  const reply = await new Promise<string>((resolve, reject) => {
    const socket = connect(fixture.port, '127.0.0.1', () => {
      socket.write(head);
      socket.write(body, (error) => (error ? reject(error) : socket.resume()));
    });
    let heard = '';
    socket.on('data', (chunk: Buffer) => {
      heard += chunk.toString();
    });
    socket.pause();
    socket.once('error', reject);
    socket.once('close', () => resolve(heard));
  });
  expect(reply.split('\r\n')[0]).toBe('HTTP/1.1 413 Payload Too Large');
  expect(bodyOf(reply)).toMatchObject({ error: { type: 'invalid_request_error' } });
});

test('a TCP client that resets at once is never taken for the local operator', async () => {
  const seen: boolean[] = [];
  let asked = () => {};
  const done = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const fixture = await openFixture({
    operations: {
      authenticate: async (_credential, { viaSocket }) => {
        seen.push(viaSocket);
        asked();
        throw new Error('not now');
      },
    },
  });
  // The request is handed to the application after the connection has lost its address, as after a reset.
  fixture.tcp.prependListener('request', (req) => req.socket.destroy());
  const socket = connect(fixture.port, '127.0.0.1', () =>
    socket.write('GET /api/v1/status HTTP/1.1\r\nHost: x\r\n\r\n'),
  );
  socket.once('error', () => {});
  await done;
  expect(seen).toEqual([false]);
});

const withHeaders = (count: number) =>
  `GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${'a: b\r\n'.repeat(count - 2)}\r\n`;

test('a request has at most 200 headers, and none is left out in silence', async () => {
  const fixture = await openFixture();
  expect(await speak(fixture, withHeaders(200))).toMatch(/^HTTP\/1\.1 200 /);
  expect(await speak(fixture, withHeaders(201))).toMatch(/^HTTP\/1\.1 431 /);
  // As many as Node would leave out: here, all that a proxy appends.
  expect(await speak(fixture, withHeaders(1_500))).toMatch(/^HTTP\/1\.1 431 /);
  expect(await speak(fixture, `GET /healthz HTTP/1.1\r\nHost: x\r\na: ${'b'.repeat(16_384)}\r\n\r\n`)).toMatch(
    /^HTTP\/1\.1 431 /,
  );
});
