// Sends JSON replies, and refuses bodies it will not read without losing the answer on the way.
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
  /** What an envelope says; `ok` when absent. */
  readonly message?: string;
}

export function ok<B extends object>(body: B): Reply<B> {
  return { status: 200, body };
}

export function created<B extends object>(body: B): Reply<B> {
  return { status: 201, body };
}

// Secrets pass through the management API's replies: nothing on the way may keep them.
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

/** The same for a body with long lists: others get their turn while it is made. */
export async function sendLongJson(res: ServerResponse, reply: Reply, clock: Clock): Promise<void> {
  res.end(begin(res, reply, await longJson(reply.body, makePause(clock))));
}

/**
 * Sends a reply while the request's body is still arriving, then closes the connection. Closing at once would reset it,
 * and a client still busy sending would never see the answer: what arrives is thrown away for a moment first.
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
