// One attempt of a delivery: one HTTP request, and what is recorded of its reply. A failure is data.
import type { IncomingHttpHeaders } from 'node:http';
import { KB } from '../domain/byte-units.ts';
import { type Clock, isoTime } from '../domain/clock.ts';
import type { AttemptResult } from '../domain/webhooks/delivery.ts';
import type { Log } from '../log/log.ts';
import type { PooledReply } from '../outbound/exchange.ts';
import type { GuardedPool } from '../outbound/guarded-pool.ts';
import { replyExcerpt } from './reply-excerpt.ts';
import { type SigningSecrets, signatureHeaders } from './sign.ts';

/** What to send, and where. */
export interface WebhookRequest {
  readonly url: string;
  readonly eventType: string;
  readonly eventId: string;
  readonly body: string;
  readonly secrets: SigningSecrets | null;
  /** Time limit from the look-up of the name to the last byte of the reply. */
  readonly timeoutMs: number;
}

/** How an attempt ended, and how long the receiver asks to wait, if it does. Without a limit. */
export interface Attempted extends AttemptResult {
  readonly retryAfterMs: number | null;
}

/** How much of a reply is read (H3). */
const MAX_REPLY_BYTES = 64 * KB;

export interface AttemptParts {
  readonly pool: GuardedPool;
  readonly clock: Clock;
  readonly log?: Pick<Log, 'debug'>;
}

/** Sends once; ends early when the signal aborts. Never rejects. */
export async function attempt(
  { pool, clock, log }: AttemptParts,
  request: WebhookRequest,
  signal?: AbortSignal,
): Promise<Attempted> {
  const { url, timeoutMs, secrets } = request;
  const at = clock.now();
  const startedAt = clock.monotonic();
  const body = Buffer.from(request.body);
  const headers = requestHeaders(request, { body, at });
  const post = { url, method: 'POST', headers, body, timeoutMs, maxBytes: MAX_REPLY_BYTES };
  const reply = await pool.send(signal === undefined ? post : { ...post, signal });
  // Whoever has the webhook must not learn which names this network knows; administrators may.
  if (reply.error?.cause instanceof Error)
    log?.debug({ event_id: request.eventId, why: reply.error.cause.message }, 'a receiver of webhooks was not reached');
  return {
    at,
    statusCode: reply.status,
    durationMs: Math.round(clock.monotonic() - startedAt),
    error: errorOf(reply),
    responseExcerpt: replyExcerpt(reply, secrets),
    retryAfterMs: retryAfterMs(reply.headers, clock.now()),
  };
}

/** The headers of §6.3 and H4, with the names as they are written there. */
export function requestHeaders(
  { eventType, eventId, secrets }: Pick<WebhookRequest, 'eventType' | 'eventId' | 'secrets'>,
  { body, at }: { readonly body: Uint8Array; readonly at: number },
): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'Errand/1.0',
    // What would come compressed is not decompressed.
    'Accept-Encoding': 'identity',
    'X-Service-Event': eventType,
    'X-Service-Event-Id': eventId,
    'X-Service-Timestamp': isoTime(at),
    ...signatureHeaders({ eventId, body, at }, secrets),
  };
}

/** Null for a complete reply of status 2xx (H3). */
function errorOf({ status, error }: PooledReply): string | null {
  if (error !== null) return error.message;
  if (status === null || status < 300) return null;
  if (status < 400) return `The receiver redirects with status ${status}; redirects are not followed.`;
  return `The receiver replied with status ${status}.`;
}

/** `Retry-After`, in seconds or as a date (RFC 9110); null when it is missing, invalid or past. */
function retryAfterMs({ 'retry-after': value }: IncomingHttpHeaders, now: number): number | null {
  const text = value?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const until = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/.test(text) ? Date.parse(text) : NaN;
  return until > now ? until - now : null;
}
