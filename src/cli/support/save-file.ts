// Writes a new file for its owner only, and never over another one.
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { codeOf, messageOf } from '../../domain/errors.ts';
import { CommandError } from '../frame/exit-codes.ts';

/** Throws `conflict` when the file exists, `failure` when it can't be written; then nothing is left of it. */
export async function saveFile(path: string, write: (to: Writable) => Promise<void>): Promise<void> {
  const stream = createWriteStream(path, { flags: 'wx', mode: 0o600 });
  try {
    await write(stream);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw new CommandError('conflict', `${path} exists already.`);
    await rm(path, { force: true });
    throw new CommandError('failure', `${path} could not be written: ${messageOf(error)}`);
  }
}
