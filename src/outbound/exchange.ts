// One request and its reply over one connection, within one time limit.
import type { IncomingHttpHeaders } from 'node:http';
import type { Client } from 'undici';
import type { Clock } from '../domain/clock.ts';
import { EgressError } from './egress.ts';
import { failureOf } from './failure.ts';
import type { LookUps } from './look-ups.ts';
import { throughProxy } from './ways/proxy-rules.ts';

export interface PooledRequest {
  readonly url: string;
  readonly method: string;
  /** Sent as they are, in addition to those of the connection. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Time limit for everything, from the look-up of the name or the idle connection to the last byte. */
  readonly timeoutMs: number;
  /** How much of the body is read. The connection ends when there is more. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
}

/** What came back. A reply can have a status and an error: when it did not end. */
export interface PooledReply {
  /** Null when no head of a reply arrived. */
  readonly status: number | null;
  /** By names in lower case. */
  readonly headers: IncomingHttpHeaders;
  /** The start of the body, not decompressed. */
  readonly body: Buffer;
  /** Whether the reply was read to its end. */
  readonly isWhole: boolean;
  readonly error: EgressError | null;
}

/** What takes too long, in words. */
const SLOW = {
  connect: (host: string) => `No connection to ${host}`,
  reply: (host: string) => `No reply from ${host}`,
  body: (host: string) => `The reply of ${host} did not end`,
} as const;

export function noReply(error: EgressError): PooledReply {
  return { status: null, headers: {}, body: Buffer.alloc(0), isWhole: false, error };
}

export interface ExchangeParts {
  readonly client: Client;
  /** Of the client's connection. */
  readonly lookUps: Pick<LookUps, 'givenUp'>;
  readonly url: URL;
  readonly clock: Clock;
  /** When its time began, on the monotonic clock. */
  readonly startedAt: number;
}

/** Sends the request. Never rejects; after an incomplete reply, the connection is still busy with it. */
export function exchange(
  { client, lookUps, url, clock, startedAt }: ExchangeParts,
  request: PooledRequest,
): Promise<PooledReply> {
  const { method, headers, body, timeoutMs, maxBytes, signal } = request;
  return new Promise((resolve) => {
    let awaited: keyof typeof SLOW = 'connect';
    let head: Pick<PooledReply, 'status' | 'headers'> = { status: null, headers: {} };
    const pieces: Buffer[] = [];
    let room = maxBytes;

    const settle = (error: EgressError | null, isWhole = false) => {
      timer.cancel();
      signal?.removeEventListener('abort', cancel);
      resolve({ ...head, body: Buffer.concat(pieces), isWhole, error });
    };
    const cancel = () => settle(new EgressError('canceled', 'The request was canceled.'));
    const timer = clock.after(startedAt + timeoutMs - clock.monotonic(), () => {
      const words = `${SLOW[awaited](url.host)}${throughProxy(url)} within ${timeoutMs / 1_000} s.`;
      settle(lookUps.givenUp() ?? new EgressError('timeout', words));
    });
    if (signal?.aborted) return cancel();
    signal?.addEventListener('abort', cancel, { once: true });

    const { origin, pathname, search } = url;
    client.dispatch(
      { origin, path: pathname + search, method, headers, body },
      {
        onRequestStart: () => void (awaited = 'reply'),
        onResponseStart: (_controller, status, headers) => {
          // Others are only announcements.
          if (status < 200) return;
          awaited = 'body';
          head = { status, headers };
        },
        onResponseData: (_controller, piece) => {
          pieces.push(piece.subarray(0, room));
          if (piece.length > room) settle(null);
          room = Math.max(0, room - piece.length);
        },
        onResponseEnd: () => settle(null, true),
        onResponseError: (_controller, cause) => settle(failure(cause)),
      },
    );

    function failure(cause: Error): EgressError {
      if (awaited !== 'body') return failureOf({ url }, cause);
      return new EgressError('bad_reply', `The reply of ${url.host} broke off or cannot be read.`, { cause });
    }
  });
}
