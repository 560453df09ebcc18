// A server in place of a daemon behind a balancer: it is ready or not, stands still or dies as a test needs, and knows what it was asked.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

export interface StandInExchange {
  readonly asked: IncomingMessage;
  readonly reply: ServerResponse;
}

/** `busy`: `/readyz` is 503. `still`: it takes connections and answers nothing. */
export type StandInState = 'ready' | 'busy' | 'still';

export interface StandIn {
  /** HOST:PORT. */
  readonly address: string;
  /** What it was asked but for its health, in order. */
  readonly asked: readonly StandInExchange[];
  become(state: StandInState): void;
  /** How often its readiness was asked for since it became what it is. */
  checks(): number;
  /** Answers, when the whole body was read. */
  answer: (exchange: StandInExchange) => unknown;
  /** Ends all connections, and opens no more. */
  die(): Promise<void>;
}

/** Starts one that says its name to every request. */
export async function startStandIn(name: string): Promise<StandIn> {
  const asked: StandInExchange[] = [];
  let state: StandInState = 'ready';
  let checks = 0;
  const server = createServer((request, reply) => void serve(request, reply));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => end(server));
  const standIn: StandIn = {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    become: (next) => void ([state, checks] = [next, 0]),
    checks: () => checks,
    answer: ({ reply }) => reply.end(name),
    die: async () => end(server),
  };

  async function serve(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    if (request.url === '/readyz') checks += 1;
    else if (request.url !== '/healthz') {
      await text(request);
      asked.push({ asked: request, reply });
      if (state !== 'still') standIn.answer({ asked: request, reply });
      return;
    }
    if (state !== 'still') reply.writeHead(state === 'busy' && request.url === '/readyz' ? 503 : 200).end();
  }

  return standIn;
}

async function end(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
