// A new SQLite file with the schema, as a copy of one that was made before: to make the tables takes most of the time that opening takes.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openFile } from '../../../src/store/engine/sqlite/file/connection.ts';

let made: Buffer | undefined;

/** Puts the file there, as opening it would make it. Leaves what is there, and a path without a directory, to those who open it. */
export function newFile(path: string): void {
  if (!existsSync(path) && existsSync(dirname(path)))
    writeFileSync(path, (made ??= make()), { flag: 'wx', mode: 0o600 });
}

function make(): Buffer {
  const directory = mkdtempSync(join(tmpdir(), 'errand-new-'));
  try {
    const file = join(directory, 'errand.db');
    openFile(file).close();
    return readFileSync(file);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
