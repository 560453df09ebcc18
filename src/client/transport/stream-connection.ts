// A connection to an event stream: opened, opened again after it broke, and listened to for silence.
import type { IncomingMessage } from 'node:http';
import { ClientError } from './client-error.ts';
import { isRefusal, refusalOf } from './exchange.ts';
import { isTransient, type ReconnectBackoff } from './reconnect-backoff.ts';
import { send, type Address, type Call } from './transport.ts';

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
