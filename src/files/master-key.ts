// The master key: 32 random bytes that every other key of the daemon is derived from (J6).
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { ErrandError } from '../domain/errors.ts';

const KEY_BYTES = 32;

/** Makes the master key where there is none. Throws `conflict` when the file holds something else. */
export function ensureMasterKey(path: string): void {
  if (!existsSync(path)) {
    const file = openSync(path, 'wx', 0o600);
    try {
      writeSync(file, randomBytes(KEY_BYTES));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  }
  const { length } = readFileSync(path);
  if (length !== KEY_BYTES) {
    throw new ErrandError('conflict', `${path} must hold ${KEY_BYTES} bytes, but holds ${length}.`);
  }
}
