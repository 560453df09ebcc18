// Writes a small file so that a crash leaves either all of it or nothing.
import { dirname } from 'node:path';
import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';

/** A name is durable only when its directory is synced. */
function syncDirectory(path: string): void {
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/** Writes a file through a temporary one next to it, which is synced before it is renamed. */
export function writeAtomically(path: string, content: string | Uint8Array, mode: number): void {
  const temporary = `${path}.new`;
  const file = openSync(temporary, 'w', mode);
  try {
    writeFileSync(file, content);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
  syncDirectory(dirname(path));
}
