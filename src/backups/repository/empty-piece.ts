// The piece of a content that has nothing but zeros: a hole of a file, which takes no space.
import { MB } from '../../domain/byte-units.ts';

/** A content is cut into pieces of this size. */
export const PIECE_BYTES = MB;

const ZEROS = Buffer.alloc(PIECE_BYTES);

export const isEmptyPiece = (bytes: Buffer): boolean => bytes.length === PIECE_BYTES && bytes.equals(ZEROS);
