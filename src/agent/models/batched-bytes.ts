// Delivers the bytes of a model's stream in fewer chunks: all later processing costs per chunk.
import type { Readable } from 'node:stream';
import type { Listener } from './observation.ts';

/** How long a server may keep its connection open after the end of its reply. */
const LINGER_MS = 1_000;
/** Gathered bytes are passed on at this size, regardless of the time. */
const MAX_GATHERED_BYTES = 64 * 1024;

/**
 * The body as a web stream. The first bytes after a quiet time pass at once; those that arrive within `gatherMs()` of the last
 * chunk are delivered together at the end of that time. A consumer that does not read applies backpressure to the socket. The
 * listener gets each chunk before it is buffered; the stream ends when the listener has seen enough.
 */
export function batchedBytes(body: Readable, gatherMs: () => number, listener: Listener): ReadableStream<Uint8Array> {
  let gatherer: Gatherer | undefined;
  let isOver = false;

  const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const { add, flush, drop } = makeGatherer(gatherMs, (piece) => {
      controller.enqueue(piece);
      if ((controller.desiredSize ?? 1) <= 0) body.pause();
    });
    gatherer = { add, flush, drop };
    const close = () => {
      isOver = true;
      flush();
      controller.close();
    };
    body.on('data', (chunk: Buffer) => {
      if (isOver) return;
      const verdict = listener.take(chunk);
      if (verdict !== 'surplus') add(chunk);
      if (verdict === 'more') return;
      close();
      // After a complete reply the connection is reused, once its last bytes have arrived.
      if (verdict === 'last') leaveSoon(body);
      else body.destroy();
    });
    body.once('end', () => {
      if (isOver) return;
      listener.end();
      close();
    });
    body.on('error', (error) => {
      if (isOver) return;
      isOver = true;
      drop();
      controller.error(error);
    });
  };
  const cancel = () => {
    isOver = true;
    gatherer?.drop();
    body.destroy();
  };
  return new ReadableStream<Uint8Array>({ start, pull: () => void body.resume(), cancel }, { highWaterMark: 4 });
}

interface Gatherer {
  add(chunk: Buffer): void;
  /** Passes on what is buffered. */
  flush(): void;
  /** Discards what is buffered. */
  drop(): void;
}

function makeGatherer(gatherMs: () => number, emit: (piece: Buffer) => void): Gatherer {
  let waiting: Buffer[] = [];
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;
  let sentAt = -Infinity;

  const drop = () => {
    clearTimeout(timer);
    timer = undefined;
    waiting = [];
    bytes = 0;
  };
  const flush = () => {
    const [first] = waiting;
    const piece = waiting.length === 1 ? first : Buffer.concat(waiting);
    drop();
    if (piece === undefined || piece.length === 0) return;
    sentAt = performance.now();
    emit(piece);
  };
  const add = (chunk: Buffer) => {
    waiting.push(chunk);
    bytes += chunk.length;
    const waitMs = bytes >= MAX_GATHERED_BYTES ? 0 : gatherMs() - (performance.now() - sentAt);
    if (waitMs <= 0) flush();
    else timer ??= setTimeout(flush, waitMs);
  };
  return { add, flush, drop };
}

function leaveSoon(body: Readable): void {
  const timer = setTimeout(() => body.destroy(), LINGER_MS).unref();
  body.once('close', () => clearTimeout(timer));
  body.resume();
}
