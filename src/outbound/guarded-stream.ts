// A `fetch` like the platform's own, with every connection and redirect guarded.
import type { Agent } from 'undici';
import { EgressError } from './egress.ts';
import { openAgent } from './guarded-connect.ts';
import type { LookUps } from './look-ups.ts';
import { failureOf } from './failure.ts';
import { type Hop, MAX_REDIRECTS, nextHop, readHeaders, readUrl } from './hop.ts';

/**
 * Makes a `fetch` that streams and has no time limit of its own, for protocols that hold a request open. It accepts an address
 * as text or URL and a body as text or bytes, and decodes replies without a size limit. Follows at most five redirects, unless
 * `redirect` says otherwise; a redirect to another host, port or scheme gets only headers that reveal nothing. Rejects with
 * `EgressError`, also when the caller's signal aborts while a name is looked up, or else with the reason of that signal.
 */
export function guardedFetchFor(lookUps: LookUps): typeof globalThis.fetch {
  let opened: Promise<Agent> | undefined;
  return async (input, init = {}) => {
    let hop = firstHop(input, init);
    opened ??= openAgent(lookUps.policy);
    const agent = await opened;
    for (let followed = 0; ; followed += 1) {
      const answer = await send({ agent, lookUps, signal: init.signal ?? null }, hop);
      const location = answer.headers.get('location') ?? undefined;
      const next = init.redirect === 'manual' ? null : nextHop(hop, answer.status, location);
      if (next === null) return answer;
      await answer.body?.cancel();
      if (init.redirect === 'error' || followed >= MAX_REDIRECTS)
        throw new EgressError('too_many_redirects', `The host ${hop.url.host} redirects too many times.`);
      hop = next;
    }
  };
}

function firstHop(input: string | URL | Request, init: RequestInit): Hop {
  if (input instanceof Request) throw new TypeError('This fetch takes an address and options, not a Request.');
  const { method = 'GET', body = null } = init;
  const isForm = body instanceof URLSearchParams;
  if (!isForm && body !== null && typeof body !== 'string' && !(body instanceof Uint8Array))
    throw new TypeError('This fetch accepts only text or bytes as a body.');
  const headers = readHeaders(new Headers(init.headers));
  const form = 'application/x-www-form-urlencoded;charset=UTF-8';
  return {
    url: readUrl(String(input)),
    method: method.toUpperCase(),
    headers: isForm ? { 'content-type': form, ...headers } : headers,
    body: isForm ? body.toString() : body,
  };
}

interface Sending {
  readonly agent: Agent;
  readonly lookUps: LookUps;
  readonly signal: AbortSignal | null;
}

async function send({ agent, lookUps, signal }: Sending, hop: Hop): Promise<Response> {
  const { url, method, headers, body } = hop;
  const { fetch } = await import('undici');
  try {
    const answer = await fetch(url, { method, headers, body, signal, dispatcher: agent, redirect: 'manual' });
    return answer;
  } catch (error) {
    const givenUp = signal?.aborted ? lookUps.givenUp(hop.url) : undefined;
    if (givenUp !== undefined) throw givenUp;
    signal?.throwIfAborted();
    throw failureOf(hop, (error as { cause?: unknown }).cause ?? error);
  }
}
