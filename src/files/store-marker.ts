// The mark of a data directory whose rows are elsewhere: the name of the PostgreSQL database that has them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../domain/errors.ts';
import { writeAtomically } from './blobs/write-atomically.ts';

export const storeMarkerOf = (dataDir: string): string => join(dataDir, 'database-location');

/** Marks it. `name`: of the database, without a password. */
export function markStore(dataDir: string, name: string): void {
  if (readStoreMark(dataDir) !== name) writeAtomically(storeMarkerOf(dataDir), `${name}\n`, 0o600);
}

/** The name; null without a mark. */
export function readStoreMark(dataDir: string): string | null {
  try {
    return readFileSync(storeMarkerOf(dataDir), 'utf8').trim();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}
