// Which part of a file a request asks for (RFC 9110).
import type { IncomingHttpHeaders } from 'node:http';
import parseRange from 'range-parser';
import { isSameContent, type Validators } from './conditions.ts';

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
  validators: Validators,
): ByteRange | 'whole' | 'unsatisfiable' {
  const { range } = headers;
  if (range === undefined || !isSameContent(headers, validators)) return 'whole';
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
