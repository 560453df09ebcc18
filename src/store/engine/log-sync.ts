// Syncs of the write-ahead log, beside the event loop or within it: SQLite's own always block it for as long as the disk takes.
import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs';
import Connection from 'better-sqlite3';

/** Puts all that was committed on the disk. Both fail as SQLite would, when the disk fails to keep it. */
export interface LogSync {
  /** In another thread, while the event loop turns. */
  beside(): Promise<void>;
  /** At once, which takes two switches of threads less. */
  now(): void;
  close(): void;
}

/**
 * Opens it for a database that has a log. What an earlier process left there without a sync is synced at once: from now on it
 * is read, and so reported. The file is the same as long as a connection is open.
 */
export function openLogSync(file: string): LogSync {
  const log = openSync(`${file}-wal`, 'r');
  const now = () => {
    try {
      fdatasyncSync(log);
    } catch (error) {
      throw failureOf(error);
    }
  };
  now();
  return {
    now,
    beside: () =>
      new Promise((resolve, reject) => {
        fdatasync(log, (error) => (error === null ? resolve() : reject(failureOf(error))));
      }),
    close: () => closeSync(log),
  };
}

function failureOf(error: unknown): Error {
  const message = `disk I/O error: ${(error as NodeJS.ErrnoException).code}`;
  return Object.assign(new Connection.SqliteError(message, 'SQLITE_IOERR_FSYNC'), { cause: error });
}
