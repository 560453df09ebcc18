// The space of the file: how much there is, and giving that of removed rows back to the disk, a few pages a commit.
import { statSync } from 'node:fs';
import type { EngineFigures, SpaceBatch, SpaceGiven } from '../database.ts';
import type { Reader, Step, Transaction } from '../statement.ts';

/** Free pages that stay for what comes next. */
const KEPT_PAGES = 512;
/** `auto_vacuum = INCREMENTAL`. */
const INCREMENTAL = 2;

/** How the engine is doing. */
export function* figuresOf(tx: Reader, file: string): Step<EngineFigures> {
  const pageBytes = yield* pragmaOf(tx, 'page_size');
  const shrinks = (yield* pragmaOf(tx, 'auto_vacuum')) === INCREMENTAL;
  const free = yield* pragmaOf(tx, 'freelist_count');
  const pages = yield* pragmaOf(tx, 'page_count');
  const { version } = (yield* tx.get<{ version: string }>('SELECT sqlite_version() AS version'))!;
  return {
    engine: 'sqlite',
    version,
    bytes: pages * pageBytes,
    pageBytes,
    freeBytes: free * pageBytes,
    shrinks,
    logBytes: statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0,
    pool: null,
    replicas: [],
  };
}

/** Gives free pages back. `rows` is their number. */
export function* giveBackIn(tx: Transaction, batch: SpaceBatch): Step<SpaceGiven> {
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
}

type Pragma = 'page_size' | 'page_count' | 'freelist_count' | 'auto_vacuum';

function* pragmaOf(tx: Reader, name: Pragma): Step<number> {
  const [value] = Object.values((yield* tx.get<Readonly<Record<string, number>>>(`PRAGMA ${name}`))!);
  return value!;
}
