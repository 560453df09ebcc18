// Makes a directory and its missing parents.
import { mkdirSync, statSync } from 'node:fs';
import path from 'node:path';

/**
 * Throws the system's error when one of them can't be made. `mkdir` with `recursive` never ends on a file system that reports
 * ENOENT for every new name, as /proc does.
 */
export function makeDirectories(directory: string, mode: number): void {
  const missing: string[] = [];
  let at = path.resolve(directory);
  while (statSync(at, { throwIfNoEntry: false }) === undefined && at !== path.dirname(at)) {
    missing.unshift(at);
    at = path.dirname(at);
  }
  for (const folder of missing) makeDirectory(folder, mode);
  if (!isDirectory(directory)) mkdirSync(directory, { mode });
}

/** Another process may have made it first. */
function makeDirectory(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if (!isDirectory(folder)) throw error;
  }
}

function isDirectory(folder: string): boolean {
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
}
