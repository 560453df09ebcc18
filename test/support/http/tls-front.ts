// TLS in front of a plain server on loopback, for one test.
import { type AddressInfo, connect } from 'node:net';
import { createServer } from 'node:tls';
import { onTestFinished } from 'vitest';
import { type Certificate, pemOf } from './certificates.ts';

/** Opens it before a port, until the test ends; returns its own port. */
export async function startTlsFront({ cert, key }: Certificate, port: number): Promise<number> {
  const open = new Set<{ destroy(): unknown }>();
  const server = createServer({ cert, key: pemOf(key) }, (outer) => {
    const inner = connect({ port, host: '127.0.0.1' });
    for (const [one, other] of [
      [outer, inner],
      [inner, outer],
    ] as const) {
      open.add(one);
      one.on('error', () => other.destroy()).pipe(other);
    }
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const one of open) one.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
