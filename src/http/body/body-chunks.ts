// The chunks of a request's body, from a client that keeps sending.
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../domain/clock.ts';
import { ErrandError } from '../../domain/errors.ts';

/** How long a client may stall, initially and at most, and how it earns more time. */
const FIRST_IDLE_TIMEOUT_MS = 10_000;
const MAX_IDLE_TIMEOUT_MS = 30_000;
const BYTES_PER_SECOND = 1_024;

const EVENTS = ['readable', 'end', 'close', 'error'] as const;

/**
 * Yields the body's chunks. Only waiting for the client counts as its time, not processing a chunk. Throws `request_timeout`
 * when it sends less than 1 KB a second, `bad_request` when it disconnects in the middle.
 */
export async function* chunksOf(req: IncomingMessage, clock: Clock): AsyncGenerator<Buffer> {
  let idleTimeoutMs = FIRST_IDLE_TIMEOUT_MS;
  for (;;) {
    const chunk = req.read() as Buffer | null;
    if (chunk !== null) {
      idleTimeoutMs = Math.min(MAX_IDLE_TIMEOUT_MS, idleTimeoutMs + (chunk.length * 1_000) / BYTES_PER_SECOND);
      yield chunk;
    } else if (req.readableEnded || (req.complete && req.readableLength === 0)) {
      // All has come in; what is left is that the stream says so.
      return;
    } else {
      if (req.destroyed) throw new ErrandError('bad_request', 'The body ended before it was complete.');
      const since = clock.monotonic();
      if (!(await hasMore(req, idleTimeoutMs, clock)))
        throw new ErrandError('request_timeout', 'The body took too long to arrive.');
      idleTimeoutMs = Math.max(1, idleTimeoutMs - (clock.monotonic() - since));
    }
  }
}

/** Waits for data. Returns false when the time is over. Leaves no listener behind. */
async function hasMore(req: IncomingMessage, idleTimeoutMs: number, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (inTime: boolean) => {
      timer.cancel();
      for (const event of EVENTS) req.off(event, look);
      resolve(inTime);
    };
    const look = () => settle(true);
    const timer = clock.after(idleTimeoutMs, () => settle(false));
    for (const event of EVENTS) req.on(event, look);
  });
}
