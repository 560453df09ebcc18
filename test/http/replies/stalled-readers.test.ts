// Readers of long replies who take nothing: what waits for them is in memory, so they are disconnected.
import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { Html } from '../../../src/http/replies/html.ts';
import { ok, sendWhole } from '../../../src/http/replies/reply.ts';
import { fakeClock } from '../../support/time/fake-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

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
  ['page', ok(Html.safe('x'.repeat(10_000_000)))],
  ['list', LONG],
])(
  'a %s ends when its reader has not taken what waits for half a minute, and nothing of it is held',
  async (_, reply) => {
    const clock = fakeClock();
    const pause = async () => undefined;
    const share = { hold: async () => undefined, release: () => undefined };
    let isOver = false;
    const [res, response] = await ask((to) => {
      void sendWhole(to, reply, { share, pause, clock }).then(() => (isOver = true));
    });
    await waitFor(() => res.writableLength > 256 * 1_024);
    clock.advance(29_999);
    expect([res.destroyed, isOver]).toEqual([false, false]);
    clock.advance(1);
    await waitFor(() => isOver);
    await expect(once(response.resume(), 'end')).rejects.toThrow('aborted');
  },
);

test('a reader who takes it gets all of it, the rest of which was not held meanwhile', async () => {
  const held: number[] = [];
  const pause = async () => undefined;
  const share = { hold: async () => undefined, release: () => undefined };
  const [res, response] = await ask((to) => void sendWhole(to, LONG, { share, pause, clock: systemClock }));
  for await (const _ of response) held.push(res.writableLength);
  expect(Math.max(...held)).toBeLessThan(1_000_000);
  expect(response.complete).toBe(true);
});
