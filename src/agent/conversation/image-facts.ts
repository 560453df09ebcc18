// What an image's bytes show: its real type, its size in pixels, and whether it is complete.
import { imageSize } from 'image-size';
import { KB } from '../../domain/byte-units.ts';

export interface ImageFacts {
  /** Determined from the bytes, not from the declared type. */
  readonly mimeType: string;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
}

/** The types that models accept. */
export const SHOWN_TYPES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

const HEAD_BYTES = 64 * KB;
const MAX_SEGMENT_BYTES = 64 * KB + 2;
const JPEG_START = Buffer.from([0xff, 0xd8]);
/** An empty metadata segment: the library expects one first. */
const JPEG_METADATA = Buffer.from([0xff, 0xe0, 0, 2]);
const JPEG_END = Buffer.from([0xff, 0xd9]);
const START_OF_SCAN = 0xda;
const PNG_END = Buffer.from('IEND');
const GIF_END = 0x3b;
const RIFF_HEAD_BYTES = 8;

const KINDS: readonly { readonly mimeType: string; readonly starts: readonly Buffer[] }[] = [
  { mimeType: 'image/png', starts: [Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')] },
  { mimeType: 'image/jpeg', starts: [Buffer.from([0xff, 0xd8, 0xff])] },
  { mimeType: 'image/gif', starts: [Buffer.from('GIF87a'), Buffer.from('GIF89a')] },
  { mimeType: 'image/webp', starts: [Buffer.from('RIFF')] },
  { mimeType: 'image/bmp', starts: [Buffer.from('BM')] },
];

/** The facts in an image's header: PNG, JPEG, GIF, WebP or BMP; null for anything else and for a broken header. */
export function readImageFacts(bytes: Uint8Array): ImageFacts | null {
  const buffer = viewOf(bytes);
  const kind = KINDS.find(({ starts }) => starts.some((start) => buffer.subarray(0, start.length).equals(start)));
  if (kind === undefined) return null;
  try {
    const head = kind.mimeType === 'image/jpeg' ? jpegHead(buffer) : buffer.subarray(0, HEAD_BYTES);
    // A copy: the library reads past the end of a slice of a larger buffer.
    const { width, height } = imageSize(new Uint8Array(head));
    return width > 0 && height > 0 ? { mimeType: kind.mimeType, width, height } : null;
  } catch {
    return null;
  }
}

const viewOf = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** The beginning of an image that arrives in chunks: as much as needed to read its facts. */
export interface ImageHead {
  take(piece: Uint8Array): void;
  bytes(): Uint8Array;
}

/** Makes one. A JPEG's metadata precedes its size and may take megabytes: it is dropped as it passes. */
export function makeImageHead(): ImageHead {
  let head: Buffer = Buffer.alloc(0);
  let isFull = false;
  return {
    take: (piece) => {
      if (isFull) return;
      head = withoutMetadata(Buffer.concat([head, piece]));
      isFull = head.length >= MAX_SEGMENT_BYTES + HEAD_BYTES;
    },
    bytes: () => head,
  };
}

/** A JPEG without its leading metadata segments that are complete. */
function withoutMetadata(bytes: Buffer): Buffer {
  if (!bytes.subarray(0, JPEG_START.length).equals(JPEG_START)) return bytes;
  let at = JPEG_START.length;
  while (at + 4 <= bytes.length && bytes[at] === 0xff && isMetadata(bytes[at + 1]!)) {
    const next = at + 2 + Math.max(2, bytes.readUInt16BE(at + 2));
    if (next > bytes.length) break;
    at = next;
  }
  return at === JPEG_START.length ? bytes : Buffer.concat([JPEG_START, bytes.subarray(at)]);
}

const isMetadata = (marker: number) => (marker >= 0xe0 && marker <= 0xef) || marker === 0xfe;

/** Whether an image of an accepted type has its end marker; a truncated one has none. */
export function isWholeImage(bytes: Uint8Array, mimeType: string): boolean {
  const buffer = viewOf(bytes);
  return WHOLE[mimeType]?.(buffer) ?? false;
}

const WHOLE: Readonly<Record<string, (bytes: Buffer) => boolean>> = {
  'image/png': (bytes) => bytes.lastIndexOf(PNG_END) > 0,
  // Thumbnails in the metadata have end markers of their own.
  'image/jpeg': (bytes) => bytes.lastIndexOf(JPEG_END) > jpegSegments(bytes).scan,
  'image/gif': (bytes) => bytes.lastIndexOf(GIF_END) >= bytes.length - 16,
  'image/webp': (bytes) => bytes.length >= bytes.readUInt32LE(4) + RIFF_HEAD_BYTES,
};

/** A JPEG without its metadata, up to its size: the metadata may take megabytes. */
function jpegHead(bytes: Buffer): Buffer {
  const { picture } = jpegSegments(bytes);
  return Buffer.concat([JPEG_START, JPEG_METADATA, bytes.subarray(picture, picture + HEAD_BYTES)]);
}

/** Offsets of the first segment that is not metadata, and of the image data. */
function jpegSegments(bytes: Buffer): { readonly picture: number; readonly scan: number } {
  let picture: number | undefined;
  let at = JPEG_START.length;
  while (at + 4 <= bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1]!;
    if (!isMetadata(marker)) picture ??= at;
    if (marker === START_OF_SCAN) return { picture: picture ?? at, scan: at };
    at += 2 + Math.max(2, bytes.readUInt16BE(at + 2));
  }
  return { picture: picture ?? at, scan: bytes.length };
}
