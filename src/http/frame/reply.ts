// Sends replies, JSON or pages, and refuses bodies that it will not read in such a way that the client receives the reply.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../domain/clock.ts';
import { makePause } from '../../domain/pauses.ts';
import { type Headers, limitStall, setHeaders, writeHead } from './head.ts';
import { Html } from './html.ts';
import { longJson } from './long-json.ts';

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

export function created<B extends object>(body: B): Reply<B> {
  return { status: 201, body };
}

// Replies of the management API may contain secrets, so caches and proxies must not store them.
const PRIVATE = { 'Cache-Control': 'no-store' };

/** A success of the management API in its envelope (A2). */
export function inEnvelope({ status, headers, body, message = 'ok' }: Reply): Reply {
  return { status, headers: { ...headers, ...PRIVATE }, body: { code: 0, message, data: body } };
}

const JSON_TYPE = 'application/json; charset=utf-8';
const HTML_TYPE = 'text/html; charset=utf-8';
const LINGER_MS = 2_000;
/** Less fits into what the system holds for a connection. */
const LONG_BYTES = 65_536;

/** Sends a reply. For HEAD Node keeps the headers and drops the body (A7). */
export function sendReply(res: ServerResponse, reply: Reply): void {
  const chunks = begin(res, reply, bytesOf(reply));
  const last = chunks.pop();
  writeAll(res, chunks);
  res.end(last);
}

/** The same for a body with long lists, yielding to other requests between slices. */
export async function sendLongJson(res: ServerResponse, reply: Reply, clock: Clock): Promise<void> {
  const bytes = await longJson(reply.body, makePause(clock));
  begin(res, reply, [bytes]);
  res.end(bytes);
}

/**
 * Sends a reply while the request's body is still arriving, then closes the connection. Closing at once would reset it, and
 * a client that is still sending would never see the reply, so what arrives is discarded for a moment first.
 */
export function sendReplyAndClose(req: IncomingMessage, res: ServerResponse, reply: Reply, clock: Clock): void {
  setHeaders(res, { Connection: 'close' });
  writeAll(res, begin(res, reply, bytesOf(reply)));
  const finish = () => {
    timer.cancel();
    res.end();
  };
  const timer = clock.after(LINGER_MS, finish);
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
  if (length > LONG_BYTES) limitStall(res);
  return chunks;
}

/** Nothing is copied: what many readers are sent is held once. */
function writeAll(res: ServerResponse, chunks: readonly Uint8Array[]): void {
  for (const chunk of chunks) res.write(chunk);
}
