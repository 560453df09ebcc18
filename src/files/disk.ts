// The disk of the data directory: whether it has enough free space for new work.
import { freeBytes, megabytes } from '../disk/disk-space.ts';
import { MB } from '../domain/byte-units.ts';
import type { Clock } from '../domain/clock.ts';
import type { Settings } from '../domain/settings.ts';

/** With less free space, nothing can be stored. */
const NOTHING_BYTES = MB;
/** For how long a look at a disk with ample space is valid. */
const LOOK_MS = 100;
/** That much above what has to stay free is ample: no disk is written that fast. */
const AMPLE_MB = 1_024;

/** What is wrong with a disk. */
export interface Shortage {
  /** Suitable for every caller. */
  readonly words: string;
}

export interface Disk {
  /** What is wrong with it; null while it has enough free space. */
  shortage(): Shortage | null;
}

interface DiskParts {
  readonly directory: string;
  settings(): Settings;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Other than `freeBytes`. */
  readonly free?: (directory: string) => number;
}

/** Watches the disk of a directory. While it has ample space, a burst of turns costs one look. */
export function makeDisk({ directory, settings, clock, free: look = freeBytes }: DiskParts): Disk {
  let ample = { keepFreeMb: 0, until: -Infinity };
  return {
    shortage: () => {
      const { keepFreeMb } = settings().disk;
      const now = clock.monotonic();
      if (now < ample.until && keepFreeMb === ample.keepFreeMb) return null;
      const free = look(directory);
      if (megabytes(free) >= keepFreeMb + AMPLE_MB) ample = { keepFreeMb, until: now + LOOK_MS };
      if (free < NOTHING_BYTES) return { words: FULL };
      if (megabytes(free) >= keepFreeMb) return null;
      return { words: `The daemon's disk is almost full: less than ${keepFreeMb} MB are free.` };
    },
  };
}

const FULL = "The daemon's storage refuses to write: no space is left on the disk.";
