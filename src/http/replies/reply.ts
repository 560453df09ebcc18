// Sends replies, JSON or pages, and refuses bodies that it will not read in such a way that the client receives the reply.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../domain/clock.ts';
import type { Pause } from '../../domain/loop/slices.ts';
import { paceOf, untilTaken } from './backlog.ts';
import { type Headers, setHeaders, writeHead } from './head.ts';
import { Html } from './html.ts';
import { isLight } from '../../domain/long-json.ts';
import { hasStreamed, piecesOf } from './json-pieces.ts';
import type { ReplyShare } from './reply-budget.ts';

/** What a handler answers. */
export interface Reply<B extends object = object> {
  readonly status: number;
  /** JSON, unless it is `Html`. */
  readonly body: B;
  readonly headers?: Headers;
  /** The envelope's message; `ok` when absent. */
  readonly message?: string;
}

export function ok<B extends object>(body: B): Reply<B> {
  return { status: 200, body };
}

// Replies of the management API may contain secrets, so caches and proxies must not store them.
const PRIVATE = { 'Cache-Control': 'no-store' };

/** A success of the management API in its envelope (A2). */
export function inEnvelope({ status, headers, body, message = 'ok' }: Reply): Reply {
  return { status, headers: { ...PRIVATE, ...headers }, body: { code: 0, message, data: body } };
}

const JSON_TYPE = 'application/json; charset=utf-8';
const HTML_TYPE = 'text/html; charset=utf-8';
/** How long a client that was refused may go on sending: after its last byte, and in total. */
const LINGER_MS = 5_000;
const LONGEST_LINGER_MS = 30_000;
/** What is written at once. */
const CHUNK_CHARACTERS = 32_768;
/** A longer reply begins before its length is known. */
const LONGEST_KNOWN_BYTES = 65_536;

/** Sends a short reply at once. For HEAD Node keeps the headers and drops the body (A7). */
export function sendReply(res: ServerResponse, reply: Reply): void {
  const chunks = begin(res, reply, bytesOf(reply));
  const last = chunks.pop();
  writeAll(res, chunks);
  res.end(last);
}

/** What sending a reply takes. */
export interface Sending {
  /** What the reply holds. */
  readonly share: ReplyShare;
  readonly pause: Pause;
  readonly clock: Clock;
}

/** Sends a reply of any size: JSON in pieces, as the client takes them. Returns when nothing of it is held any more. */
export async function sendWhole(res: ServerResponse, reply: Reply, sending: Sending): Promise<void> {
  const { body } = reply;
  if (body instanceof Html || (!hasStreamed(body) && isLight(body))) sendReply(res, reply);
  else await sendJson(res, reply, sending);
  await untilTaken(res, sending.clock);
}

async function sendJson(res: ServerResponse, reply: Reply, { share, pause, clock }: Sending): Promise<void> {
  const chunks: Buffer[] = [];
  let [text, length] = ['', 0];

  async function put(): Promise<void> {
    chunks.push(Buffer.from(text));
    length += chunks.at(-1)!.length;
    text = '';
    if (length <= LONGEST_KNOWN_BYTES) return;
    if (!res.headersSent) writeHead(res, reply.status, { ...reply.headers, 'Content-Type': JSON_TYPE });
    writeAll(res, chunks.splice(0));
    await paceOf(res, clock);
  }

  const room = { hold: share.hold, pause };
  for await (const piece of piecesOf(reply.body, room)) {
    text += piece;
    await pause();
    if (text.length >= CHUNK_CHARACTERS) await put();
    // For HEAD, it is known by then whether there is a length.
    if (res.destroyed || (res.headersSent && res.req.method === 'HEAD')) break;
  }
  if (res.headersSent) res.end(text);
  else {
    chunks.push(Buffer.from(text));
    writeAll(res, begin(res, reply, chunks));
    res.end();
  }
}

/**
 * Sends a reply while the request's body is still arriving, then closes the connection. Closing at once would reset it, and
 * a client that is still sending would never see the reply, so what arrives is discarded first, for as long as it may send.
 */
export function sendReplyAndClose(req: IncomingMessage, res: ServerResponse, reply: Reply, clock: Clock): void {
  setHeaders(res, { Connection: 'close' });
  writeAll(res, begin(res, reply, bytesOf(reply)));
  const finish = () => {
    silence.cancel();
    last.cancel();
    res.end();
  };
  let silence = clock.after(LINGER_MS, finish);
  const last = clock.after(LONGEST_LINGER_MS, finish);
  req.on('data', () => {
    silence.cancel();
    silence = clock.after(LINGER_MS, finish);
  });
  req.once('end', finish);
  req.once('close', finish);
  req.resume();
}

function bytesOf({ body }: Reply): Uint8Array[] {
  if (!(body instanceof Html)) return [Buffer.from(JSON.stringify(body))];
  return body.parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part));
}

/** Writes the head; returns the chunks of the body. */
function begin(res: ServerResponse, reply: Reply, chunks: Uint8Array[]): Uint8Array[] {
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  const type = reply.body instanceof Html ? HTML_TYPE : JSON_TYPE;
  writeHead(res, reply.status, { ...reply.headers, 'Content-Type': type, 'Content-Length': length });
  return chunks;
}

/** Nothing is copied: what many readers are sent is held once. */
function writeAll(res: ServerResponse, chunks: readonly Uint8Array[]): void {
  for (const chunk of chunks) res.write(chunk);
}
