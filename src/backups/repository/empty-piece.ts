// The piece of a content that has nothing but zeros: a hole of a file, which takes no space.

/** A content is cut into pieces of this size. */
export const PIECE_BYTES = 1_048_576;

const ZEROS = Buffer.alloc(PIECE_BYTES);

export const isEmptyPiece = (bytes: Buffer): boolean => bytes.length === PIECE_BYTES && bytes.equals(ZEROS);
