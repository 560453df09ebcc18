// Reads blobs of a data directory from beside: those that are rows of its database, and those that are files.
import { readFileSync } from 'node:fs';
import type Connection from 'better-sqlite3';
import { codeOf } from '../../domain/errors.ts';
import { blobPath } from '../../files/blobs/blob-place.ts';

/** Makes what reads the bytes of a blob; null: there are none. */
export function makeReadStored(database: Connection.Database, directory: string): (key: string) => Buffer | null {
  const row = database.prepare<[string], Buffer>('SELECT bytes FROM small_blobs WHERE key = ?').pluck();
  return (key) => row.get(key) ?? readFile(blobPath(directory, key));
}

function readFile(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}
