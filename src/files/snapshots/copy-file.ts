// Reads a regular file of a workspace once: computes its hash, and optionally copies its bytes with the same holes.
import { createHash, type Hash } from 'node:crypto';
import { type BigIntStats, closeSync, constants, fstatSync, ftruncateSync, openSync, readSync } from 'node:fs';
import { MB } from '../../domain/byte-units.ts';
import { codeOf } from '../../domain/errors.ts';
import { O_PATH } from '../../disk/open-beneath.ts';
import { writeAll } from '../blobs/write-new.ts';
import type { FoundFile } from './walk-files.ts';
import type { Pace } from './pace.ts';

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const CHUNK_BYTES = MB;
const HOLE_BYTES = 4_096;
const ZEROS = Buffer.alloc(HOLE_BYTES);
/** Shared by all readers of a thread: none yields between reading and using it. */
const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
/** Codes of a file that is gone, was replaced, or is inaccessible. */
const PASSED_OVER = new Set(['ENOENT', 'ELOOP', 'ENXIO', 'EACCES', 'EPERM', 'EIO', 'ESTALE']);

/** Identifies an unchanged file. The change time can't be set by anyone. */
export function identityOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`;
}

/**
 * The hash of a file as it was found, lower-case hex; with `copy`, also writes its bytes to a new file of that path. Undefined
 * when it can't be read, is something else by now, or changes while it is read. Throws errors of the copy, and those of `pace`.
 */
export async function readFound(found: FoundFile, copy: string | null, pace: Pace): Promise<string | undefined> {
  const file = openFound(found);
  if (file === undefined) return undefined;
  try {
    const writer = copy === null ? undefined : openWriter(copy, found.stats);
    try {
      const hash = createHash('sha256');
      const size = await readThrough(file, { hash, writer, pace, limit: Number(found.stats.size) });
      if (size !== Number(found.stats.size) || !isSame(file, found)) return undefined;
      writer?.finish(size);
      return hash.digest('hex');
    } finally {
      writer?.close();
    }
  } finally {
    closeSync(file);
  }
}

/** The bytes of a file as it was found, which is no longer than one chunk. Undefined as for `readFound`. */
export function readSmall(found: FoundFile): Buffer | undefined {
  const file = openFound(found);
  if (file === undefined) return undefined;
  try {
    const bytes = readChunk(file, 0);
    if (bytes?.length !== Number(found.stats.size) || !isSame(file, found)) return undefined;
    return Buffer.from(bytes);
  } finally {
    closeSync(file);
  }
}

/** Whether an open file is still the one that was found, unchanged. */
export const isSame = (file: number, { stats }: FoundFile): boolean =>
  identityOf(fstatSync(file, { bigint: true })) === identityOf(stats);

/**
 * Opens a file as it was found; undefined when it can't be read or is something else by now. Referenced first and opened by
 * that reference, so that it never blocks on a pipe and never touches a device.
 */
export function openFound(found: FoundFile): number | undefined {
  let named: number | undefined;
  try {
    named = openSync(found.place, O_PATH | O_NOFOLLOW);
    const stats = fstatSync(named, { bigint: true });
    if (!stats.isFile() || identityOf(stats) !== identityOf(found.stats)) return undefined;
    return openSync(`/proc/self/fd/${named}`, O_RDONLY | O_NONBLOCK);
  } catch (error) {
    if (PASSED_OVER.has(codeOf(error) ?? '')) return undefined;
    throw error;
  } finally {
    if (named !== undefined) closeSync(named);
  }
}

interface Reading {
  readonly hash: Hash;
  readonly writer: Writer | undefined;
  readonly pace: Pace;
  /** Reading stops here if the file grows. */
  readonly limit: number;
}

async function readThrough(file: number, { hash, writer, pace, limit }: Reading): Promise<number> {
  let size = 0;
  while (size <= limit) {
    const bytes = readChunk(file, size);
    if (bytes === undefined || bytes.length === 0) break;
    hash.update(bytes);
    writer?.write(bytes, size);
    size += bytes.length;
    await pace.rest();
  }
  return size;
}

function readChunk(file: number, position: number): Buffer | undefined {
  try {
    return chunk.subarray(0, readSync(file, chunk, 0, CHUNK_BYTES, position));
  } catch (error) {
    if (PASSED_OVER.has(codeOf(error) ?? '')) return undefined;
    throw error;
  }
}

/** Writes a file from its beginning to its end. */
export interface Writer {
  readonly fd: number;
  write(bytes: Buffer, position: number): void;
  finish(size: number): void;
  close(): void;
}

/** Makes a new file, with the holes of the one that it is a copy of. */
export function openWriter(path: string, { blocks, size }: Pick<BigIntStats, 'blocks' | 'size'>): Writer {
  const file = openSync(path, 'wx', 0o600);
  // Otherwise a few kilobytes of workspace could become terabytes of blobs.
  const hasHoles = blocks * 512n < size;
  return {
    fd: file,
    write: (bytes, position) => {
      if (hasHoles)
        for (const [from, to] of filledParts(bytes)) writeAll(file, bytes.subarray(from, to), position + from);
      else writeAll(file, bytes, position);
    },
    finish: (size) => {
      if (hasHoles) ftruncateSync(file, size);
    },
    close: () => closeSync(file),
  };
}

/** The parts of some bytes that are not all zeros. */
function* filledParts(bytes: Buffer): Generator<readonly [from: number, to: number]> {
  let from: number | undefined;
  for (let at = 0; at < bytes.length; at += HOLE_BYTES) {
    const end = Math.min(at + HOLE_BYTES, bytes.length);
    const isHole = bytes.compare(ZEROS, 0, end - at, at, end) === 0;
    if (!isHole) from ??= at;
    else if (from !== undefined) {
      yield [from, at];
      from = undefined;
    }
  }
  if (from !== undefined) yield [from, bytes.length];
}
