// The marker of a data directory that is being restored: what it contains is not complete.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ErrandError } from '../domain/errors.ts';

export const markerOf = (dataDir: string): string => join(dataDir, 'restore-incomplete');

/** Throws `conflict` for a directory that a restore has not completed. */
export function requireRestored(dataDir: string): void {
  if (existsSync(markerOf(dataDir)))
    throw new ErrandError(
      'conflict',
      `A restore into ${dataDir} did not complete, so its data is not whole. Remove the directory, and restore again.`,
    );
}
