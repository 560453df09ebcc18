// Where contents are cut into pieces, so that what is unchanged is the same pieces in the next backup.
import { crc32 } from 'node:zlib';
import { PIECE_BYTES } from './empty-piece.ts';

export interface Cut {
  /** A piece has no more bytes. */
  readonly most: number;
  /** Where the piece ends that these bytes begin with. */
  readonly endIn: (bytes: Buffer) => number;
}

const whole = (most: number): Cut => ({ most, endIn: (bytes) => bytes.length });

export const WHOLE_PIECES = whole(PIECE_BYTES);

/** Of a database whose pages stay where they are: a few changed ones cost no more than this. */
const PAGES_BYTES = 131_072;
const PAGE_BYTES = 4_096;
/** One page in so many ends a piece. */
const USUAL_PAGES = 32;

/** What becomes of the pages of a database from one backup to the next. */
export type Pages = 'stay' | 'move';

export const CUTS: Readonly<Record<Pages, Cut>> = {
  stay: whole(PAGES_BYTES),
  // A piece ends with a page whose content says so, wherever that is by now.
  move: {
    most: 2 * PAGES_BYTES,
    endIn: (bytes) => {
      for (let end = PAGE_BYTES; end < bytes.length; end += PAGE_BYTES)
        if (crc32(bytes.subarray(end - PAGE_BYTES, end)) % USUAL_PAGES === 0) return end;
      return bytes.length;
    },
  },
};
