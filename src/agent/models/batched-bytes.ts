// Bytes of a model's stream in fewer pieces: everything above them costs by the piece.
import type { Readable } from 'node:stream';

/**
 * The body as a web stream. The first bytes after a quiet time pass at once; those that arrive within `gatherMs()` of the
 * last piece come together at the end of that time. A consumer that does not read holds the socket back.
 */
export function batchedBytes(body: Readable, gatherMs: () => number): ReadableStream<Uint8Array> {
  let waiting: Buffer[] = [];
  let timer: NodeJS.Timeout | undefined;
  let sentAt = -Infinity;

  const flush = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.length === 0) return;
    const [first] = waiting;
    controller.enqueue(waiting.length === 1 && first !== undefined ? first : Buffer.concat(waiting));
    waiting = [];
    sentAt = performance.now();
    if ((controller.desiredSize ?? 1) <= 0) body.pause();
  };
  const drop = () => {
    clearTimeout(timer);
    waiting = [];
  };
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        body.on('data', (chunk: Buffer) => {
          waiting.push(chunk);
          const waitMs = gatherMs() - (performance.now() - sentAt);
          if (waitMs <= 0) flush(controller);
          else timer ??= setTimeout(flush, waitMs, controller);
        });
        body.once('end', () => {
          flush(controller);
          controller.close();
        });
        body.on('error', (error) => {
          drop();
          controller.error(error);
        });
      },
      pull: () => void body.resume(),
      cancel: () => {
        drop();
        body.destroy();
      },
    },
    { highWaterMark: 4 },
  );
}
