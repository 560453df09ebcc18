// Small blobs that were read or put lately, in memory: reading a row, or a file of an earlier version, costs more than all else that
// sending a few kilobytes does.
import { MB } from '../../domain/byte-units.ts';

/** All of them together. */
const MAX_BYTES = 16 * MB;

export interface SmallBlobs {
  find(key: string): Buffer | undefined;
  /** Keeps the bytes of a blob, which must not be of the pool: it would keep more than them. */
  add(key: string, bytes: Buffer): void;
  /** Keeps the bytes of a blob if `load` finds them, unless one is removed meanwhile, and returns them. */
  keep<Found extends Buffer | undefined>(key: string, load: () => Promise<Found>): Promise<Found>;
  /** Forgets one that is removed. */
  remove(key: string): void;
}

/** Makes the memory: at most 16 MB, those that were used last. */
export function makeSmallBlobs(maxBytes = MAX_BYTES): SmallBlobs {
  /** By when they were used, the latest last. */
  const known = new Map<string, Buffer>();
  let total = 0;
  let removals = 0;

  function forget(key: string): void {
    total -= known.get(key)?.length ?? 0;
    known.delete(key);
  }

  function add(key: string, bytes: Buffer): void {
    forget(key);
    known.set(key, bytes);
    total += bytes.length;
    for (const oldest of known.keys()) {
      if (total <= maxBytes) return;
      forget(oldest);
    }
  }

  return {
    add,
    find: (key) => {
      const bytes = known.get(key);
      if (bytes === undefined) return undefined;
      known.delete(key);
      known.set(key, bytes);
      return bytes;
    },
    keep: async (key, load) => {
      const before = removals;
      const bytes = await load();
      if (bytes !== undefined && removals === before) add(key, bytes);
      return bytes;
    },
    remove: (key) => {
      removals += 1;
      forget(key);
    },
  };
}
