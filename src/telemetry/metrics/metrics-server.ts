// The server of the metrics: answers GET /metrics and nothing else, within limits of its own.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type Clock, within } from '../../domain/clock.ts';
import type { Log } from '../../log/log.ts';

/** One or two servers scrape; the rest is room for people who look. */
const MAX_CONNECTIONS = 32;
const MAX_HEADER_BYTES = 8_192;
const REQUEST_TIMEOUT_MS = 5_000;
/** Longer than the usual interval of scrapes, so that their connection stays. */
const KEEP_ALIVE_MS = 75_000;
/** A client that takes nothing of its reply for so long is disconnected. */
const IDLE_MS = 90_000;
/** The usual time limit of scrapers; afterwards, nobody waits for the reply. */
const SCRAPE_MS = 10_000;

const TEXT = 'text/plain; version=0.0.4; charset=utf-8';

interface ServerParts {
  /** All metrics, in the text format of Prometheus. */
  scrape(): Promise<string>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Makes a server that is not listening yet. Requests that come during a scrape get the result of that scrape. */
export function makeMetricsServer({ scrape, clock, log }: ServerParts): Server {
  let underWay: Promise<string> | undefined;
  const share = () =>
    (underWay ??= scrape().finally(() => {
      underWay = undefined;
    }));

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const refusal = refusalOf(req);
    if (refusal !== null) return send(res, refusal.status, { body: refusal.words, headers: refusal.headers ?? {} });
    const body = await within(clock, SCRAPE_MS, share(), undefined);
    if (body === undefined) return send(res, 503, { body: 'The metrics took too long to collect.\n' });
    send(res, 200, { body, headers: { 'Content-Type': TEXT } });
  }

  const options = {
    headersTimeout: REQUEST_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: 1_000,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
  };
  const server = createServer(options, (req, res) => {
    answer(req, res).catch((error: unknown) => {
      log.error({ err: error }, 'the metrics could not be collected');
      send(res, 500, { body: 'The metrics could not be collected.\n' });
    });
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.setTimeout(IDLE_MS);
  return server;
}

interface Refusal {
  readonly status: number;
  readonly words: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function refusalOf({ method, url = '' }: IncomingMessage): Refusal | null {
  if (url.split('?', 1)[0] !== '/metrics') return { status: 404, words: 'Only /metrics is here.\n' };
  if (method === 'GET') return null;
  return { status: 405, words: 'Only GET is answered.\n', headers: { Allow: 'GET' } };
}

interface Content {
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What is refused may have a body that nobody reads, so its connection is closed. */
function send(res: ServerResponse, status: number, { body, headers = {} }: Content): void {
  const connection = status === 200 ? {} : { Connection: 'close' };
  res.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    ...connection,
    ...headers,
  });
  res.end(body);
}
