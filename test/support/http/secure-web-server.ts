// A web server with TLS on loopback for one test.
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { type Certificate, pemOf } from './certificates.ts';

/** Serves on 127.0.0.1 with a chain until the test ends. Replies 200 with `hello` without a handler. Returns its port. */
export async function startSecureWebServer(
  [leaf, ...chain]: readonly [Certificate, ...Certificate[]],
  handler: RequestListener = (_req, res) => void res.end('hello'),
): Promise<number> {
  const cert = [leaf, ...chain].map((one) => one.cert).join('');
  const server = createServer({ cert, key: pemOf(leaf.key) }, handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  });
  return (server.address() as AddressInfo).port;
}
