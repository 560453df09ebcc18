// A copy of the database while a daemon writes to it: one moment of it, taken on a connection of its own.
import Connection from 'better-sqlite3';
import { makePrivateFile } from './private-file.ts';

/** Pages of one step; between two steps, the caller may rest. */
const STEP_PAGES = 256;

/**
 * Copies the database to a new file, page by page: what is unchanged stays where it was. `step` is called between the steps, with
 * the pages that were copied and the pages in all; what it throws ends the copy. Writers are not held up. Call it on a thread that no request waits for.
 */
export async function copyDatabase(file: string, target: string, step: (done: number, total: number) => void) {
  const source = new Connection(file, { readonly: true, timeout: 5_000 });
  try {
    // One transaction for all steps. Without it, each commit would begin the copy anew.
    source.exec('BEGIN');
    source.prepare('SELECT 1 FROM sqlite_master').get();
    makePrivateFile(target);
    await source.backup(target, {
      progress: ({ totalPages, remainingPages }) => {
        step(totalPages - remainingPages, totalPages);
        return STEP_PAGES;
      },
    });
  } finally {
    source.close();
  }
}
