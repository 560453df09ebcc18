// Files of the data directory that SQLite opens, created with access for their owner only, before SQLite would create them
// with wider access.
import { chmodSync, closeSync, openSync, statSync } from 'node:fs';

const OWNER = 0o600;

/**
 * Creates an empty file if there is none, and removes others' access to an existing one. An existing file is never opened
 * here: closing it would release the locks that this process holds on it.
 */
export function makePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', OWNER));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const mode = statSync(path).mode & 0o777;
    if ((mode & ~OWNER) !== 0) chmodSync(path, mode & OWNER);
  }
}
