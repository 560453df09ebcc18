// When the client of a request disconnects.
import type { Exchange } from './exchange.ts';

/** Aborts when the response has ended, or its client has disconnected. */
export function untilGone({ res }: Pick<Exchange, 'res'>): AbortSignal {
  const gone = new AbortController();
  res.once('close', () => gone.abort());
  if (res.destroyed) gone.abort();
  return gone.signal;
}
