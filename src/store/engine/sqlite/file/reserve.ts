// Reserved space, so that space can be freed on a full disk: a deletion has to be written first.
import { closeSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { freeBytes } from '../../../../disk/disk-space.ts';
import { MB } from '../../../../domain/byte-units.ts';

/** Enough for some hundred commits of that kind, and for a restart of the write-ahead log. */
const RESERVE_BYTES = 8 * MB;
/** Free space that is required before the reserve is made again: otherwise the reserve itself would fill the disk. */
const PLENTY_BYTES = 4 * RESERVE_BYTES;
const PIECE_BYTES = MB;

export interface Reserve {
  /** Releases the space. Returns false when it was already released, or can't be, as on a disk that is read-only by now. */
  spend(): boolean;
  /** Whether it is released. It is made again as soon as there is plenty of space. */
  isSpent(): boolean;
}

/** No reserve. */
export const NO_RESERVE: Reserve = { spend: () => false, isSpent: () => false };

/**
 * Reserves space in a file, unless the file already exists. On a disk without enough space, the reserve counts as released.
 */
export function openReserve(file: string): Reserve {
  let spent = !isWhole(file);
  const refill = () => {
    try {
      if (freeBytes(dirname(file)) < PLENTY_BYTES) return;
      fill(file);
      spent = false;
    } catch {
      remove(file);
    }
  };
  if (spent) refill();
  return {
    spend: () => {
      if (spent || !remove(file)) return false;
      spent = true;
      return true;
    },
    isSpent: () => {
      if (spent) refill();
      return spent;
    },
  };
}

function isWhole(file: string): boolean {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats?.isFile() === true && stats.size === RESERVE_BYTES;
}

/** Returns whether it is gone. Nobody handles an error: it would come in the midst of a commit, and end the daemon. */
function remove(file: string): boolean {
  try {
    rmSync(file, { force: true });
    return true;
  } catch {
    return false;
  }
}

/** Not zeros: some file systems store those without using space. */
function fill(file: string): void {
  rmSync(file, { force: true });
  const opened = openSync(file, 'wx', 0o600);
  try {
    const piece = randomBytes(PIECE_BYTES);
    for (let at = 0; at < RESERVE_BYTES; )
      at += writeSync(opened, piece, 0, Math.min(PIECE_BYTES, RESERVE_BYTES - at), at);
  } finally {
    closeSync(opened);
  }
}
