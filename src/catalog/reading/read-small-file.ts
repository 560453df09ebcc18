// Reads a small text file of the operator's: never waits on a FIFO, and never reads more than its limit.
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs';

export type SmallFile =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'missing' }
  /** `why` contains no path and no content. */
  | { readonly kind: 'unreadable'; readonly why: string };

const WHY: Readonly<Record<string, string>> = {
  EACCES: 'cannot be read: permission denied',
  EISDIR: 'is a directory, not a file',
  ELOOP: 'cannot be read: a loop of links',
  ENOTDIR: 'cannot be read: its directory is not a directory',
};

function whyOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
  return WHY[code] ?? `cannot be read: ${code}`;
}

/** Up to `limit` bytes and one more, so that a file that grows while it is read is noticed. */
function readUpTo(descriptor: number, limit: number): Buffer {
  const buffer = Buffer.alloc(limit + 1);
  let length = 0;
  while (length < buffer.length) {
    const count = readSync(descriptor, buffer, length, buffer.length - length, null);
    if (count === 0) break;
    length += count;
  }
  return buffer.subarray(0, length);
}

/** The text of a regular UTF-8 file of at most `limit` bytes. Links are followed: the operator made them. */
export function readSmallFile(path: string, limit: number): SmallFile {
  let descriptor: number;
  try {
    // Without O_NONBLOCK, opening a FIFO waits for a writer that may never come.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      // A broken link was meant to be a file; to treat it as missing would silently apply the defaults.
      const link = lstatSync(path, { throwIfNoEntry: false });
      return link === undefined ? { kind: 'missing' } : { kind: 'unreadable', why: 'is a broken link' };
    }
    return { kind: 'unreadable', why: whyOf(error) };
  }
  try {
    if (fstatSync(descriptor).isDirectory()) return { kind: 'unreadable', why: 'is a directory, not a file' };
    if (!fstatSync(descriptor).isFile()) return { kind: 'unreadable', why: 'is not a regular file' };
    const bytes = readUpTo(descriptor, limit);
    if (bytes.length > limit) return { kind: 'unreadable', why: `is larger than ${limit} bytes` };
    return { kind: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (error) {
    if (error instanceof TypeError) return { kind: 'unreadable', why: 'is not UTF-8 text' };
    return { kind: 'unreadable', why: whyOf(error) };
  } finally {
    closeSync(descriptor);
  }
}
