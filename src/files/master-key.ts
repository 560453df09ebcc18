// The master key: 32 random bytes that every other key of the daemon is derived from (J6).
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { ErrandError } from '../domain/errors.ts';
import { writeWhole } from './write-whole.ts';

const KEY_BYTES = 32;

/** Makes the master key where there is none. Throws `conflict` when the file holds something else. */
export function ensureMasterKey(path: string): void {
  if (!existsSync(path)) writeWhole(path, randomBytes(KEY_BYTES), 0o600);
  const { length } = readFileSync(path);
  if (length !== KEY_BYTES) {
    throw new ErrandError('conflict', `${path} must hold ${KEY_BYTES} bytes, but holds ${length}.`);
  }
}
