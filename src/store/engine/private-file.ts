// Files of the data directory that SQLite opens: made for their owner alone before it would make them for everybody.
import { chmodSync, closeSync, openSync, statSync } from 'node:fs';

const OWNER = 0o600;

/**
 * Makes an empty file where there is none, and takes away what others may do with one of an earlier time.
 * An existing file is never opened here: closing it would free the locks that this process holds on it.
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
