// A connection to an event stream: opened, opened again after it broke, and listened to for silence.
import type { IncomingMessage } from 'node:http';
import { ClientError, isClientFailure, isTransient } from './client-error.ts';
import type { OpenStream } from './event-stream.ts';
import { isRefusal, refusalOf } from './exchange.ts';
import type { ReconnectBackoff } from './reconnect-backoff.ts';
import { lostWhile, send, traceOf, type Address, type Call } from './transport.ts';

const IDLE_TIMEOUT_MS = 60_000;

/** Resolves with the head of the stream. Throws `refused`, and `malformed` for anything but an event stream. */
export async function openStream(address: Address, call: Call): Promise<IncomingMessage> {
  const reply = await send(address, call);
  if (isRefusal(reply)) throw await refusalOf(reply);
  if (reply.headers['content-type']?.startsWith('text/event-stream') === true) return reply;
  reply.destroy();
  throw new ClientError({ kind: 'malformed' }, 'What answers there is not an Errand daemon.');
}

/** Retries until an attempt succeeds. Throws `lost` after the last attempt, and at once any error that isn't transient. */
export async function retry<T>(backoff: ReconnectBackoff, attempt: () => Promise<T>, lost: ClientError): Promise<T> {
  while (await backoff.pause()) {
    try {
      return await attempt();
    } catch (error) {
      if (!isTransient(error)) throw error;
    }
  }
  throw lost;
}

/** The bytes of a stream, which counts as broken after a silence; the daemon pings far more often (C10). */
export function withIdleTimeout(
  reply: IncomingMessage,
  idleTimeoutMs: number = IDLE_TIMEOUT_MS,
): AsyncIterable<Uint8Array> {
  reply.setTimeout(idleTimeoutMs, () => reply.destroy(new Error('The stream fell silent.')));
  return reply;
}

/** Opens a stream of events at a path, as often as it is followed. */
export function streamOpener(address: Address, path: string): OpenStream {
  return async (lastEventId, signal) => {
    const reply = await openStream(address, {
      method: 'GET',
      path,
      headers: { accept: 'text/event-stream', ...(lastEventId !== null && { 'last-event-id': lastEventId }) },
      ...(signal && { signal }),
    });
    return {
      chunks: withIdleTimeout(reply),
      lost: (error) => {
        const lost = lostWhile(error, traceOf(reply));
        const isSaid = isClientFailure(lost, 'malformed') || lost.name === 'AbortError';
        return isSaid ? lost : new ClientError({ kind: 'lost' }, lost.message, { cause: error });
      },
      close: () => void reply.destroy(),
    };
  };
}
