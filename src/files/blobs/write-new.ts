// Writes bytes to files of the thread that waits for it.
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';

/** Writes bytes to a new file, and syncs them if `isSynced`. */
export function writeNew(path: string, bytes: Uint8Array, isSynced: boolean): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    writeAll(file, bytes, 0);
    if (isSynced) fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Writes all bytes at a position. */
export function writeAll(file: number, bytes: Uint8Array, position: number): void {
  for (let written = 0; written < bytes.length; )
    written += writeSync(file, bytes, written, bytes.length - written, position + written);
}
