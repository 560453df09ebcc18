// Blob stores without rows, and such whose small blobs are files, as earlier versions have left them.
import { type BlobStore, openBlobStore } from '../../../src/files/blobs/blobs.ts';
import type { SmallBlobRows } from '../../../src/files/blobs/small-content.ts';
import { openFileBlobs } from '../../../src/files/blobs/file-blobs.ts';

/** Small blobs are there as long as they are held. */
export const NO_ROWS: SmallBlobRows = {
  find: async () => undefined,
  findSome: async () => new Map(),
  listUses: async () => [],
  remove: async () => true,
};

/** What is put is in a file, however small it is. */
export async function openBlobsInFiles(directory: string, rows: SmallBlobRows = NO_ROWS): Promise<BlobStore> {
  const files = await openFileBlobs(directory);
  const blobs = await openBlobStore(directory, rows);
  return {
    ...blobs,
    hold: () => {
      const hold = blobs.hold();
      return { ...hold, put: (bytes) => files.keep(bytes instanceof Uint8Array ? [bytes] : bytes, hold.add) };
    },
  };
}
