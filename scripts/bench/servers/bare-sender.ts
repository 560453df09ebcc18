// The baseline of any sender of webhooks: a bare loop over undici. `node bare-sender.ts` prints one JSON line {"url","pid"};
// `POST /` with {"urls","count","inFlight","body"} sends that body so often, and replies when all have arrived.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { Pool } from 'undici';

export interface BareOrder {
  readonly urls: readonly string[];
  readonly count: number;
  readonly inFlight: number;
  readonly body: string;
}

async function send({ urls, count, inFlight, body }: BareOrder): Promise<void> {
  const pools = urls.map((url) => new Pool(url, { connections: inFlight / urls.length, pipelining: 1 }));
  const headers = { 'content-type': 'application/json', 'user-agent': 'bare/1.0' };
  const bytes = Buffer.from(body);
  let left = count;
  const loop = async (pool: Pool) => {
    while (left > 0) {
      left -= 1;
      const reply = await pool.request({ path: '/', method: 'POST', headers, body: bytes });
      await reply.body.dump();
    }
  };
  await Promise.all(Array.from({ length: inFlight }, (_, i) => loop(pools[i % pools.length]!)));
  await Promise.all(pools.map((pool) => pool.close()));
}

const server = createServer((request, response) => {
  json(request)
    .then((order) => send(order as BareOrder))
    .then(
      () => response.end('{}'),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}`, pid: process.pid })}\n`);
});
