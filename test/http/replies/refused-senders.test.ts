// Clients that are refused in the middle of their body, and go on sending.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { sendReplyAndClose } from '../../../src/http/replies/reply.ts';
import { fakeClock } from '../../support/time/fake-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const LENGTH = 1_000;

/** A client that has its refusal, and has sent nothing of its body. */
async function refusedSender() {
  const clock = fakeClock();
  const server = createServer();
  onTestFinished(() => server.close().closeAllConnections());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${LENGTH}\r\n\r\n`);
  const [req, res] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  sendReplyAndClose(req, res, { status: 413, body: {} }, clock);
  const [reply] = (await once(socket, 'data')) as [Buffer];
  expect(reply.toString()).toMatch(/^HTTP\/1\.1 413 /);
  return {
    clock,
    res,
    /** Resolves when it was received. */
    send: async (bytes: number) => {
      socket.write('x'.repeat(bytes));
      await once(req, 'data');
    },
  };
}

test('a client that goes on sending after its refusal is heard to the end', async () => {
  const { clock, res, send } = await refusedSender();
  for (let sent = 0; sent < LENGTH; sent += 250) {
    clock.advance(4_999);
    expect(res.writableEnded).toBe(false);
    await send(250);
  }
  await waitFor(() => res.writableEnded);
});

test('one that stops sending is disconnected after 5 s', async () => {
  const { clock, res, send } = await refusedSender();
  clock.advance(4_999);
  await send(1);
  clock.advance(4_999);
  expect(res.writableEnded).toBe(false);
  clock.advance(1);
  expect(res.writableEnded).toBe(true);
});

test('one that sends a little from time to time is disconnected after 30 s', async () => {
  const { clock, res, send } = await refusedSender();
  for (let passed = 0; passed < 28_000; passed += 4_000) {
    clock.advance(4_000);
    await send(1);
  }
  clock.advance(1_999);
  expect(res.writableEnded).toBe(false);
  clock.advance(1);
  expect(res.writableEnded).toBe(true);
});
