// All blobs that may be unused.
import type { BlobStore } from '../../../src/files/blobs/blobs.ts';

export async function* listAll({ listHere, listShared }: Pick<BlobStore, 'listHere' | 'listShared'>) {
  yield* listHere();
  yield* listShared();
}
