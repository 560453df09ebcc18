// HTTP to model servers: one keep-alive agent a thread, no hidden time limits, and no reply that is not a stream.
import type { Readable } from 'node:stream';
import { Agent, request } from 'undici';
import { batchedBytes } from './batched-bytes.ts';
import { makeGather } from './gather.ts';

/** The `code` of the error thrown when a server answers 200 with something that is no event stream. */
export const NOT_A_STREAM = 'ERRAND_NOT_A_STREAM';

/** Most of a failed reply that is ever read, in bytes. */
const MAX_FAULT_BYTES = 4096;

const agents = new Map<number, Agent>();
/** One for the thread: its streams share one event loop. */
const gatherMs = makeGather();

/**
 * A `fetch` for model calls. Only connecting has a limit here: how long tokens may take is the caller's business (D8).
 * Redirects are not followed; of a failed reply only the start is read. Bytes that arrive in a short time come as one piece.
 * Throws with code `NOT_A_STREAM` for a page or document sent with status 200.
 */
export function modelFetch(connectTimeoutMs: number): typeof globalThis.fetch {
  const dispatcher = agentFor(connectTimeoutMs);
  return async (input, init = {}) => {
    // The providers give an address, headers and a body as plain values. Undici's `request` costs half of what its `fetch` does.
    const { statusCode, headers, body } = await request(input as string, {
      dispatcher,
      method: 'POST',
      headers: init.headers as Record<string, string>,
      body: init.body as string,
      signal: init.signal ?? null,
    });
    const told = flatten(headers);
    const contentType = told['content-type'] ?? '';
    const isDocument = /^(?:text\/html|application\/json)\b/i.test(contentType);
    const isGood = statusCode >= 200 && statusCode < 300;
    if (isGood && !isDocument) {
      return new Response(batchedBytes(body, gatherMs), { status: statusCode, headers: told });
    }
    const start = await startOf(body);
    if (isGood) throw Object.assign(new Error(start), { code: NOT_A_STREAM, contentType });
    return new Response(start, { status: statusCode, headers: told });
  };
}

function agentFor(connectTimeoutMs: number): Agent {
  const known = agents.get(connectTimeoutMs);
  if (known !== undefined) return known;
  const agent = new Agent({
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: connectTimeoutMs },
    keepAliveTimeout: 30_000,
  });
  agents.set(connectTimeoutMs, agent);
  return agent;
}

function flatten(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return Object.fromEntries(flat) as Record<string, string>;
}

/** The start of a body as text. What is left of it is not read, and its connection not used again. */
async function startOf(body: Readable): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body as AsyncIterable<Buffer>) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length >= MAX_FAULT_BYTES) break;
  }
  return text.slice(0, MAX_FAULT_BYTES);
}
