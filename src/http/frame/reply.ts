// Sends JSON replies, and refuses bodies that it will not read in such a way that the client receives the reply.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../domain/clock.ts';
import { makePause } from '../../domain/pauses.ts';
import { type Headers, setHeaders, writeHead } from './head.ts';
import { longJson } from './long-json.ts';

/** What a handler answers. */
export interface Reply<B extends object = object> {
  readonly status: number;
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
const LINGER_MS = 2_000;

/** Sends a reply. For HEAD Node keeps the headers and drops the body (A7). */
export function sendJson(res: ServerResponse, reply: Reply): void {
  res.end(begin(res, reply, jsonOf(reply)));
}

/** The same for a body with long lists, yielding to other requests between slices. */
export async function sendLongJson(res: ServerResponse, reply: Reply, clock: Clock): Promise<void> {
  res.end(begin(res, reply, await longJson(reply.body, makePause(clock))));
}

/**
 * Sends a reply while the request's body is still arriving, then closes the connection. Closing at once would reset it, and
 * a client that is still sending would never see the reply, so what arrives is discarded for a moment first.
 */
export function sendJsonAndClose(req: IncomingMessage, res: ServerResponse, reply: Reply, clock: Clock): void {
  setHeaders(res, { Connection: 'close' });
  res.write(begin(res, reply, jsonOf(reply)));
  const finish = () => {
    timer.cancel();
    res.end();
  };
  const timer = clock.after(LINGER_MS, finish);
  req.once('end', finish);
  req.once('close', finish);
  req.resume();
}

const jsonOf = ({ body }: Reply) => Buffer.from(JSON.stringify(body));

/** Writes the head; returns the bytes of the body. */
function begin(res: ServerResponse, reply: Reply, body: Buffer): Buffer {
  writeHead(res, reply.status, { ...reply.headers, 'Content-Type': JSON_TYPE, 'Content-Length': body.length });
  return body;
}
