// Keeps the code of this program as Node.js has compiled it, for the next start.
import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { enableCompileCache, flushCompileCache } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';

/** Files of some five versions of this program. */
const MAX_FILES = 500;
/** By then, a start has compiled what it needs. Kept later, it would load with it what is used once in a while. */
const STARTED_MS = 10_000;
const ANY_OTHER_USER = 0o077;

/**
 * Keeps what is loaded from now on in the folder `compiled` of a directory that this user alone can open: code is executed as it
 * is found there. Does nothing where that isn't so, or when there is no such directory.
 */
export function keepCompiledCode(directory: string): void {
  if (!isPrivate(directory)) return;
  const folder = join(directory, 'compiled');
  removeSurplus(folder);
  enableCompileCache(folder);
  setTimeout(flushCompileCache, STARTED_MS).unref();
}

function isPrivate(directory: string): boolean {
  const found = lstatSync(directory, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === process.getuid?.() && (found.mode & ANY_OTHER_USER) === 0;
}

/** Each version leaves its own files. */
function removeSurplus(folder: string): void {
  try {
    if (readdirSync(folder, { recursive: true }).length > MAX_FILES) rmSync(folder, { recursive: true });
  } catch {
    // There is none yet; or nothing is kept.
  }
}
