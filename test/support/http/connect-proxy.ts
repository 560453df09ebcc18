// An HTTP proxy on loopback for one test: it opens tunnels, wherever they are to lead, to ports of this machine.
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { onTestFinished } from 'vitest';
import { type Certificate, pemOf } from './certificates.ts';

export interface Tunnel {
  /** As it was asked for: a host and a port. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
}

export interface ConnectProxy {
  readonly port: number;
  readonly url: string;
  readonly tunnels: readonly Tunnel[];
}

export interface ConnectProxyOptions {
  /** Port of loopback by target, such as `model.test:443`. Others get 502. */
  readonly leads?: Readonly<Record<string, number>>;
  /** Answers every tunnel with it; null never answers. */
  readonly status?: number | null;
  /** Speaks TLS with it. */
  readonly certificate?: Certificate;
}

/** Starts it, until the test ends. */
export async function startConnectProxy(options: ConnectProxyOptions = {}): Promise<ConnectProxy> {
  const { leads = {}, status, certificate } = options;
  const tunnels: Tunnel[] = [];
  const open = new Set<Duplex>();
  const server =
    certificate === undefined
      ? createServer()
      : createSecureServer({ cert: certificate.cert, key: pemOf(certificate.key) });
  server.on('connection', (socket: Duplex) => open.add(socket.on('error', () => undefined)));
  server.on('connect', (request: IncomingMessage, client: Duplex) => {
    const target = request.url ?? '';
    tunnels.push({ target, headers: request.headers });
    client.on('error', () => undefined);
    if (status === null) return;
    const port = leads[target];
    if (status !== undefined || port === undefined) {
      client.end(`HTTP/1.1 ${status ?? 502} No\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    const outer = connect({ port, host: '127.0.0.1' }, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(outer).pipe(client);
    });
    outer.on('error', () => client.destroy());
    open.add(outer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const stream of open) stream.destroy();
    await closed;
  });
  const { port } = server.address() as AddressInfo;
  return { port, url: `${certificate === undefined ? 'http' : 'https'}://127.0.0.1:${port}`, tunnels };
}
