// Small blobs, whose bytes are rows: stored in the commit that first lists them, removed when nothing lists them any more.
import { type Contents, NO_CONTENTS } from '../../domain/sessions/contents.ts';
import { type Database, FREES } from '../engine/database.ts';
import { listed, MOST_LISTED } from '../engine/listed.ts';
import type { Reader, Step, Transaction } from '../engine/statement.ts';
import { isInUse, REFERENCES } from './cleanups.ts';

/** A small blob, and whether a row lists it. */
export interface SmallBlobUse {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  readonly isUsed: boolean;
}

/** Stores those of some contents that are listed under these keys, in the commit that lists them. */
export function* keepContents(tx: Transaction, keys: Iterable<string>, contents: Contents = NO_CONTENTS): Step<void> {
  for (const key of new Set(keys)) {
    const bytes = contents.get(key);
    if (bytes !== undefined)
      yield* tx.run('INSERT INTO small_blobs (key, bytes) VALUES (?, ?) ON CONFLICT DO NOTHING', key, bytes);
  }
}

const REMOVE = `DELETE FROM small_blobs WHERE key = ? AND NOT (${isInUse('?')})`;
const USES = `SELECT key, length(bytes) AS size, ${isInUse('small_blobs.key')} AS used
  FROM small_blobs WHERE key > ? ORDER BY key LIMIT ?`;

export function* usesIn(tx: Reader, after: string, limit: number): Step<SmallBlobUse[]> {
  const rows = yield* tx.all<{ key: string; size: number; used: number }>(USES, after, limit);
  return rows.map(({ key, size, used }) => ({ key, size, isUsed: used === 1 }));
}

/** The verbs. Bytes never change, so what has read them once may keep them. */
export function makeSmallBlobRows({ read, write }: Database) {
  return {
    find: read(function* (tx: Reader, key: string): Step<Buffer | undefined> {
      return (yield* tx.get<{ bytes: Buffer }>('SELECT bytes FROM small_blobs WHERE key = ?', key))?.bytes;
    }, 'committed'),

    /** Those of some keys that are there. The caller limits how much that is. */
    findSome: read(function* (tx: Reader, keys: readonly string[]): Step<Contents> {
      const found = new Map<string, Buffer>();
      for (let at = 0; at < keys.length; at += MOST_LISTED) {
        const { marks, values } = listed(keys.slice(at, at + MOST_LISTED));
        const sql = `SELECT key, bytes FROM small_blobs WHERE key IN (${marks})`;
        for (const { key, bytes } of yield* tx.all<{ key: string; bytes: Buffer }>(sql, ...values))
          found.set(key, bytes);
      }
      return found;
    }, 'committed'),

    /** Up to `limit` of them behind a key, in their order. */
    listUses: read(usesIn),

    /** Removes one, unless a row lists it. Returns false, having removed nothing, when someone holds it at that moment. */
    remove: write(function* (tx: Transaction, key: string, isHeld: () => boolean): Step<boolean> {
      if (isHeld()) return false;
      yield* tx.run(REMOVE, key, ...REFERENCES.map(() => key), key);
      return true;
    }, FREES),
  };
}
