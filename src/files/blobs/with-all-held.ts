// All blobs held while rows that name some of them are read.
import type { BlobStore } from './blobs.ts';

/** Holds them until what is read is held by itself: meanwhile, nothing that the rows name is removed, whatever else is committed. */
export async function withAllHeld<T>(blobs: Pick<BlobStore, 'holdRest'>, read: () => Promise<T>): Promise<T> {
  const all = blobs.holdRest();
  try {
    await all.quiet();
    return await read();
  } finally {
    all.release();
  }
}
