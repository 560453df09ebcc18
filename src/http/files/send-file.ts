// Sends a file, whole or in part: the one way for everything that is stored as a blob.
import type { ServerResponse } from 'node:http';
import { create as contentDisposition } from 'content-disposition';
import { ErrandError } from '../../domain/errors.ts';
import type { OpenBlob, ServedAs } from '../../files/blobs/open-blob.ts';
import type { Presentation } from '../../files/media-type.ts';
import type { Exchange } from '../frame/exchange.ts';
import { type Headers, limitStall, writeHead } from '../replies/head.ts';
import { type ByteRange, rangeOf } from './byte-range.ts';
import { isKnown, type Validators } from './conditions.ts';
import { policyOf } from './policies.ts';

/** What is read at once; of larger files, the next piece is read while one is being sent. */
export const PIECE_BYTES = 131_072;

/** A file to send. */
export interface FileToSend extends Validators {
  readonly name: string;
  readonly presentation: Presentation;
  /** Closed by whoever opened it. */
  readonly blob: OpenBlob;
  /** In addition to those that every file is sent with. */
  readonly headers: Headers;
}

/** Answers a request for a file: with all of it, with the one range that is asked for, or with 304. Throws `bad_range`. */
export async function sendFile({ req, res }: Exchange, file: FileToSend): Promise<void> {
  const { size } = file.blob;
  const { name, presentation, etag, lastModified } = file;
  const headers = {
    ...file.headers,
    ...policyOf(presentation),
    ETag: etag,
    ...(lastModified === null ? {} : { 'Last-Modified': lastModified }),
    'Accept-Ranges': 'bytes',
  };
  if (isKnown(req.headers, file)) {
    writeHead(res, 304, headers);
    return void res.end();
  }
  const isHead = req.method === 'HEAD';
  // What browsers show has to stay under the policies of the daemon.
  if (!isHead && presentation.disposition === 'attachment' && file.blob.address !== undefined)
    return sendElsewhere(res, file, await file.blob.address(servedAs(file)));
  // HEAD describes the whole file: ranges do not apply to it.
  const range = isHead ? 'whole' : rangeOf(req.headers, size, file);
  if (range === 'unsatisfiable') throw outOfRange(size);
  const part = range === 'whole' ? { start: 0, end: size - 1 } : range;
  // Before the head: what can't be read at all is refused.
  const first = isHead ? Buffer.alloc(0) : await firstPiece(file.blob, part);
  writeHead(res, range === 'whole' ? 200 : 206, {
    ...headers,
    'Content-Type': presentation.contentType,
    'Content-Disposition': contentDisposition(name, { type: presentation.disposition }),
    'Content-Length': part.end - part.start + 1,
    ...(range === 'whole' ? {} : { 'Content-Range': `bytes ${part.start}-${part.end}/${size}` }),
  });
  if (isHead) return void res.end();
  limitStall(res);
  if (part.start + first.length > part.end) return void res.end(first);
  await sendPieces(res, file.blob, { first, ...part });
}

function servedAs({ name, presentation, headers }: FileToSend): ServedAs {
  const disposition = contentDisposition(name, { type: presentation.disposition });
  return { contentType: presentation.contentType, disposition, cacheControl: String(headers['Cache-Control'] ?? '') };
}

function sendElsewhere(res: ServerResponse, { headers, presentation }: FileToSend, address: string): void {
  writeHead(res, 307, { ...headers, ...policyOf(presentation), Location: address, 'Cache-Control': 'no-store' });
  res.end();
}

async function firstPiece(blob: OpenBlob, { start, end }: ByteRange): Promise<Buffer> {
  const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, end - start + 1));
  await blob.read(piece, start);
  return piece;
}

/** Sends what follows the first piece in two buffers: one is filled while the other is on its way. */
async function sendPieces(res: ServerResponse, blob: OpenBlob, part: ByteRange & { readonly first: Buffer }) {
  const { first, start, end } = part;
  let next = start + first.length;
  let [filled, free]: [Buffer, Buffer] = [first, Buffer.allocUnsafe(Math.min(PIECE_BYTES, end - next + 1))];
  for (;;) {
    const sent = send(res, filled);
    const piece = free.subarray(0, Math.min(PIECE_BYTES, end - next + 1));
    if (piece.length > 0) await blob.read(piece, next);
    // A client may disconnect at any time.
    if (!(await sent)) return;
    if (piece.length === 0) break;
    next += piece.length;
    [filled, free] = [piece, filled];
  }
  res.end();
}

/** Whether some bytes have left; false when the client has disconnected. The bytes may be overwritten then. */
export function send(res: ServerResponse, bytes: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    if (res.destroyed) return resolve(false);
    const close = () => resolve(false);
    res.once('close', close);
    res.write(bytes, (error) => {
      res.off('close', close);
      resolve(error == null);
    });
  });
}

function outOfRange(size: number): ErrandError {
  return new ErrandError('bad_range', 'The range lies outside the file.', { details: { size } });
}
