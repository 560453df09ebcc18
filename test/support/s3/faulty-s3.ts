// A bucket on a real server, s3rver, behind a proxy that verifies signatures and payloads, and injects faults.
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import S3rver from 's3rver';
import { onTestFinished } from 'vitest';
import type { S3Key, S3Target } from '../../../src/files/blobs/s3/target.ts';
import { type Of, temporaryDirectory } from '../files/temporary-directory.ts';
import { isSigned } from './verify-signature.ts';

/** What a request meets instead of the server. */
export type Fault =
  | { readonly status: number; readonly code: string; readonly headers?: Readonly<Record<string, string>> }
  /** The connection breaks before a reply, or after so many bytes of it. */
  | { readonly resetAfter: number }
  /** The reply has other bytes. */
  | 'wrong bytes'
  /** Nothing comes. */
  | 'silence';

export interface Asked {
  readonly method: string;
  /** With its query. */
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly bytes: number;
}

export const S3_KEY: S3Key = { id: 'S3RVER', secret: 'S3RVER' };
export const S3_BUCKET = 'errand-test';

export interface FaultyS3 {
  readonly target: S3Target;
  /** All requests, in their order. */
  readonly asked: Asked[];
  /** Decides on each request; undefined lets it through. */
  fault: (asked: Omit<Asked, 'bytes'>) => Fault | undefined;
  /** Breaks all connections, and opens no more, until it is called with false. */
  cut(isCut: boolean): void;
}

/** Starts both for a test. */
export async function faultyS3(of: Of = { onTestFinished }): Promise<FaultyS3> {
  const directory = temporaryDirectory({}, of);
  const configureBuckets = [{ name: S3_BUCKET }];
  const server = new S3rver({ address: '127.0.0.1', port: 0, silent: true, directory, configureBuckets });
  const { port } = await server.run();
  of.onTestFinished(() => server.close());
  let isCut = false;
  const proxy = createServer((incoming, outgoing) => void serve(s3, port, { incoming, outgoing }));
  proxy.on('connection', (socket) => isCut && socket.destroy());
  await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve));
  of.onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  const s3: FaultyS3 = {
    target: {
      endpoint: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
      region: 'us-east-1',
      bucket: S3_BUCKET,
      prefix: 'some where/',
      pathStyle: true,
      caFile: null,
      encryption: null,
      key: () => S3_KEY,
    },
    asked: [],
    fault: () => undefined,
    cut: (now) => {
      isCut = now;
      if (now) proxy.closeAllConnections();
    },
  };
  return s3;
}

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

async function serve(s3: FaultyS3, port: number, { incoming, outgoing }: Exchange): Promise<void> {
  const { method = '', url = '', headers } = incoming;
  const fault = s3.fault({ method, url, headers });
  if (typeof fault === 'object' && 'resetAfter' in fault && fault.resetAfter === 0) return void incoming.destroy();
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  } catch {
    return;
  }
  const body = Buffer.concat(chunks);
  s3.asked.push({ method, url, headers, bytes: body.length });
  if (fault === 'silence') return;
  const key = s3.target.key();
  if ('why' in key || !isSigned(incoming, key)) return refuse(outgoing, { status: 403, code: 'SignatureDoesNotMatch' });
  const sha256 = headers['x-amz-content-sha256'];
  if (sha256 !== undefined && sha256 !== createHash('sha256').update(body).digest('hex'))
    return refuse(outgoing, { status: 400, code: 'XAmzContentSHA256Mismatch' });
  if (typeof fault === 'object' && 'status' in fault) return refuse(outgoing, fault);
  const listed = asOldList(url);
  if (listed !== null) return void list(`http://127.0.0.1:${port}${listed}`, headers, outgoing);
  const forwarded = request({ port, host: '127.0.0.1', method, path: url, headers }, (reply) => {
    outgoing.writeHead(reply.statusCode ?? 500, reply.headers);
    if (fault === undefined) reply.pipe(outgoing);
    else void spoil(reply, outgoing, fault);
  });
  forwarded.on('error', () => outgoing.destroy());
  forwarded.end(body);
}

/** Small, so that few objects make many pages. */
const PAGE = 50;

/** A list in the older form: the server enciphers the tokens of the newer one with what OpenSSL has given up. */
function asOldList(url: string): string | null {
  const asked = new URL(url, 'http://x');
  const { searchParams: query } = asked;
  if (query.get('list-type') !== '2') return null;
  const marker = query.get('continuation-token') ?? query.get('start-after') ?? '';
  const keys = String(Math.min(Number(query.get('max-keys')), PAGE));
  return `${asked.pathname}?${new URLSearchParams({ prefix: query.get('prefix') ?? '', marker, 'max-keys': keys }).toString()}`;
}

async function list(url: string, headers: IncomingMessage['headers'], outgoing: ServerResponse): Promise<void> {
  const reply = await fetch(url, {
    headers: {
      authorization: headers.authorization ?? '',
      'x-amz-date': String(headers['x-amz-date']),
      'x-amz-content-sha256': String(headers['x-amz-content-sha256']),
    },
  });
  const page = await reply.text();
  const last = page
    .match(/<Key>[^<]*<\/Key>/g)
    ?.at(-1)
    ?.replaceAll(/<\/?Key>/g, '');
  const token = `<NextContinuationToken>${last}</NextContinuationToken>`;
  outgoing.writeHead(reply.status, { 'content-type': 'application/xml' });
  outgoing.end(page.replace('<IsTruncated>true', `${token}<IsTruncated>true`));
}

async function spoil(reply: IncomingMessage, outgoing: ServerResponse, fault: Fault): Promise<void> {
  let sent = 0;
  for await (const chunk of reply as AsyncIterable<Buffer>) {
    if (typeof fault === 'object' && 'resetAfter' in fault) {
      const some = chunk.subarray(0, fault.resetAfter - sent);
      await new Promise((resolve) => void outgoing.write(some, resolve));
      sent += some.length;
      if (sent >= fault.resetAfter) return void outgoing.destroy();
    } else outgoing.write(Buffer.from(chunk).fill(0x78));
  }
  outgoing.end();
}

type Refusal = Extract<Fault, { status: number }>;

function refuse(outgoing: ServerResponse, { status, code, headers = {} }: Refusal): void {
  outgoing.writeHead(status, { 'content-type': 'application/xml', ...headers });
  outgoing.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${S3_KEY.secret}</Message></Error>`);
}
