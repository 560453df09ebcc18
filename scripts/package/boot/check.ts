// Whether a directory has the files of the executable as they were packed.
import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import path from 'node:path';
import type { PackedFile } from './contents.ts';

/** False for a missing file too, and for one that is a link. What else lies there is not looked at. */
export function check(files: readonly PackedFile[], directory: string): boolean {
  const buffer = Buffer.allocUnsafe(Math.max(0, ...files.map(({ bytes }) => bytes)) + 1);
  return files.every((file) => isAsPacked(file, path.join(directory, file.path), buffer));
}

function isAsPacked({ bytes, sha256, mode }: PackedFile, file: string, buffer: Buffer): boolean {
  let descriptor: number;
  try {
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch {
    return false;
  }
  try {
    const status = fstatSync(descriptor);
    if (status.size !== bytes || (status.mode & 0o777) !== mode) return false;
    let length = 0;
    for (let read = 1; read > 0; length += read)
      read = readSync(descriptor, buffer, length, buffer.length - length, null);
    return length === bytes && createHash('sha256').update(buffer.subarray(0, bytes)).digest('hex') === sha256;
  } finally {
    closeSync(descriptor);
  }
}
