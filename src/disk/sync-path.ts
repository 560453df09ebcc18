// Makes a file durable, or the names in a directory.
import { closeSync, fsyncSync, openSync } from 'node:fs';

export function syncPath(path: string): void {
  const opened = openSync(path, 'r');
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
