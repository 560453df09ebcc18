// A web server on loopback for one test, which records its requests.
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { EgressRule } from '../../../src/domain/egress.ts';
import { EGRESS_PURPOSES } from '../../../src/domain/egress.ts';

/** One request as it came in. */
export interface Hit {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

export interface WebServer {
  readonly port: number;
  /** Such as `http://127.0.0.1:40123`. */
  readonly url: string;
  readonly hits: readonly Hit[];
  /** Opens loopback at this server's port, for every purpose. */
  readonly rule: EgressRule;
}

/** Serves on 127.0.0.1 until the test ends. Replies 200 with `hello` without a handler. */
export async function startWebServer(
  handler: RequestListener = (_req, res) => void res.end('hello'),
): Promise<WebServer> {
  const hits: Hit[] = [];
  // Longer than a busy machine pauses: a client that keeps a connection finds it there.
  const server = createServer({ keepAliveTimeout: 60_000 }, (req, res) => {
    hits.push({ method: req.method ?? '', path: req.url ?? '', headers: req.headers });
    handler(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeAllConnections();
    await closed;
  });
  const { port } = server.address() as AddressInfo;
  const rule: EgressRule = { cidr: '127.0.0.1', host: null, ports: [port], for: EGRESS_PURPOSES };
  return { port, url: `http://127.0.0.1:${port}`, hits, rule };
}
