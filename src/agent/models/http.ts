// HTTP to model servers: one keep-alive agent a thread, no hidden time limits, and no reply that is not a stream.
import { Agent, fetch as undiciFetch, type RequestInfo, type RequestInit, Response } from 'undici';

/** The `code` of the error thrown when a server answers 200 with something that is no event stream. */
export const NOT_A_STREAM = 'ERRAND_NOT_A_STREAM';

/** Most of a failed reply that is ever read, in bytes. */
const MAX_FAULT_BYTES = 4096;

const agents = new Map<number, Agent>();

/**
 * A `fetch` for model calls. Only connecting has a limit here: how long tokens may take is the caller's business (D8).
 * Of a failed reply only the start is read. Throws with code `NOT_A_STREAM` for a page or document sent with status 200.
 */
export function modelFetch(connectTimeoutMs: number): typeof globalThis.fetch {
  const dispatcher = agentFor(connectTimeoutMs);
  const request = async (input: RequestInfo, init?: RequestInit) => {
    const response = await undiciFetch(input, { ...init, dispatcher });
    const contentType = response.headers.get('content-type') ?? '';
    const isDocument = /^(?:text\/html|application\/json)\b/i.test(contentType);
    if (response.ok && !isDocument) return response;
    const start = await startOf(response);
    if (response.ok) throw Object.assign(new Error(start), { code: NOT_A_STREAM, contentType });
    const { status, statusText, headers } = response;
    return new Response(start, { status, statusText, headers: withoutLength(headers) });
  };
  // Same shape, but the types of undici and of Node's own fetch are different declarations.
  return request as unknown as typeof globalThis.fetch;
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

async function startOf(response: Awaited<ReturnType<typeof undiciFetch>>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    text += decoder.decode(chunk, { stream: true });
    if (bytes >= MAX_FAULT_BYTES) break;
  }
  return text.slice(0, MAX_FAULT_BYTES);
}

function withoutLength(headers: Iterable<[string, string]>): [string, string][] {
  const framing = new Set(['content-length', 'content-encoding', 'transfer-encoding']);
  return [...headers].filter(([name]) => !framing.has(name));
}
