// The bytes of small blobs on their way to the commit that first lists them, which stores them.
import { KB } from '../byte-units.ts';

/** Blobs of more bytes are files. The record of workspaces says what was measured. */
export const SMALL_BLOB_BYTES = 64 * KB;

/** By the keys of the blobs. */
export type Contents = ReadonlyMap<string, Buffer>;

export const NO_CONTENTS: Contents = new Map();

/** Bytes that no row has yet. They may be more than can be held at once. */
export interface ContentSource {
  has(key: string): boolean;
  /** Those of the keys that it has. */
  read(keys: Iterable<string>): Promise<Contents>;
}
