// The mark of a data directory whose rows are elsewhere: the name of the PostgreSQL database that has them, and whether it came to them later.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../domain/errors.ts';
import { writeAtomically } from './blobs/write-atomically.ts';

export const storeMarkerOf = (dataDir: string): string => join(dataDir, 'database-location');

/** The second line of one that never had the bytes of files. */
const JOINED = 'joined';

/** Marks it. `name`: of the database, without a password. `joined`: the bytes of files were in a bucket when it came, never here. */
export function markStore(dataDir: string, name: string, joined = false): void {
  const text = `${name}\n${joined ? `${JOINED}\n` : ''}`;
  if (read(dataDir) !== text) writeAtomically(storeMarkerOf(dataDir), text, 0o600);
}

/** The name; null without a mark. */
export const readStoreMark = (dataDir: string): string | null => read(dataDir)?.split('\n')[0]!.trim() ?? null;

export const hasJoined = (dataDir: string): boolean => read(dataDir)?.split('\n')[1]?.trim() === JOINED;

function read(dataDir: string): string | null {
  try {
    return readFileSync(storeMarkerOf(dataDir), 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}
