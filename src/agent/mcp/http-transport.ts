// MCP over streamable HTTP, through the guarded fetch, with bounded replies.
import type { JSONRPCMessage, StreamableHTTPClientTransport, Transport } from '@modelcontextprotocol/client';
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock, within } from '../../domain/clock.ts';
import { guardedFetchFor } from '../../outbound/guarded-stream.ts';
import type { LookUps } from '../../outbound/look-ups.ts';
import type { Redactor } from '../../outbound/secrets/redact.ts';
import { type Allowance, MAX_MESSAGE_BYTES } from './allowance.ts';
import { redactMessage } from './redact-message.ts';

/** How long the server may take to acknowledge the end of its session. */
const GOODBYE_MS = 500;
/** Minimum time between two openings of a stream. The server sets the delay, and may ask for no delay at all. */
const REOPEN_MS = 500;
const RECONNECTION = {
  initialReconnectionDelay: 500,
  maxReconnectionDelay: 5_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 2,
};

export interface HttpParts {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly lookUps: LookUps;
  readonly allowance: Allowance;
  /** Redacts the server's credentials from everything it sends. */
  readonly redact: Redactor;
  /** Called when the server is disconnected because it sent too much. */
  tooMuch(): void;
  readonly Transport: typeof StreamableHTTPClientTransport;
}

/** A transport to a server. Headers are sent to its own origin only, and redirects to another origin are not followed. */
export function httpTransport({
  url,
  headers,
  lookUps,
  allowance,
  redact,
  tooMuch,
  Transport: Streamable,
}: HttpParts): Transport {
  const guarded = guardedFetchFor(lookUps);
  let mayOpenAt = 0;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    if (init?.method === 'GET') {
      const now = performance.now();
      const waitMs = Math.max(0, mayOpenAt - now);
      mayOpenAt = now + waitMs + REOPEN_MS;
      if (waitMs > 0) await delay(waitMs, undefined, init.signal ? { signal: init.signal } : {});
    }
    return bounded(await guarded(input, init), allowance, cutOff);
  };
  const inner = new Streamable(new URL(url), {
    fetch,
    requestInit: { headers: { ...headers } },
    reconnectionOptions: RECONNECTION,
  });
  const send = inner.send.bind(inner);
  const close = inner.close.bind(inner);
  const cutOff = () => {
    tooMuch();
    void close();
  };
  return Object.assign(inner, {
    // The client calls this handler before its own: a small reply may contain many messages.
    onmessage: (message: JSONRPCMessage) => {
      if (allowance.takeMessage(0)) redactMessage(message, redact);
      else cutOff();
    },
    send: (...sent: Parameters<Transport['send']>) => {
      allowance.renew();
      return send(...(sent as Parameters<typeof send>));
    },
    close: async () => {
      const goodbye = inner.terminateSession().catch(() => undefined);
      await within(systemClock, GOODBYE_MS, goodbye, undefined);
      await close();
    },
  }) as Transport;
}

/** A reply that is aborted when it exceeds the length of a message or the allowance. */
function bounded(reply: Response, allowance: Allowance, cutOff: () => void): Response {
  if (reply.body === null) return reply;
  const isStream = reply.headers.get('content-type')?.startsWith('text/event-stream') === true;
  let bytes = 0;
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      bytes += chunk.length;
      const fits = isStream ? allowance.takeMessage(chunk.length) : bytes <= MAX_MESSAGE_BYTES;
      if (fits) {
        controller.enqueue(chunk);
        return;
      }
      controller.error(new Error('The server sent too much.'));
      cutOff();
    },
  });
  const { status, statusText, headers } = reply;
  return new Response(reply.body.pipeThrough(count), { status, statusText, headers });
}
