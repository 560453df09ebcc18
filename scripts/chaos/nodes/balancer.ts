// A load balancer that retries nothing: it passes each request to the next node whose /readyz is 200, and what breaks there breaks here.
import { createServer, type IncomingMessage, request as ask, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Balancer {
  readonly url: string;
  /** Requests passed to each node, in the order of the nodes. */
  readonly passed: readonly number[];
  /** Requests that found no node, and those whose node broke off. */
  refused(): number;
  broken(): number;
  close(): Promise<void>;
}

const LOOK_MS = 250;
const READY_WITHIN_MS = 2_000;
/** Longer than clients leave a connection idle: who closes it first must not be in doubt. */
const CLIENT_IDLE_MS = 600_000;

/** What is for this connection alone. */
const OF_CONNECTION = ['connection', 'keep-alive', 'transfer-encoding', 'upgrade'];

/** Listens on 127.0.0.1. `urls`: of the nodes. */
export async function startBalancer(urls: readonly string[]): Promise<Balancer> {
  const isReady = urls.map(() => false);
  const passed = urls.map(() => 0);
  let [last, refused, broken] = [0, 0, 0];
  let isOpen = true;

  async function watch(node: number): Promise<void> {
    while (isOpen) {
      const signal = AbortSignal.timeout(READY_WITHIN_MS);
      const response = await fetch(`${urls[node]}/readyz`, { signal, headers: { connection: 'close' } }).catch(
        () => undefined,
      );
      await response?.body?.cancel().catch(() => undefined);
      isReady[node] = response?.status === 200;
      await sleep(LOOK_MS);
    }
  }

  function next(): number | undefined {
    const ready = [...urls.keys()].filter((node) => isReady[node]);
    const chosen = ready.find((node) => node > last) ?? ready[0];
    if (chosen !== undefined) last = chosen;
    return chosen;
  }

  function pass(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const node = next();
    if (node === undefined) return refuse(outgoing);
    passed[node]! += 1;
    const { method, headers } = incoming;
    const onward = ask(`${urls[node]}${incoming.url}`, { method, headers: withoutConnection(headers), agent: false });
    const fail = (error: NodeJS.ErrnoException) => {
      // It has heard nothing of the request.
      if (error.code === 'ECONNREFUSED') return refuse(outgoing);
      if (!outgoing.destroyed && !outgoing.writableEnded) broken += 1;
      outgoing.destroy();
    };
    onward.on('error', fail);
    onward.once('response', (reply) => {
      reply.on('error', fail);
      outgoing.writeHead(reply.statusCode!, reply.statusMessage, withoutConnection(reply.headers));
      outgoing.flushHeaders();
      reply.pipe(outgoing);
    });
    incoming.pipe(onward);
    outgoing.once('close', () => onward.destroy());
    outgoing.on('error', () => onward.destroy());
  }

  function refuse(outgoing: ServerResponse): void {
    refused += 1;
    outgoing.writeHead(503, { 'content-type': 'text/plain', 'retry-after': '1' }).end('No node is ready.');
  }

  const server = createServer({ requestTimeout: 0, keepAliveTimeout: CLIENT_IDLE_MS }, pass);
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  const watching = Promise.all([...urls.keys()].map(watch));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed,
    refused: () => refused,
    broken: () => broken,
    close: async () => {
      isOpen = false;
      server.closeAllConnections();
      server.close();
      await watching;
    },
  };
}

function withoutConnection(headers: IncomingMessage['headers']): IncomingMessage['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_CONNECTION.includes(name)));
}
