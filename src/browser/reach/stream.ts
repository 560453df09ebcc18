// Opens a stream of events with `fetch`, which unlike `EventSource` sends the last event's id and a key as headers.
import { ClientError, isClientFailure } from '../../client/transport/client-error.ts';
import type { OpenStream } from '../../client/transport/event-stream.ts';
import type { Credential } from './credential.ts';
import { refusal, send } from './send.ts';

/** A stream counts as broken after this silence: the daemon pings far more often, unless something holds back what it sends. */
const IDLE_MS = 60_000;

/** Opens the stream at an address, as often as it is followed. */
export function streamOpener(address: string, { headers }: Credential): OpenStream {
  return async (lastEventId, signal) => {
    const controller = new AbortController();
    const close = () => controller.abort();
    signal?.addEventListener('abort', close, { once: true });
    const connecting = setTimeout(close, IDLE_MS);
    const leave = () => {
      clearTimeout(connecting);
      signal?.removeEventListener('abort', close);
      close();
    };
    try {
      const last = lastEventId === null ? {} : { 'last-event-id': lastEventId };
      const reply = await send(address, {
        headers: { accept: 'text/event-stream', ...last, ...headers() },
        signal: controller.signal,
      });
      clearTimeout(connecting);
      if (!reply.ok) throw refusal(reply.status, undefined);
      const isStream = reply.headers.get('content-type')?.startsWith('text/event-stream') === true;
      if (!isStream || reply.body === null) {
        throw new ClientError({ kind: 'malformed' }, 'What answers there is not an Errand daemon.');
      }
      return { chunks: chunksOf(reply.body, close), lost: lostOf, close: leave };
    } catch (error) {
      leave();
      throw signal?.aborted === true ? error : lostOf(error);
    }
  };
}

/** The bytes of a stream, until it ends or falls silent. */
async function* chunksOf(body: ReadableStream<Uint8Array>, close: () => void): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  for (;;) {
    const silence = setTimeout(close, IDLE_MS);
    try {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    } finally {
      clearTimeout(silence);
    }
  }
}

function lostOf(error: unknown): Error {
  if (isClientFailure(error, 'malformed', 'refused', 'unreachable')) return error;
  return new ClientError({ kind: 'lost' }, 'The connection to the daemon was lost.', { cause: error });
}
