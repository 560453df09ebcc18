// The bytes of small blobs, wherever they are: in memory, held by someone until a row has them, in rows.
import { hash } from 'node:crypto';
import { MB } from '../../domain/byte-units.ts';
import type { Contents } from '../../domain/sessions/contents.ts';
import { type HeldContents, makeHeldContents } from './held-contents.ts';
import { makeSmallBlobs } from './small-blobs.ts';

/** The rows of small blobs. */
export interface SmallBlobRows {
  find(key: string): Promise<Buffer | undefined>;
  findSome(keys: readonly string[]): Promise<Contents>;
  listUses(after: string, limit: number): Promise<readonly { readonly key: string; readonly isUsed: boolean }[]>;
  /** Removes one, unless it is listed. Returns false when it is held at that moment. */
  remove(key: string, isHeld: () => boolean): Promise<boolean>;
}

/** What someone holds of them. */
export interface OwnContents extends Omit<HeldContents, 'held'> {
  /** Takes bytes, and returns their key; undefined when there is no room for them in memory. */
  put(bytes: Buffer, hold: (key: string) => void): string | undefined;
}

export interface SmallContent {
  open(): OwnContents;
  find(key: string): Promise<Buffer | undefined>;
  findSome(keys: readonly string[]): Promise<Contents>;
  /** Remembers the bytes that `load` reads of a file. */
  keep(key: string, load: () => Promise<Buffer>): Promise<Buffer>;
  /** Forgets one whose file is removed. */
  forget(key: string): void;
  remove(key: string, isHeld: () => boolean): Promise<boolean>;
  /** Keys of rows that no other row lists. */
  listUnused(): AsyncIterable<string>;
}

/** What one holder, and all of them, may put into memory until a row has it. More is in files. */
const [MAX_OF_ONE, MAX_OF_ALL] = [MB, 16 * MB];
const ROWS_AT_ONCE = 100;

/** For others than the holder: its file may be gone before it says so, and a row may have them as well. */
const readHeld = (contents: HeldContents, keys: readonly string[]): Promise<Contents> =>
  contents.read(keys).catch(() => new Map<string, Buffer>());

export function makeSmallContent(rows: SmallBlobRows): SmallContent {
  const memory = makeSmallBlobs();
  const open = new Set<HeldContents>();

  function hasRoom(size: number, own: HeldContents): boolean {
    const all = Array.from(open).reduce((sum, { held }) => sum + held, 0);
    return own.held + size <= MAX_OF_ONE && all + size <= MAX_OF_ALL;
  }

  function openContents(): OwnContents {
    const own = makeHeldContents();
    open.add(own);
    return {
      ...own,
      put: (bytes, hold) => {
        if (!hasRoom(bytes.length, own)) return undefined;
        const key = hash('sha256', bytes);
        hold(key);
        own.add({ bytes, places: [{ key, at: 0, size: bytes.length }] });
        // Attachments are read at once.
        memory.add(key, bytes);
        return key;
      },
      release: () => {
        open.delete(own);
        own.release();
      },
    };
  }

  return {
    open: openContents,
    find: async (key) => {
      const known = memory.find(key);
      if (known !== undefined) return known;
      const holder = Array.from(open).find((contents) => contents.has(key));
      const held = holder && (await readHeld(holder, [key])).get(key);
      return held ?? memory.keep(key, () => rows.find(key));
    },
    findSome: async (keys) => {
      const found = new Map(await rows.findSome(keys));
      const missing = keys.filter((key) => !found.has(key));
      if (missing.length > 0)
        for (const contents of open)
          for (const [key, bytes] of await readHeld(contents, missing)) found.set(key, bytes);
      return found;
    },
    keep: memory.keep,
    forget: memory.remove,
    remove: async (key, isHeld) => {
      const isRemoved = await rows.remove(key, isHeld);
      memory.remove(key);
      return isRemoved;
    },
    listUnused: async function* () {
      for (let last: string | undefined = ''; last !== undefined; ) {
        const some = await rows.listUses(last, ROWS_AT_ONCE);
        for (const { key, isUsed } of some) if (!isUsed) yield key;
        last = some.at(-1)?.key;
      }
    },
  };
}
