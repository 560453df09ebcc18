// The file that new passwords and keys go to: for its owner only, a line as soon as there is something to lose.
import { closeSync, fsyncSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { codeOf, messageOf } from '../../../../domain/errors.ts';
import { CommandError } from '../../../frame/exit-codes.ts';

export interface CredentialsFile {
  add(username: string, password: string | undefined, key: string | undefined): void;
  /** Removes it when it has nothing. */
  close(): void;
}

/** Makes it. Throws `conflict` when it exists, `failure` when it can't be made. */
export function openCredentialsFile(file: string): CredentialsFile {
  let handle: number;
  try {
    handle = openSync(file, 'wx', 0o600);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw new CommandError('conflict', `${file} exists already.`);
    throw new CommandError('failure', `${file} could not be written: ${messageOf(error)}`);
  }
  let lines = 0;
  const write = (cells: readonly string[]) => {
    writeSync(handle, `${cells.join(',')}\n`);
    fsyncSync(handle);
  };
  write(['username', 'password', 'key']);
  return {
    // None of them can have a comma, a quote or a line end.
    add: (username, password = '', key = '') => {
      write([username, password, key]);
      lines += 1;
    },
    close: () => {
      closeSync(handle);
      if (lines === 0) unlinkSync(file);
    },
  };
}
