// The `fetch` of the protocol's library, over the daemon's address, which may be a Unix socket.
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { isRefusal, refusalOf } from '../transport/exchange.ts';
import { type Address, send } from '../transport/transport.ts';

/** Answers of these are of the protocol itself. */
const TOLD_BY_PROTOCOL: ReadonlySet<number> = new Set([400, 405]);

/** Makes it: of the address of a request, only the path counts. Throws ClientError for what the daemon refuses. */
export function makeDaemonFetch(address: Address, token: string): typeof fetch {
  return async (input, init = {}) => {
    const { method = 'GET', body, signal } = init;
    const reply = await send(address, {
      method: method as 'GET' | 'POST' | 'DELETE',
      path: new URL(input instanceof Request ? input.url : input).pathname,
      headers: Object.fromEntries(new Headers(init.headers)),
      token,
      ...(typeof body === 'string' && { body: JSON.parse(body) as object }),
      ...(signal && { signal }),
    });
    const status = reply.statusCode ?? 0;
    if (isRefusal(reply) && !TOLD_BY_PROTOCOL.has(status)) throw await refusalOf(reply);
    const headers = { 'content-type': reply.headers['content-type'] ?? '' };
    const isEmpty = status === 202 || status === 204;
    if (isEmpty) reply.resume();
    return new Response(isEmpty ? null : webStreamOf(reply), { status, headers });
  };
}

const webStreamOf = (reply: Readable) => Readable.toWeb(reply) as ReadableStream<Uint8Array>;
