// Notes of objects in a bucket that no row may list: one is written before its object, and one instead of its object when that is
// removed. Bytes and rows are in two places; the note is what finds either after a crash, and waits for whoever is about to list it.
import { type Database, FREES } from './engine/database.ts';
import { listed, MOST_LISTED } from './engine/listed.ts';
import type { Reader, Step, Transaction } from './engine/statement.ts';
import { isListed } from './sessions/cleanups.ts';

/** `listed`: a row lists it, so that it is there. `noted`: it may be stored now. `removing`: it is being removed. */
export type ObjectState = 'listed' | 'noted' | 'removing';

/** What lost its last row stays for this long: another process may be about to list it again. */
export const GRACE_MS = 3_600_000;
/** Whoever has been removing something for so long has been lost: no request takes that long. */
const REMOVAL_MS = 180_000;
/** Keys of one call: the verb must not take long. */
export const MOST_OBJECTS = MOST_LISTED;

/** A bucket that has the bytes of files. */
export interface BlobLocation {
  /** `s3://BUCKET/PREFIX`. */
  readonly name: string;
  /** Whether another installation may need its objects, so that none is removed: the rows were restored. */
  readonly isShared: boolean;
}

const RENEW = 'UPDATE loose_objects SET noted_at = ? WHERE key = ? AND removing_since IS NULL';

interface Note {
  readonly notedAt: number;
  readonly removingSince: number | null;
}

function* noteOf(tx: Reader, key: string): Step<Note | undefined> {
  return yield* tx.get<Note>('SELECT noted_at, removing_since FROM loose_objects WHERE key = ?', key);
}

const isBeingRemoved = (note: Note | undefined, now: number): boolean =>
  note !== undefined && note.removingSince !== null && note.removingSince > now - REMOVAL_MS;

function* writeNote(tx: Transaction, key: string): Step<void> {
  yield* tx.run(
    `INSERT INTO loose_objects (key, noted_at) VALUES (?, ?)
     ON CONFLICT (key) DO UPDATE SET noted_at = excluded.noted_at, removing_since = NULL`,
    key,
    tx.now,
  );
}

/** Those that a table doesn't have. */
function* absentIn(tx: Reader, table: 'small_blobs' | 'loose_objects', keys: readonly string[]): Step<string[]> {
  if (keys.length === 0) return [];
  const { marks, values } = listed(keys);
  const rows = yield* tx.all<{ key: string }>(`SELECT key FROM ${table} WHERE key IN (${marks})`, ...values);
  const found = new Set(rows.map(({ key }) => key));
  return keys.filter((key) => !found.has(key));
}

/** The verbs, on at most `MOST_OBJECTS` keys each. */
export function makeObjects(database: Database) {
  return { ...makeNotes(database), ...makeRemovals(database), ...makeLocation(database) };
}

function makeNotes({ read, write }: Database) {
  return {
    /**
     * Notes those that no row lists, before they are stored; in the order of the keys. A note of one that a row lists is renewed: it may
     * be due before the caller has listed it, too.
     */
    note: write(function* (tx: Transaction, keys: readonly string[]): Step<ObjectState[]> {
      const states: ObjectState[] = [];
      for (const key of keys) {
        if (yield* isListed(tx, key)) {
          yield* tx.run(RENEW, tx.now, key);
          states.push('listed');
        } else if (isBeingRemoved(yield* noteOf(tx, key), tx.now)) states.push('removing');
        else {
          yield* writeNote(tx, key);
          states.push('noted');
        }
      }
      return states;
    }),

    /** Renews the notes of some that somebody holds, if they have any. */
    renew: write(function* (tx: Transaction, keys: readonly string[]): Step<void> {
      for (const key of keys) yield* tx.run(RENEW, tx.now, key);
    }, FREES),

    /** Those whose bytes are no row: they are, or will be, objects. */
    listRowless: read(function* (tx: Reader, keys: readonly string[]): Step<string[]> {
      return yield* absentIn(tx, 'small_blobs', keys);
    }),

    /** Those that have no note. */
    listUnnoted: read(function* (tx: Reader, keys: readonly string[]): Step<string[]> {
      return yield* absentIn(tx, 'loose_objects', keys);
    }),

    /** Notes that some lost their last row. One that is being removed is left to whoever does it. */
    noteRemoved: write(function* (tx: Transaction, keys: readonly string[]): Step<void> {
      for (const key of keys) if (!isBeingRemoved(yield* noteOf(tx, key), tx.now)) yield* writeNote(tx, key);
    }, FREES),
  };
}

function makeRemovals({ read, write }: Database) {
  return {
    /** Keys of those that are due by now, the oldest first, and when the next one is. */
    listDue: read(function* (
      tx: Reader,
      now: number,
    ): Step<{ readonly keys: readonly string[]; readonly nextAt: number | null }> {
      const before = now - GRACE_MS;
      const due = yield* tx.all<{ key: string }>(
        `SELECT key FROM loose_objects WHERE noted_at < ? AND (removing_since IS NULL OR removing_since <= ?)
         ORDER BY noted_at LIMIT ?`,
        before,
        now - REMOVAL_MS,
        MOST_OBJECTS,
      );
      const next = yield* tx.get<{ at: number }>(
        'SELECT noted_at AS at FROM loose_objects WHERE noted_at >= ? ORDER BY noted_at LIMIT 1',
        before,
      );
      return { keys: due.map(({ key }) => key), nextAt: next === undefined ? null : next.at + GRACE_MS };
    }),

    /**
     * Of some that are due, those that the caller is to remove, and nobody else stores until then. Forgets those that a row lists, and
     * postpones those that are `held`: someone may still list them.
     */
    beginRemovals: write(function* (
      tx: Transaction,
      keys: readonly string[],
      held: ReadonlySet<string>,
    ): Step<string[]> {
      const begun: string[] = [];
      for (const key of keys) {
        const note = yield* noteOf(tx, key);
        if (note === undefined || note.notedAt >= tx.now - GRACE_MS || isBeingRemoved(note, tx.now)) continue;
        if (held.has(key)) yield* writeNote(tx, key);
        else if (yield* isListed(tx, key)) yield* tx.run('DELETE FROM loose_objects WHERE key = ?', key);
        else {
          yield* tx.run('UPDATE loose_objects SET removing_since = ? WHERE key = ?', tx.now, key);
          begun.push(key);
        }
      }
      return begun;
    }, FREES),

    /** Some are removed, and others were left untouched, so that they may be stored at once. */
    endRemovals: write(function* (
      tx: Transaction,
      removed: readonly string[],
      untouched: readonly string[] = [],
    ): Step<void> {
      for (const key of removed)
        yield* tx.run('DELETE FROM loose_objects WHERE key = ? AND removing_since IS NOT NULL', key);
      for (const key of untouched) yield* tx.run('UPDATE loose_objects SET removing_since = NULL WHERE key = ?', key);
    }, FREES),
  };
}

function makeLocation({ read, write }: Database) {
  return {
    /** Where the bytes of files are; null for the data directory. */
    getLocation: read(function* (tx: Reader): Step<BlobLocation | null> {
      const sql = 'SELECT name, is_shared FROM blob_location WHERE id = 1';
      const row = yield* tx.get<{ name: string; isShared: number }>(sql);
      return row === undefined ? null : { name: row.name, isShared: row.isShared === 1 };
    }),

    /** From now on they are there, and objects of it are removed. */
    setLocation: write(function* (tx: Transaction, name: string | null): Step<void> {
      if (name === null) yield* tx.run('DELETE FROM blob_location WHERE id = 1');
      else
        yield* tx.run(
          `INSERT INTO blob_location (id, name) VALUES (1, ?)
           ON CONFLICT (id) DO UPDATE SET name = excluded.name, is_shared = 0`,
          name,
        );
    }),
  };
}
