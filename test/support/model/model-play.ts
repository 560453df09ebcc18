// Plays one scripted reply onto an HTTP response, with its pace and its faults.
import type { ServerResponse } from 'node:http';
import type { ModelQuestion, Reply } from './model-reply.ts';
import type { StreamWire } from './model-wire.ts';
import { errorWireOf, jsonWireOf, streamWireOf } from './model-wire.ts';

/** One reply on its way out. `cutting` is called right before this side destroys the connection. */
export interface Performance {
  readonly question: ModelQuestion;
  readonly reply: Reply;
  readonly response: ServerResponse;
  readonly cutting: () => void;
}

const SSE = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };
const PAGE = '<!doctype html><html><head><title>502 Bad Gateway</title></head><body>Bad Gateway</body></html>\n';

/** Replies to one request as its reply says. Returns at once; what takes time continues on timers. */
export function play(performance: Performance): void {
  const { question, reply, response } = performance;
  if (reply.hang === 'before-headers') {
    const { hang: _over, until, ...rest } = reply;
    void until?.then(() => play({ ...performance, reply: rest }));
    return;
  }
  if (reply.refuse === true) {
    performance.cutting();
    response.socket?.resetAndDestroy();
    return;
  }
  if (reply.status !== undefined) return playError(performance, reply.status);
  if (reply.html === true) {
    response.writeHead(200, { ...reply.headers, 'content-type': 'text/html' }).end(PAGE);
    return;
  }
  if (question.body.stream === true) playStream(performance);
  else playJson(performance);
}

function playError({ question, reply, response }: Performance, status: number): void {
  const body = reply.body ?? errorWireOf(question.protocol, status);
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', ...reply.headers }).end(text);
}

function playJson(performance: Performance): void {
  const { question, reply, response } = performance;
  const text = jsonWireOf(question.protocol, question.body, reply);
  const deltas = Array.isArray(reply.text) ? reply.text.length : 1;
  const delayMs = (reply.firstMs ?? 0) + (reply.deltaMs ?? 0) * deltas;
  const headers = { ...reply.headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  if (reply.hang === 'after-headers') {
    response.writeHead(200, headers).flushHeaders();
    return;
  }
  after(response, delayMs, () => {
    response.writeHead(200, headers);
    if (reply.endless === true || reply.hang === 'mid-stream') response.write(text.slice(0, text.length / 2));
    else if (reply.cut !== undefined) cutAfter(performance, text.slice(0, text.length / 2));
    else if (reply.brokenJson !== undefined) response.end(brokenOf(text));
    else if (reply.drip !== undefined) drip(response, Buffer.from(text), reply.drip);
    else response.end(text);
  });
}

/** The same number of bytes, no longer JSON. */
function brokenOf(text: string): string {
  return `${text.slice(0, -1)}]`;
}

function playStream(performance: Performance): void {
  const { question, reply, response } = performance;
  const wire = streamWireOf(question.protocol, question.body, reply);
  response.writeHead(200, { ...reply.headers, ...SSE });
  if (reply.hang === 'after-headers') {
    response.flushHeaders();
    return;
  }
  if (reply.wire !== undefined) return playWire(response, reply, reply.wire);
  if (reply.drip !== undefined) return drip(response, Buffer.from(wholeOf(wire, reply)), reply.drip);
  if (reply.endless === true) return playEndless(performance, wire);
  const paced = (reply.deltaMs ?? 0) > 0 || (reply.firstMs ?? 0) > 0;
  if (paced) return playPaced(performance, wire);
  const stop = stopOf(reply, wire);
  if (stop === undefined) response.end(wholeOf(wire, reply));
  else {
    response.write(wire.head + rendered(wire.deltas.slice(0, stop), reply, wire));
    stopHere(performance, wire, stop);
  }
}

function wholeOf(wire: StreamWire, reply: Reply): string {
  return wire.head + rendered(wire.deltas, reply, wire) + wire.tail;
}

function rendered(deltas: StreamWire['deltas'], reply: Reply, wire: StreamWire): string {
  let text = '';
  for (const [i, delta] of deltas.entries()) text += (i === reply.brokenJson ? wire.broken : '') + delta();
  return deltas.length === reply.brokenJson ? text + wire.broken : text;
}

/** After how many deltas the reply is not continued; undefined when it runs to its end. */
function stopOf(reply: Reply, wire: StreamWire): number | undefined {
  const stop = reply.cut ?? (reply.hang === 'mid-stream' ? (reply.afterDeltas ?? 1) : undefined);
  return stop === undefined ? undefined : Math.min(stop, wire.deltas.length);
}

/** A hang leaves the stream open, perhaps for a while; a cut breaks it in the middle of the next delta. */
function stopHere(performance: Performance, wire: StreamWire, stop: number): void {
  const { reply } = performance;
  if (reply.cut === undefined) {
    const { hang: _over, until, ...rest } = reply;
    void until?.then(() =>
      playPaced({ ...performance, reply: rest }, { ...wire, head: '', deltas: wire.deltas.slice(stop) }),
    );
    return;
  }
  const next = wire.deltas[stop]?.() ?? wire.tail;
  cutAfter(performance, next.slice(0, next.length / 2));
}

function cutAfter({ reply, response, cutting }: Performance, text: string): void {
  void Promise.resolve(reply.cutAfter).then(() => {
    cutting();
    // Destroyed only once the bytes are handed to the kernel: the client must see them before the end.
    response.write(text, () => response.socket?.destroy());
  });
}

function playPaced(performance: Performance, wire: StreamWire): void {
  const { reply, response } = performance;
  const everyMs = reply.deltaMs ?? 0;
  const stop = stopOf(reply, wire);
  let next = 0;
  response.write(wire.head);
  const start = now() + (reply.firstMs ?? 0);
  const send = (): void => {
    // By the clock, not by counting timers: a late timer does not push all later deltas back.
    const due = everyMs === 0 ? wire.deltas.length : Math.floor((now() - start) / everyMs) + 1;
    const until = Math.min(Math.max(due, next + 1), stop ?? wire.deltas.length);
    let text = '';
    for (; next < until; next += 1)
      text += (next === reply.brokenJson ? wire.broken : '') + (wire.deltas[next]?.() ?? '');
    if (text !== '') response.write(text);
    if (next === stop) stopHere(performance, wire, next);
    else if (next >= wire.deltas.length) response.end((next === reply.brokenJson ? wire.broken : '') + wire.tail);
    else after(response, start + next * everyMs - now(), send);
  };
  after(response, reply.firstMs ?? 0, send);
}

function playEndless(performance: Performance, wire: StreamWire): void {
  const { reply, response } = performance;
  const everyMs = reply.deltaMs ?? 0;
  const { deltas } = wire;
  let next = -1;
  const sendOne = (): boolean => {
    next += 1;
    return response.write(deltas[next % deltas.length]?.() ?? '');
  };
  const sendMany = (): boolean => {
    for (let i = 0; i < 64; i += 1) if (!sendOne()) return false;
    return true;
  };
  const send = (): void => {
    const room = everyMs === 0 ? sendMany() : sendOne();
    if (!room) response.once('drain', send);
    else if (everyMs === 0) setImmediate(() => response.destroyed || send());
    else after(response, everyMs, send);
  };
  response.write(wire.head);
  after(response, reply.firstMs ?? 0, send);
}

function playWire(response: ServerResponse, reply: Reply, wire: string): void {
  if (reply.endless !== true) {
    response.write(wire);
    if (reply.linger !== true) response.end();
    return;
  }
  const send = (): void => {
    while (!response.destroyed) {
      if (response.write(wire)) continue;
      response.once('drain', send);
      return;
    }
  };
  send();
}

function drip(response: ServerResponse, bytes: Buffer, everyMs: number): void {
  let next = 0;
  const send = (): void => {
    if (next === bytes.length) response.end();
    else {
      response.write(bytes.subarray(next, next + 1));
      next += 1;
      after(response, everyMs, send);
    }
  };
  send();
}

/** Runs `then` after a while, unless the connection has closed by then. */
function after(response: ServerResponse, delayMs: number, then: () => void): void {
  if (delayMs <= 0) return then();
  setTimeout(() => response.destroyed || then(), delayMs);
}

function now(): number {
  return globalThis.performance.now();
}
