// Readers of long replies who take nothing: what waits for them is in memory, so they are disconnected.
import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { ok, sendLongJson, sendReply } from '../../../src/http/frame/reply.ts';

/** The two ends of a reply, of which the client has read nothing yet. */
async function ask(send: (res: ServerResponse) => void): Promise<[ServerResponse, IncomingMessage]> {
  const server = createServer();
  onTestFinished(() => server.close().closeAllConnections());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const asked = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', agent: false });
  const [, res] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  const came = once(asked, 'response');
  send(res);
  return [res, ((await came) as [IncomingMessage])[0]];
}

const LONG = ok({ items: Array.from({ length: 100 }, () => 'x'.repeat(100_000)) });

test.each([
  ['at once', (res: ServerResponse) => sendReply(res, LONG)],
  ['in slices', (res: ServerResponse) => void sendLongJson(res, LONG, systemClock)],
])('a reply that was rendered %s ends when nothing of it is taken for two minutes', async (_, send) => {
  const [res, response] = await ask(send);
  expect(res.socket?.timeout).toBe(120_000);
  res.socket!.emit('timeout');
  await expect(once(response.resume(), 'end')).rejects.toThrow('aborted');
});
