// A copy of the database while a daemon writes to it: one moment of it, taken on a connection of its own.
import { closeSync, fdatasyncSync, openSync } from 'node:fs';
import Connection from 'better-sqlite3';
import { makePrivateFile } from './private-file.ts';

/** Pages of one step; between two steps, the caller may rest. */
const STEP_PAGES = 256;
/** Synced after so many steps: otherwise the end would sync all of it at once, and commits to the same disk wait for that. */
const SYNC_STEPS = 8;

/**
 * Copies the database to a new file, page by page: what is unchanged stays where it was. `step` is called between the steps, with
 * the pages that were copied and the pages in all; what it throws ends the copy. Writers are not held up. Call it on a thread that no request waits for.
 */
export async function copyDatabase(file: string, target: string, step: (done: number, total: number) => void) {
  const source = new Connection(file, { readonly: true, timeout: 5_000 });
  let copy: number | undefined;
  try {
    // One transaction for all steps. Without it, each commit would begin the copy anew.
    source.exec('BEGIN');
    source.prepare('SELECT 1 FROM sqlite_master').get();
    makePrivateFile(target);
    copy = openSync(target, 'r');
    let steps = 0;
    await source.backup(target, {
      progress: ({ totalPages, remainingPages }) => {
        steps += 1;
        if (steps % SYNC_STEPS === 0) fdatasyncSync(copy!);
        step(totalPages - remainingPages, totalPages);
        return STEP_PAGES;
      },
    });
  } finally {
    source.close();
    if (copy !== undefined) closeSync(copy);
  }
}
