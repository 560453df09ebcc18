// HTTP to model servers: one keep-alive agent per thread, no hidden time limits, bounded replies, and only streams.
import type { Readable } from 'node:stream';
import { Agent, request } from 'undici';
import type { JsonValue } from '../../domain/json.ts';
import type { ModelGrant } from '../port/grants.ts';
import { batchedBytes } from './batched-bytes.ts';
import { dressOf } from './dress-call.ts';
import { makeGather } from './gather.ts';
import { currentObservation, observeReply } from './observation.ts';
import type { ReplyProtocol } from './reply-events.ts';
import { faultOfEvent, faultOfStatus, UpstreamFault } from './upstream-fault.ts';

/** Maximum bytes of a failed reply that are read. */
const MAX_FAULT_BYTES = 4096;

const agents = new Map<number, Agent>();
/** One for the thread: its streams share one event loop. */
const gatherMs = makeGather();

/**
 * A `fetch` for model calls. Only connecting has a time limit here; the caller limits how long tokens may take (D8). Redirects
 * are not followed; only the start of a failed reply is read. Bytes that arrive in quick succession are delivered as one chunk.
 * Adds the grant's extras. It must be called within an observation, which counts the reply and records failures. Throws
 * UpstreamFault for any reply that is not a stream.
 */
export function modelFetch(
  grant: ModelGrant,
  connectTimeoutMs: number,
  protocol: ReplyProtocol,
): typeof globalThis.fetch {
  const dispatcher = agentFor(connectTimeoutMs);
  const dress = dressOf(grant);
  return async (input, init = {}) => {
    const observation = currentObservation.getStore();
    if (observation === undefined) throw new Error('A model was called outside of an observation.');
    // The providers pass an address, headers and a body as plain values.
    const content = dress.body(init.body as string);
    observation.waits(true);
    // Undici's `request` costs half of what its `fetch` does.
    const { statusCode, headers, body } = await request(dress.address(input as string), {
      dispatcher,
      method: 'POST',
      headers: dress.headers(init.headers as Record<string, string>),
      body: content,
      signal: init.signal ?? null,
    });
    const replyHeaders = flatten(headers);
    const fault = await faultOf(statusCode, replyHeaders, body);
    if (fault !== null) {
      observation.fault = fault;
      throw fault;
    }
    const stream = batchedBytes(body, gatherMs, observeReply(observation, protocol));
    return new Response(stream, { status: statusCode, headers: replyHeaders });
  };
}

/** Why a response is not a stream; null when it may be one. */
async function faultOf(status: number, headers: Record<string, string>, body: Readable): Promise<UpstreamFault | null> {
  const contentType = headers['content-type'] ?? '';
  const isGood = status >= 200 && status < 300;
  if (isGood && !/^(?:text\/html|application\/json)\b/i.test(contentType)) return null;
  const start = await startOf(body);
  if (!isGood) return faultOfStatus(status, start, headers['retry-after']);
  return faultOfEvent(parse(start)) ?? new UpstreamFault('document', `${contentType}: ${start}`, { status });
}

function parse(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return null;
  }
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

/** The start of a body as text. The rest is not read, and the connection is not reused. */
async function startOf(body: Readable): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body as AsyncIterable<Buffer>) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length >= MAX_FAULT_BYTES) break;
  }
  return text.slice(0, MAX_FAULT_BYTES);
}
