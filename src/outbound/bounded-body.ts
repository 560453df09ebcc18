// Reads the body of a reply: decompressed, with its limit applied after that.
import { pipeline, Readable, type Transform } from 'node:stream';
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from 'node:zlib';
import { EgressError } from './egress.ts';

/** The value of `accept-encoding`. */
export const CODINGS = 'gzip, br, zstd, deflate';

const MAX_CODINGS = 3;
/** The window that browsers accept (RFC 9659): 8 MB. */
const ZSTD_WINDOW_BITS = 23;

type Decoder = (source: Readable) => Transform | Promise<Transform>;

const zstd: Decoder = () => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_BITS } });

/** Decoders by the name of the coding; null for one that changes nothing. */
const DECODERS: ReadonlyMap<string, Decoder | null> = new Map([
  ['identity', null],
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  ['br', () => createBrotliDecompress()],
  ['zstd', zstd],
  ['deflate', inflateOf],
]);

/** Some servers send zlib for `deflate`, as specified; some omit its header. */
async function inflateOf(source: Readable): Promise<Transform> {
  const first = await peek(source);
  const hasHead = first !== null && (first[0]! & 0x0f) === 8;
  return hasHead ? createInflate() : createInflateRaw();
}

/** The first chunk of a stream, which remains in it; null when it is empty. */
async function peek(source: Readable): Promise<Buffer | null> {
  for (;;) {
    const piece = source.read() as Buffer | null;
    if (piece !== null) {
      source.unshift(piece);
      return piece;
    }
    if (source.readableEnded || source.destroyed) return null;
    await new Promise<void>((resolve, reject) => {
      source.once('readable', resolve);
      source.once('end', resolve);
      source.once('error', reject);
    });
  }
}

/** What was read of a body, never more than requested. */
export interface BoundedBody {
  readonly bytes: Uint8Array;
  /** True when there was more. */
  readonly overflow: boolean;
}

export interface Bounds {
  readonly maxBytes: number;
  /** Called with the size of each chunk before it is buffered. If it throws, reading ends. */
  readonly received?: ((bytes: number) => void) | undefined;
}

/**
 * Reads at most `maxBytes` of a body in these codings, as `content-encoding` lists them, and closes it. Rejects with
 * `EgressError` for an unknown coding, and with the errors of `received`, the stream or a decoder.
 */
export async function readBounded(body: Readable, codings: string, bounds: Bounds): Promise<BoundedBody> {
  // A failure of any part reaches the reader through the last one.
  body.on('error', () => undefined);
  try {
    return await take(await decoded(body, codings), bounds);
  } finally {
    body.destroy();
  }
}

async function decoded(body: Readable, codings: string): Promise<Readable> {
  const names = codings
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  let source = body;
  for (const name of names.toReversed()) {
    const decoder = DECODERS.get(name);
    if (decoder === undefined || names.length > MAX_CODINGS)
      throw new EgressError('bad_reply', 'The reply uses an unknown compression.');
    if (decoder !== null) source = pipeline(source, await decoder(source), () => undefined);
  }
  return source;
}

async function take(source: Readable, { maxBytes, received }: Bounds): Promise<BoundedBody> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of source as AsyncIterable<Buffer>) {
    const room = maxBytes - size;
    received?.(Math.min(piece.length, room));
    pieces.push(piece.length > room ? piece.subarray(0, room) : piece);
    if (piece.length > room) return { bytes: Buffer.concat(pieces), overflow: true };
    size += piece.length;
  }
  return { bytes: Buffer.concat(pieces), overflow: false };
}
