// Writing a small file so that a crash leaves the whole of it or nothing.
import { dirname } from 'node:path';
import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';

/** A name is on the disk only when its directory is. */
function syncDirectory(path: string): void {
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/** Writes a file through a temporary one beside it, synced before it takes its name. */
export function writeWhole(path: string, content: string | Uint8Array, mode: number): void {
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
