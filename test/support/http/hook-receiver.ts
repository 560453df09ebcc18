// A receiver of webhooks on loopback, which records what arrives and can be away.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { freePort } from './free-port.ts';

/** One request, as it came in. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The exact bytes. */
  readonly body: Buffer;
  readonly eventId: string;
  readonly eventType: string;
}

/** `cut` ends the connection without a reply. */
export type HookReply =
  | number
  | 'cut'
  | { readonly status: number; readonly headers: Readonly<Record<string, string>> };

export type Answer = (request: Received) => HookReply | Promise<HookReply>;

export interface HookReceiver {
  readonly port: number;
  /** Such as `http://127.0.0.1:40123`. */
  readonly url: string;
  /** Every request with a whole body so far, in order. */
  readonly received: readonly Received[];
  /** How it replies from now on; at first 204. */
  answer(how: Answer): void;
  /** Refuses connections, and ends those that there are. */
  off(): Promise<void>;
  /** Listens again, at the same port. */
  on(): Promise<void>;
}

/** Listens on 127.0.0.1 until it is off. */
export async function startHookReceiver(): Promise<HookReceiver> {
  const received: Received[] = [];
  let answer: Answer = () => 204;

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const { headers, url: path = '' } = request;
    const [eventId, eventType] = [String(headers['x-service-event-id']), String(headers['x-service-event'])];
    const one: Received = { path, headers, body, eventId, eventType };
    received.push(one);
    const reply = await answer(one);
    if (reply === 'cut') request.destroy();
    else if (typeof reply === 'number') response.writeHead(reply).end();
    else response.writeHead(reply.status, { ...reply.headers }).end();
  }

  const server = createServer((request, response) => {
    receive(request, response).catch(() => request.destroy());
  });
  const listen = async (port: number) => new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  // It is listened at again, after a while.
  const port = await freePort();
  await listen(port);
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    received,
    answer: (how) => {
      answer = how;
    },
    off: async () => {
      if (!server.listening) return;
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeAllConnections();
      await closed;
    },
    on: async () => listen(port),
  };
}
