// Sends what the library answers a message with.
import type { Clock } from '../../domain/clock.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Exchange } from '../frame/exchange.ts';
import { paceOf, untilTaken } from '../replies/backlog.ts';
import { writeHead } from '../replies/head.ts';
import { renderedJson, type Streamed } from '../replies/json-pieces.ts';
import type { Reply } from '../replies/reply.ts';
import { openEventStream } from '../replies/sse.ts';

/** JSON becomes a reply. A stream is sent here, until it ends or its reader does; whatever is absent, at once. */
export async function sendResponse(
  { res }: Exchange,
  response: Response,
  clock: Clock,
): Promise<Reply<Streamed<JsonObject>> | undefined> {
  const { status, body } = response;
  if (body === null) {
    writeHead(res, status, {});
    res.end();
    return undefined;
  }
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true)
    return { status, body: renderedJson<JsonObject>(await response.text()) };
  const reader = body.getReader();
  // Its end may be a long way off.
  const leave = () => void reader.cancel().catch(() => undefined);
  res.once('close', leave);
  const stream = openEventStream(res);
  stream.flush();
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      void stream.send(Buffer.from(piece.value));
      await paceOf(res, clock);
    }
  } finally {
    res.off('close', leave);
  }
  stream.end();
  await untilTaken(res, clock);
  return undefined;
}
