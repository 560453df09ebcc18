// Which part of a file a request asks for, and whether the client already has it (RFC 9110).
import type { IncomingHttpHeaders } from 'node:http';
import parseRange from 'range-parser';

/** The bytes from `start` to `end`, inclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

const SUFFIX = /^bytes=\s*-(\d+)\s*$/i;

/** The requested part; `whole` for requests that are not supported, such as several parts at once. */
export function rangeOf(
  headers: IncomingHttpHeaders,
  size: number,
  etag: string,
): ByteRange | 'whole' | 'unsatisfiable' {
  const { range, 'if-range': ifRange } = headers;
  // Files have no modification time to compare a date with.
  if (range === undefined || (ifRange !== undefined && ifRange !== etag)) return 'whole';
  const parsed = parseRange(size, atMost(range, size));
  if (parsed === -1) return 'unsatisfiable';
  if (parsed === -2 || parsed.type.toLowerCase() !== 'bytes') return 'whole';
  const [part, ...more] = parsed;
  return part === undefined || more.length > 0 ? 'whole' : part;
}

/** The last 500 bytes of a file of 200 are the whole file; the parser reports none. */
function atMost(range: string, size: number): string {
  const [, length] = SUFFIX.exec(range) ?? [];
  return length === undefined || Number(length) <= size ? range : `bytes=-${size}`;
}

/** Whether `If-None-Match` matches what would be sent. */
export function isKnown({ 'if-none-match': names }: IncomingHttpHeaders, etag: string): boolean {
  if (names === undefined) return false;
  return names.split(',').some((name) => name.trim() === '*' || name.trim().replace(/^W\//, '') === etag);
}
