// The snapshot thread over a bucket: what it packs or lays out is brought to it, and what it stores is in the bucket before anyone knows of it.
import type { S3Blobs } from './blobs/s3/s3-blobs.ts';
import type { Archive, PackRequest, SnapshotThread } from './snapshots/snapshot-thread.ts';

/** Wraps it. Its verbs reject with `unavailable`, too, while the bucket is away (`isStorageAway`). */
export function secureSnapshots(
  thread: SnapshotThread,
  { bring, secure }: Pick<S3Blobs, 'bring' | 'secure'>,
): SnapshotThread {
  const packing =
    (pack: SnapshotThread['packZip']) =>
    async (request: PackRequest): Promise<Archive> => {
      await bring(request.files.map(({ sha256 }) => sha256));
      const archive = await pack(request);
      await secure([archive.key], request.signal);
      return archive;
    };
  return {
    ...thread,
    takeSnapshot: async (request) => {
      const snapshot = await thread.takeSnapshot(request);
      if (request.hold !== null)
        await secure(
          snapshot.files.map(({ sha256 }) => sha256),
          request.signal,
        );
      return snapshot;
    },
    layOut: (request) => thread.layOut({ ...request, bring }),
    packTarGz: packing(thread.packTarGz),
    packZip: packing(thread.packZip),
  };
}
