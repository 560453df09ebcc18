// Gives the space of removed rows back to the disk, a few pages a commit.
import { type Database, FREES } from '../engine/database.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import type { Batch, Removed } from './batch.ts';

/** The database file, in bytes. */
export interface FileSpace {
  readonly bytes: number;
  /** Of pages without rows. */
  readonly freeBytes: number;
  /** Whether these can be given back while the daemon runs. */
  readonly shrinks: boolean;
}

/** Free pages that stay for what comes next. */
const KEPT_PAGES = 512;
/** `auto_vacuum = INCREMENTAL`. */
const INCREMENTAL = 2;

/** The verbs. */
export function makeSpace({ read, write }: Database) {
  return {
    getSpace: read(function* (tx: Reader): Step<FileSpace> {
      const pageBytes = yield* pragmaOf(tx, 'page_size');
      const shrinks = (yield* pragmaOf(tx, 'auto_vacuum')) === INCREMENTAL;
      const freeBytes = (yield* pragmaOf(tx, 'freelist_count')) * pageBytes;
      return { bytes: (yield* pragmaOf(tx, 'page_count')) * pageBytes, freeBytes, shrinks };
    }),

    /** Gives free pages back. `rows` is their number. */
    giveBack: write(function* (tx: Transaction, batch: Batch): Step<Removed> {
      let rows = 0;
      if ((yield* pragmaOf(tx, 'auto_vacuum')) !== INCREMENTAL) return { rows, more: false };
      for (let room = batch.room(); room > 0; room = batch.room()) {
        const free = (yield* pragmaOf(tx, 'freelist_count')) - KEPT_PAGES;
        if (free <= 0) return { rows, more: false };
        // One page each: a statement without columns is stepped once.
        for (let page = 0; page < Math.min(room, free); page += 1) yield* tx.run('PRAGMA incremental_vacuum(1)');
        rows += Math.min(room, free);
      }
      return { rows, more: true };
    }, FREES),
  };
}

function* pragmaOf(tx: Reader, name: 'page_size' | 'page_count' | 'freelist_count' | 'auto_vacuum'): Step<number> {
  const [value] = Object.values((yield* tx.get<Readonly<Record<string, number>>>(`PRAGMA ${name}`))!);
  return value!;
}
