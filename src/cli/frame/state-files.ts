// What the command keeps between its calls: small files in the user's state directory, which only the user may read.
import { renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Environment } from '../../config/environment.ts';
import { makeDirectories } from '../../disk/make-directories.ts';

/** The directory (XDG Base Directory specification); undefined where the user has none. */
export function stateDirectoryOf({ XDG_STATE_HOME: given, HOME: home }: Environment): string | undefined {
  const state = given !== undefined && path.isAbsolute(given) ? given : home && path.join(home, '.local', 'state');
  return state ? path.join(state, 'errand') : undefined;
}

/** Replaces a file as a whole; others read the old text or the new one. Throws the system's error. */
export function replaceStateFile(file: string, text: string): void {
  makeDirectories(path.dirname(file), 0o700);
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, text, { mode: 0o600 });
  renameSync(unfinished, file);
}
