// Syncs of the write-ahead log, in the background or within the event loop: SQLite's own always block it for as long as the disk takes.
import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs';
import Connection from 'better-sqlite3';
import type { Clock } from '../../../../domain/clock.ts';

/** Puts all that was committed on the disk. Both fail as SQLite would, when the disk fails to keep it. */
export interface LogSync {
  /** In another thread, while the event loop turns; at once when that thread comes to it too late. */
  inBackground(): Promise<void>;
  /** At once, which takes two switches of threads less. */
  now(): void;
  close(): void;
}

/**
 * How long another thread may take: these are few, and hashes of passwords or a file system that hangs may occupy them, while the
 * whole store waits.
 */
export const PATIENCE_MS = 20;

/**
 * Opens it for a database that has a log. What an earlier process left there without a sync is synced at once: from now on it
 * is read, and so reported. The file is the same as long as a connection is open.
 */
export function openLogSync(file: string, clock: Pick<Clock, 'after'>): LogSync {
  // The kernel reports a failure once to each of them, so neither hides it from the other.
  const [log, logInBackground] = [openSync(`${file}-wal`, 'r'), openSync(`${file}-wal`, 'r')];
  let [isBusy, isClosed] = [false, false];
  let failure: unknown;

  function now(): void {
    if (failure !== undefined) throw failure;
    try {
      fdatasyncSync(log);
    } catch (error) {
      throw failureOf(error);
    }
  }

  /** The callback may come long after the patience has ended, and then still report a failure. */
  function startInBackground(done: (error: unknown) => void): void {
    isBusy = true;
    fdatasync(logInBackground, (error) => {
      isBusy = false;
      if (isClosed) closeSync(logInBackground);
      if (error !== null) failure = failureOf(error);
      done(failure);
    });
  }

  now();
  return {
    now,
    inBackground: () =>
      new Promise((resolve, reject) => {
        const atOnce = () => {
          try {
            resolve(now());
          } catch (error) {
            reject(error);
          }
        };
        if (isBusy || failure !== undefined) return atOnce();
        const late = clock.after(PATIENCE_MS, atOnce);
        startInBackground((error) => {
          late.cancel();
          if (error === undefined) resolve();
          else reject(error);
        });
      }),
    close: () => {
      isClosed = true;
      closeSync(log);
      if (!isBusy) closeSync(logInBackground);
    },
  };
}

function failureOf(error: unknown): Error {
  const message = `disk I/O error: ${(error as NodeJS.ErrnoException).code}`;
  return Object.assign(new Connection.SqliteError(message, 'SQLITE_IOERR_FSYNC'), { cause: error });
}
