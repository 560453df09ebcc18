// Signed requests to a bucket, each repeated by the rules of S3 while its failure can pass.
import { randomInt } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Agent, Dispatcher } from 'undici';
import { type Clock, pause } from '../../../domain/clock.ts';
import { messageOf } from '../../../domain/errors.ts';
import { KB, MB } from '../../../domain/byte-units.ts';
import { openOwnAgent } from '../../../outbound/ways/own-agent.ts';
import { WayError } from '../../../outbound/ways/way-error.ts';
import { isPassing, S3Error, wordsFor } from './s3-error.ts';
import { signed } from './sign.ts';
import { addressOf, type S3Target } from './target.ts';
import { textIn } from './xml.ts';

/** Bytes that are sent. */
export interface S3Body {
  readonly size: number;
  /** Lower-case hex; the service compares it with what arrives. */
  readonly sha256: string;
  /** For each attempt anew. */
  open(): Readable | Uint8Array;
}

export interface S3Call {
  readonly verb: 'put' | 'get' | 'head' | 'delete' | 'list' | 'multipart';
  /** For errors, such as `put an object`. */
  readonly deed: string;
  readonly method: Dispatcher.HttpMethod;
  /** Of the object; empty for the bucket. */
  readonly name: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: S3Body;
  /** Statuses besides those of success that answer it. */
  readonly alsoTakes?: readonly number[];
  /** Bytes that the reply may have. */
  readonly awaits?: number;
  readonly signal?: AbortSignal | undefined;
}

export interface S3Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Has to be read to its end, or destroyed. */
  readonly body: Readable;
}

/** What a request came to. */
export interface S3Outcome {
  readonly verb: S3Call['verb'];
  readonly outcome: 'ok' | 'failed';
  readonly seconds: number;
  /** Bytes of the body that was sent, and of the file that was read. */
  readonly sentBytes: number;
  readonly receivedBytes: number;
}

export interface S3RequestParts {
  readonly target: S3Target;
  readonly clock: Clock;
  /** Called after each attempt. */
  readonly counted?: ((outcome: S3Outcome) => void) | undefined;
  /** Before the second attempt; doubles with each. */
  readonly firstPauseMs?: number;
  /** For the reply's beginning, and between two pieces of it. */
  readonly idleMs?: number;
}

export interface S3Requests {
  /**
   * Sends a request, and has its reply read, both again after a failure that can pass; the request may then differ. Rejects with `S3Error`.
   */
  send<T>(call: S3Call | (() => S3Call), read: (reply: S3Reply) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

const ATTEMPTS = 5;
/** After this long, what failed is not repeated: someone waits. */
const REPEAT_WITHIN_MS = 20_000;
const [FIRST_PAUSE_MS, MAX_PAUSE_MS] = [200, 5_000];
const CONNECT_MS = 5_000;
const IDLE_MS = 20_000;
/** A body that moves slower than this is given up. */
const [BASE_MS, SLOWEST_BYTES_PER_MS] = [60_000, 64];
const CONNECTIONS = 16;
const MAX_ERROR_BYTES = 64 * KB;

/** Makes them; nothing is opened before the first request. */
export function makeS3Requests(parts: S3RequestParts): S3Requests {
  const { clock, target, firstPauseMs = FIRST_PAUSE_MS, idleMs = IDLE_MS } = parts;
  let agent: Promise<Agent> | undefined;
  const open = () =>
    (agent ??= openOwnAgent({
      caFile: target.caFile,
      connectTimeoutMs: CONNECT_MS,
      connections: CONNECTIONS,
      headersTimeout: idleMs,
      bodyTimeout: idleMs,
    }));

  async function attempt<T>(call: S3Call, read: (reply: S3Reply) => Promise<T>): Promise<T> {
    const startedAt = clock.monotonic();
    let outcome: S3Outcome['outcome'] = 'failed';
    let receivedBytes = 0;
    try {
      const result = await exchange(await open(), { target, call, now: clock.now() }, async (reply) => {
        if (call.verb === 'get') receivedBytes = Number(reply.headers['content-length'] ?? 0) || 0;
        return read(reply);
      });
      outcome = 'ok';
      return result;
    } finally {
      const seconds = (clock.monotonic() - startedAt) / 1_000;
      parts.counted?.({ verb: call.verb, outcome, seconds, sentBytes: call.body?.size ?? 0, receivedBytes });
    }
  }

  return {
    send: async (call, read) => {
      let startedAt = clock.monotonic();
      for (let attempts = 1; ; attempts += 1) {
        const now = typeof call === 'function' ? call() : call;
        let isRead = false;
        const readNow = (reply: S3Reply) => {
          isRead = true;
          return read(reply);
        };
        try {
          return await attempt(now, readNow);
        } catch (error) {
          // A reply that breaks off may have taken long, and brought something.
          if (isRead) startedAt = clock.monotonic();
          const failure = failureOf(error, now);
          const isLate = clock.monotonic() - startedAt > REPEAT_WITHIN_MS;
          if (!failure.isPassing || attempts >= ATTEMPTS || isLate || now.signal?.aborted) throw failure;
          const longest = Math.min(firstPauseMs * 2 ** (attempts - 1), MAX_PAUSE_MS);
          await pause(clock, Math.max(failure.waitMs, randomInt(longest + 1)), now.signal);
        }
      }
    },
    close: async () => (await agent)?.destroy(),
  };
}

interface Attempt {
  readonly target: S3Target;
  readonly call: S3Call;
  readonly now: number;
}

async function exchange<T>(agent: Agent, { target, call, now }: Attempt, read: (reply: S3Reply) => Promise<T>) {
  const { method, body, name, query } = call;
  const { request } = await import('undici');
  const url = addressOf(target, name, query);
  const limit = AbortSignal.timeout(
    BASE_MS + Math.ceil(((body?.size ?? 0) + (call.awaits ?? MB)) / SLOWEST_BYTES_PER_MS),
  );
  const signal = call.signal === undefined ? limit : AbortSignal.any([limit, call.signal]);
  const headers = { ...call.headers, ...(body !== undefined && { 'content-length': String(body.size) }) };
  const reply = await request(url, {
    dispatcher: agent,
    method,
    headers: await signed(target, { method, url, headers, sha256: body?.sha256 ?? null, now }),
    body: body?.open() ?? null,
    signal,
  });
  const { statusCode: status } = reply;
  try {
    if ((status >= 200 && status < 300) || call.alsoTakes?.includes(status))
      return await read({ status, headers: reply.headers, body: reply.body });
    throw refusalOf(reply, { deed: call.deed, now, xml: await readText(reply.body, MAX_ERROR_BYTES) });
  } finally {
    reply.body.on('error', () => undefined).destroy();
  }
}

interface Said {
  readonly deed: string;
  readonly now: number;
  readonly xml: string;
}

function refusalOf({ statusCode: status, headers }: Dispatcher.ResponseData, { deed, now, xml }: Said): S3Error {
  const code = /^[\w.]{1,64}$/.exec(textIn(xml, 'Code') ?? '')?.[0] ?? null;
  const there = Date.parse(String(headers['date'] ?? ''));
  const words = wordsFor({ status, code, deed, aheadMs: Number.isNaN(there) ? null : there - now });
  const waitMs = Math.min(Number(headers['retry-after'] ?? 0) * 1_000 || 0, MAX_PAUSE_MS);
  return new S3Error(words, { status, code, isPassing: isPassing(status, code), waitMs });
}

/** What has no reply, or not a whole one, may have one the next time. */
function failureOf(error: unknown, { deed, signal }: S3Call): S3Error {
  if (error instanceof S3Error) return error;
  if (signal?.aborted) return none(`It was cancelled to ${deed}.`, false, error);
  if (error instanceof WayError) return none(`The bucket can't be reached: ${error.message}`, error.isDown, error);
  return none(`The bucket can't be reached, or its reply breaks off: ${messageOf(error)}`, true, error);
}

const none = (words: string, isPassing: boolean, cause: unknown) =>
  new S3Error(words, { status: null, code: null, isPassing, cause });

/** The text of a reply, of at most so many bytes. */
export async function readText(body: Readable, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes)
      throw new S3Error('The bucket sends a longer reply than it should.', {
        status: null,
        code: null,
        isPassing: false,
      });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
