// HTTP to model servers: one keep-alive agent per thread, no hidden time limits, bounded replies, and only streams.
import type { Readable } from 'node:stream';
import { Agent, request } from 'undici';
import type { JsonObject, JsonValue } from '../../domain/json.ts';
import type { ByteReader } from './read-reply.ts';
import { faultOfEvent, faultOfStatus, UnreachedError, UpstreamFault } from './upstream-fault.ts';

/** Maximum bytes of a failed reply that are read. */
const MAX_FAULT_BYTES = 4096;
/** How long a server may keep its connection open after the end of its reply. */
const LINGER_MS = 1_000;
/** How long a reply that may be complete is waited for, if its server sends no end and keeps the connection open. */
const SETTLE_MS = 2_000;

const agents = new Map<number, Agent>();

/** A call as it is sent. */
export interface PostedCall {
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonObject;
  readonly connectTimeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Sends a call, and gives `reader` the bytes of its stream until the reply is complete. Only connecting has a time limit here;
 * the caller limits how long tokens may take (D8). Redirects are not followed; only the start of a failed reply is read.
 * `waits` is called when the request was sent, and when bytes are processed. Rejects with UpstreamFault for any reply that is
 * no complete stream, and with UnreachedError when there is no reply at all.
 */
export async function streamReply(
  call: PostedCall,
  reader: ByteReader,
  waits: (isWaiting: boolean) => void,
): Promise<void> {
  const response = send(call);
  waits(true);
  const { statusCode, headers, body } = await response;
  const fault = await faultOf(statusCode, headers, body);
  if (fault !== null) throw fault;
  await readBody(body, reader, waits);
}

async function send({ address, headers, body, connectTimeoutMs, signal }: PostedCall) {
  const content = JSON.stringify(body);
  try {
    const dispatcher = agentFor(connectTimeoutMs);
    return await request(address, { dispatcher, method: 'POST', headers, body: content, signal });
  } catch (cause) {
    throw new UnreachedError(cause);
  }
}

/** Each chunk is read as it arrives, without a promise or a buffer in between. */
function readBody(body: Readable, reader: ByteReader, waits: (isWaiting: boolean) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    let settling: NodeJS.Timeout | undefined;
    const finish = () => {
      isOver = true;
      clearTimeout(settling);
      resolve();
    };
    const fail = (error: unknown) => {
      if (isOver) return;
      isOver = true;
      clearTimeout(settling);
      reject(error);
      body.destroy();
    };
    const attempt = (read: () => void) => {
      if (isOver) return;
      try {
        read();
      } catch (error) {
        fail(error);
      }
    };
    const end = () => {
      attempt(() => {
        reader.end();
        finish();
      });
      body.destroy();
    };
    body.on('data', (chunk: Buffer) => {
      attempt(() => {
        waits(false);
        clearTimeout(settling);
        if (reader.take(chunk)) {
          leaveSoon(body);
          finish();
        } else if (reader.isWhole()) {
          settling = setTimeout(end, SETTLE_MS);
        }
      });
    });
    body.once('end', end);
    body.on('error', fail);
    body.once('close', () => {
      if (!isOver) fail(new UpstreamFault('cut', 'The connection was closed.'));
    });
  });
}

/** After a complete reply the connection is reused, once its last bytes have arrived. */
function leaveSoon(body: Readable): void {
  const timer = setTimeout(() => body.destroy(), LINGER_MS).unref();
  body.once('close', () => clearTimeout(timer));
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Why a response is not a stream; null when it may be one. */
async function faultOf(status: number, headers: Headers, body: Readable): Promise<UpstreamFault | null> {
  const contentType = String(headers['content-type'] ?? '');
  const isGood = status >= 200 && status < 300;
  if (isGood && !/^(?:text\/html|application\/json)\b/i.test(contentType)) return null;
  const start = await startOf(body);
  if (!isGood) return faultOfStatus(status, start, headers['retry-after']?.toString());
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
