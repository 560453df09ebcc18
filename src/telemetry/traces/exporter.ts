// Sends a body to a collector once, by OTLP over HTTP. What fails is data.
import type { Agent } from 'undici';
import { messageOf } from '../../domain/errors.ts';
import { openOwnAgent } from '../../outbound/ways/own-agent.ts';

/** How a request ended. `again`: the same request may succeed later; `waitMs`: not before. */
export type Exported =
  | { readonly ok: true; readonly rejected: number }
  | { readonly ok: false; readonly again: boolean; readonly waitMs: number; readonly why: string };

export interface ExportTarget {
  /** Base address of the collector, or its address for traces. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
}

const TIMEOUT_MS = 10_000;
const MAX_REPLY_BYTES = 16_384;
const MAX_WAIT_MS = 300_000;
/** Those that the protocol has a client repeat. */
const PASSING: ReadonlySet<number> = new Set([429, 502, 503, 504]);

const PATH = '/v1/traces';

/** The address for traces, as exporters find it: appended to the base address, unless it is there. */
export function addressOfTraces(endpoint: string): string {
  const base = endpoint.replace(/\/+$/, '');
  return base.endsWith(PATH) ? base : `${base}${PATH}`;
}

export interface Exporter {
  /** Sends the body. Never rejects. */
  send(target: ExportTarget, body: string, signal: AbortSignal): Promise<Exported>;
  close(): Promise<void>;
}

/** Makes it, with one connection. Redirects are not followed: they would take the headers elsewhere. */
export function makeExporter(): Exporter {
  let agent: Agent | undefined;
  return {
    send: async ({ endpoint, headers }, body, signal) => {
      try {
        // Its library is loaded with the first spans.
        const undici = await import('undici');
        agent ??= await openOwnAgent({ connections: 1, connectTimeoutMs: TIMEOUT_MS });
        const reply = await undici.request(addressOfTraces(endpoint), {
          dispatcher: agent,
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body,
          signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
        });
        const text = await startOf(reply.body);
        const { statusCode } = reply;
        if (statusCode >= 200 && statusCode < 300) return { ok: true, rejected: rejectedIn(text) };
        const waitMs = Math.min(Number(reply.headers['retry-after'] ?? 0) * 1_000 || 0, MAX_WAIT_MS);
        return { ok: false, again: PASSING.has(statusCode), waitMs, why: `the collector replied with ${statusCode}` };
      } catch (error) {
        return { ok: false, again: true, waitMs: 0, why: messageOf(error) };
      }
    },
    close: async () => agent?.destroy(),
  };
}

/** The start of a reply; the rest is not awaited. */
async function startOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= MAX_REPLY_BYTES) break;
  }
  return Buffer.concat(chunks).toString('utf8', 0, MAX_REPLY_BYTES);
}

/** Spans that the collector did not take, as a reply of success can say. */
function rejectedIn(text: string): number {
  try {
    const { partialSuccess } = JSON.parse(text) as { readonly partialSuccess?: { readonly rejectedSpans?: unknown } };
    return Number(partialSuccess?.rejectedSpans ?? 0) || 0;
  } catch {
    return 0;
  }
}
