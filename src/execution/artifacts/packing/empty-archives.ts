// Archives without files: a ready result has an archive even when there was nothing to pack.
import type { Archive } from '../../../domain/sessions/artifact.ts';
import type { BlobStore } from '../../../files/blobs/blobs.ts';
import type { SnapshotThread } from '../../../files/snapshots/snapshot-thread.ts';

export type ArchiveKind = 'tar.gz' | 'zip';

export interface EmptyArchives {
  /** The archive, packed on first request. Rejects as the snapshot thread does. */
  get(kind: ArchiveKind): Promise<Archive>;
}

const DEADLINE_MS = 60_000;

/** Makes them. No row refers to their blobs, so each node has its own, held as long as it runs. */
export function makeEmptyArchives(parts: {
  readonly snapshotThread: SnapshotThread;
  readonly blobs: BlobStore;
}): EmptyArchives {
  const { snapshotThread } = parts;
  const hold = parts.blobs.hold();
  const packed = new Map<ArchiveKind, Promise<Archive>>();
  return {
    get: (kind) => {
      const known = packed.get(kind);
      if (known !== undefined) return known;
      const order = { files: [], hold, deadlineMs: DEADLINE_MS };
      const archive = kind === 'zip' ? snapshotThread.packZip(order) : snapshotThread.packTarGz(order);
      packed.set(kind, archive);
      archive.catch(() => packed.delete(kind));
      return archive;
    },
  };
}
