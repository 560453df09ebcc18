// The disk of the data directory: whether enough of it is free for new work.
import { freeBytes, megabytes } from '../disk/disk-space.ts';
import type { Settings } from '../domain/settings.ts';

/** With less free, nothing can be kept. */
const NOTHING_BYTES = 1_048_576;

/** What is wrong with a disk. `isFull`: nothing is left, and not only less than should be. */
export interface Shortage {
  readonly isFull: boolean;
  /** For everybody. */
  readonly words: string;
}

export interface Disk {
  /** What is wrong with it; null while enough is free. */
  shortage(): Shortage | null;
}

/** Watches the disk that a directory lies on. */
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
