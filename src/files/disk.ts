// The disk of the data directory: whether it has enough free space for new work.
import { freeBytes, megabytes } from '../disk/disk-space.ts';
import type { Settings } from '../domain/settings.ts';

/** With less free space, nothing can be stored. */
const NOTHING_BYTES = 1_048_576;

/** What is wrong with a disk. `isFull`: it has no space left at all, rather than less than it should have. */
export interface Shortage {
  readonly isFull: boolean;
  /** Suitable for every caller. */
  readonly words: string;
}

export interface Disk {
  /** What is wrong with it; null while it has enough free space. */
  shortage(): Shortage | null;
}

/** Watches the disk of a directory. */
export function makeDisk(directory: string, settings: () => Settings): Disk {
  return {
    shortage: () => {
      const { keepFreeMb } = settings().disk;
      const free = freeBytes(directory);
      if (free < NOTHING_BYTES) return { isFull: true, words: FULL };
      if (megabytes(free) >= keepFreeMb) return null;
      return { isFull: false, words: `The daemon's disk is almost full: less than ${keepFreeMb} MB are free.` };
    },
  };
}

const FULL = "The daemon's storage refuses to write: no space is left on the disk.";
