// The files that the executable contains, and the list of them.
import { getAsset, getRawAsset } from 'node:sea';
import { zstdDecompressSync } from 'node:zlib';

/** A file that is unpacked. */
export interface PackedFile {
  /** Below the directory of the files. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Such as 0o600. */
  readonly mode: number;
}

export interface Contents {
  /** The name of the directory: another one for other files. */
  readonly id: string;
  readonly files: readonly PackedFile[];
  /** All files one after another, in the order of the list. */
  unpack(): Buffer;
}

/** What `executable.ts` has put in. */
export function readContents(): Contents {
  const { id, files } = JSON.parse(getAsset('list', 'utf8')) as Pick<Contents, 'id' | 'files'>;
  return { id, files, unpack: () => zstdDecompressSync(new Uint8Array(getRawAsset('files'))) };
}
