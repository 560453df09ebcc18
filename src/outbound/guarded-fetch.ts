// One HTTP request to an address that someone else named: guarded at every hop, bounded in time and in bytes.
import type { Agent, Dispatcher } from 'undici';
import { ErrandError } from '../domain/errors.ts';
import { untilAborted } from '../domain/until-aborted.ts';
import { VERSION } from '../version.ts';
import { CODINGS, readBounded } from './bounded-body.ts';
import { EgressError, type EgressPolicy } from './egress.ts';
import { failureOf } from './failure.ts';
import { openAgent } from './guarded-connect.ts';
import { watchLookUps } from './look-ups.ts';
import { throughProxy } from './ways/proxy-rules.ts';
import { type Hop, MAX_REDIRECTS, nextHop, readHeaders, readUrl } from './hop.ts';

/** One request. Follows at most `maxRedirects` redirects (default 5); with 0, returns a redirect as it is. */
export interface GuardedRequest {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | null;
  /** Time limit for everything, from the first DNS look-up to the last byte. */
  readonly timeoutMs: number;
  /** Largest body, after decompression. */
  readonly maxBytes: number;
  readonly maxRedirects?: number;
  readonly signal?: AbortSignal;
  /** What happens to a body over `maxBytes`: failure (default), or truncation. */
  readonly onOverflow?: 'fail' | 'truncate';
  /**
   * Whether to accept a reply of this media type, in lower case without parameters; called before its body is read, with its
   * size in bytes on the wire if the server sends it.
   */
  readonly acceptType?: (mediaType: string, size: number | null) => boolean;
  /** Called with the size of each chunk of the body before it is buffered. An `ErrandError` that it throws ends the request. */
  readonly received?: (bytes: number) => void;
}

export interface GuardedReply {
  readonly status: number;
  /** The address that replied, after redirects. */
  readonly url: string;
  /** By names in lower case; several values of one name are joined with a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly truncated: boolean;
}

/**
 * Sends a request and reads its whole reply, whatever its status. Throws `EgressError`, and the errors of `received`. A
 * redirect to another host, port or scheme gets only headers that reveal nothing. Adds the name of the daemon, and nothing else
 * about it.
 */
export async function guardedFetch(policy: EgressPolicy, request: GuardedRequest): Promise<GuardedReply> {
  const first = firstHop(request);
  const ending = new AbortController();
  const end = () => ending.abort();
  const timer = setTimeout(end, request.timeoutMs);
  request.signal?.addEventListener('abort', end, { once: true });
  if (request.signal?.aborted) end();
  const { signal } = ending;
  const lookUps = watchLookUps(policy);
  const agent = await openAgent(lookUps.policy);
  try {
    // The library checks the signal only once it is connected.
    return await untilAborted(follow({ agent, request, signal }, first), signal);
  } catch (error) {
    if (request.signal?.aborted) throw new EgressError('canceled', 'The request was canceled.', { cause: error });
    if (signal.aborted) throw lookUps.givenUp() ?? tooSlow(first, request.timeoutMs, error);
    throw error;
  } finally {
    clearTimeout(timer);
    request.signal?.removeEventListener('abort', end);
    void agent.destroy();
  }
}

interface Sending {
  readonly agent: Agent;
  readonly request: GuardedRequest;
  readonly signal: AbortSignal;
}

type Answer = Dispatcher.ResponseData;

function firstHop({ url, method = 'GET', headers = {}, body = null }: GuardedRequest): Hop {
  const own = { 'user-agent': `Errand/${VERSION}`, accept: '*/*', ...readHeaders(Object.entries(headers)) };
  return { url: readUrl(url), method: method.toUpperCase(), headers: { ...own, 'accept-encoding': CODINGS }, body };
}

async function follow(sending: Sending, first: Hop): Promise<GuardedReply> {
  const { maxRedirects = MAX_REDIRECTS } = sending.request;
  let hop = first;
  for (let followed = 0; ; followed += 1) {
    const answer = await send(sending, hop);
    const next = maxRedirects === 0 ? null : nextHop(hop, answer.statusCode, one(answer.headers['location']));
    if (next === null) return await read(sending.request, hop, answer);
    discard(answer);
    if (followed >= maxRedirects)
      throw new EgressError('too_many_redirects', `The host ${first.url.host} redirects too many times.`);
    hop = next;
  }
}

async function send({ agent, signal }: Sending, hop: Hop): Promise<Answer> {
  const { url, method, headers, body } = hop;
  try {
    return await agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      headers,
      body,
      signal,
    });
  } catch (error) {
    throw failureOf(hop, error);
  }
}

async function read(request: GuardedRequest, hop: Hop, answer: Answer): Promise<GuardedReply> {
  const { url, method } = hop;
  const { statusCode: status, body } = answer;
  const headers = flat(answer);
  const tooLarge = () =>
    new EgressError('too_large', `The reply of ${url.host} is larger than ${request.maxBytes} bytes.`);
  try {
    const length = lengthOf(headers);
    requireType(request, hop, { status, headers });
    const isPlain = headers['content-encoding'] === undefined;
    if (
      isPlain &&
      length !== null &&
      length > request.maxBytes &&
      request.onOverflow !== 'truncate' &&
      method !== 'HEAD'
    )
      throw tooLarge();
    const codings = length === 0 || method === 'HEAD' || status === 304 ? '' : (headers['content-encoding'] ?? '');
    const { bytes, overflow } = await readBounded(body, codings, request);
    if (overflow && request.onOverflow !== 'truncate') throw tooLarge();
    return { status, url: url.href, headers, body: bytes, truncated: overflow };
  } catch (error) {
    discard(answer);
    if (error instanceof EgressError || error instanceof ErrandError) throw error;
    throw new EgressError('bad_reply', `The reply of ${url.host} broke off or cannot be read.`, { cause: error });
  }
}

/** `type/subtype` of a `content-type`, in lower case; empty when there is none. */
export function mediaTypeOf(contentType: string | undefined): string {
  return (contentType ?? '').split(';')[0]!.trim().toLowerCase();
}

function lengthOf(headers: GuardedReply['headers']): number | null {
  const text = headers['content-length'] ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}

type Head = Pick<GuardedReply, 'status' | 'headers'>;

function requireType({ acceptType }: GuardedRequest, { url }: Hop, { status, headers }: Head): void {
  const mediaType = mediaTypeOf(headers['content-type']);
  if (acceptType === undefined || acceptType(mediaType, lengthOf(headers))) return;
  const isGood = status >= 200 && status < 300;
  // A message quotes an untrusted server only if the value has the form of a media type.
  const type = /^[\w.+-]{1,80}\/[\w.+-]{1,80}$/.test(mediaType) ? mediaType : 'no usable content type';
  throw new EgressError('bad_reply', `The host ${url.host} answered with ${isGood ? type : `status ${status}`}.`);
}

function discard({ body }: Answer): void {
  body.on('error', () => undefined).destroy();
}

function one(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

function flat({ headers }: Answer): Record<string, string> {
  const entries = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value] as const],
  );
  return Object.fromEntries(entries);
}

function tooSlow({ url }: Hop, timeoutMs: number, cause: unknown): EgressError {
  return new EgressError(
    'timeout',
    `The host ${url.host} did not reply completely${throughProxy(url)} within ${timeoutMs / 1_000} s.`,
    {
      cause,
    },
  );
}
