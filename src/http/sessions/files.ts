// Sends files by their signed addresses (E7), whole or in part, with headers that keep their content from acting in the
// daemon's origin.
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { create as contentDisposition } from 'content-disposition';
import type { Clock } from '../../domain/clock.ts';
import type { OpenedFile } from '../../operations/sessions/open-file.ts';
import type { Operations } from '../../operations/operations.ts';
import { isKnown, rangeOf } from './byte-range.ts';
import type { Exchange } from '../frame/exchange.ts';
import { type Headers, writeHead } from '../frame/head.ts';
import { errorBody, type ErrorFacts } from '../frame/render-error.ts';
import type { Reply } from '../frame/reply.ts';

/** Images and media can be displayed; nothing can run. */
const PASSIVE = "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'";
/** Browsers do not start their PDF viewers in a sandbox; the viewers isolate the document's scripts themselves. */
const POLICY_OF_PDF = `${PASSIVE}; object-src 'self'`;
const POLICY = `${PASSIVE}; sandbox`;

/** A reader that takes nothing for this long is disconnected; players request the rest when they continue. */
const STALL_LIMIT_MS = 120_000;
/** A client may disconnect at any time. */
const GONE: ReadonlySet<string> = new Set([
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_DESTROYED',
  'ECONNRESET',
  'EPIPE',
]);

/** The handler of signed addresses. It sends files itself, in chunks. */
export function makeFileHandler(operations: Pick<Operations, 'openFile'>, clock: Pick<Clock, 'now'>) {
  return async (exchange: Exchange): Promise<Reply | undefined> => {
    const file = await operations.openFile(pathOf(exchange.req));
    try {
      return await answer(exchange, file, clock.now());
    } finally {
      await file.blob.close();
    }
  };
}

/** The path as it was sent: several spellings decode to what the router gives. */
function pathOf({ url = '' }: IncomingMessage): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

async function answer({ req, res }: Exchange, file: OpenedFile, now: number): Promise<Reply | undefined> {
  const { size } = file.blob;
  const etag = `"${file.grant.key}"`;
  const headers = headersOf(file, etag, now);
  if (isKnown(req.headers, etag)) {
    writeHead(res, 304, headers);
    return void res.end();
  }
  // HEAD describes the whole file: ranges do not apply to it.
  const range = req.method === 'HEAD' ? 'whole' : rangeOf(req.headers, size, etag);
  if (range === 'unsatisfiable') return refusalOfRange(size);
  const { start, end } = range === 'whole' ? { start: 0, end: size - 1 } : range;
  writeHead(res, range === 'whole' ? 200 : 206, {
    ...headers,
    'Content-Type': file.presentation.contentType,
    'Content-Disposition': contentDisposition(file.grant.name, { type: file.presentation.disposition }),
    'Content-Length': end - start + 1,
    ...(range === 'whole' ? {} : { 'Content-Range': `bytes ${start}-${end}/${size}` }),
  });
  if (req.method === 'HEAD' || size === 0) return void res.end();
  res.setTimeout(STALL_LIMIT_MS, () => res.destroy());
  await pipeline(file.blob.stream(start, end), res).catch((error: NodeJS.ErrnoException) => {
    if (!GONE.has(error.code ?? '')) throw error;
  });
  return undefined;
}

/** Only the address protects a file, so pages of any origin that have the address may show it. */
function headersOf({ grant, presentation }: OpenedFile, etag: string, now: number): Headers {
  const seconds = Math.max(0, Math.floor((grant.expiresAt - now) / 1_000));
  return {
    ETag: etag,
    'Accept-Ranges': 'bytes',
    'Cache-Control': `private, max-age=${seconds}, immutable`,
    'Content-Security-Policy': presentation.contentType === 'application/pdf' ? POLICY_OF_PDF : POLICY,
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'Referrer-Policy': 'no-referrer',
  };
}

function refusalOfRange(size: number): Reply {
  const facts: ErrorFacts = { type: 'invalid_request_error', message: 'The range lies outside the file.', status: 416 };
  return { status: 416, headers: { 'Content-Range': `bytes */${size}` }, body: errorBody(facts, 'bare') };
}
