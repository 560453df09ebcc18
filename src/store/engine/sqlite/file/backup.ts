// The backup of the database before its schema changes.
import { closeSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import Connection from 'better-sqlite3';
import { syncPath } from '../../../../disk/sync-path.ts';
import { ErrandError, messageOf } from '../../../../domain/errors.ts';

/**
 * Copies the database of a connection to `target`, replacing an older copy. Only a complete copy gets the name: it is
 * written under another name, synced and verified first. Throws `unavailable` when that fails.
 */
export function backUp(connection: Connection.Database, target: string): void {
  const temporary = `${target}.new`;
  try {
    // SQLite refuses to copy into a file with content, and a killed start may have left one, with its journal.
    for (const left of [temporary, `${temporary}-journal`]) rmSync(left, { force: true });
    closeSync(openSync(temporary, 'wx', 0o600));
    connection.prepare('VACUUM INTO ?').run(temporary);
    syncPath(temporary);
    verify(temporary, connection.pragma('user_version', { simple: true }));
    renameSync(temporary, target);
    syncPath(dirname(target));
  } catch (error) {
    rmSync(temporary, { force: true });
    const words = `The database could not be copied to ${target} before its schema changes: ${messageOf(error)}.`;
    throw new ErrandError('unavailable', `${words} Nothing was changed. Make room there, and start again.`);
  }
}

function verify(file: string, version: unknown): void {
  const copy = new Connection(file, { readonly: true });
  try {
    const found = copy.pragma('quick_check(1)', { simple: true });
    if (found !== 'ok') throw new Error(`the copy is damaged: ${String(found)}`);
    if (copy.pragma('user_version', { simple: true }) !== version) throw new Error('the copy is not whole');
  } finally {
    copy.close();
  }
}
