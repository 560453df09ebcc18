// Packs one archive from blobs, and records it for all who ask for it later.
import type { Archive, ArchiveWish, UnpackedArchive } from '../../domain/sessions/artifact.ts';
import type { WorkspaceSize } from '../../store/artifacts/workspace-tree.ts';
import { type ArtifactParts, withAllHeld } from './artifact-parts.ts';

interface PackLimits {
  /** Archives of more are not packed. */
  readonly limit: WorkspaceSize;
  readonly deadlineMs: number;
  /** Called with the file that the archive is written to before it is a blob; a small one never is. */
  readonly begun?: (path: string) => void;
}

/** `isKept`: it is recorded. Otherwise the files have changed meanwhile, and its blob is removed. */
export interface PackedNow {
  readonly archive: Archive;
  readonly isKept: boolean;
}

/** Undefined: nothing is ready to be packed. Rejects as the snapshot thread and the store do. */
export async function packNow(
  parts: ArtifactParts,
  wish: ArchiveWish,
  { limit, deadlineMs, begun }: PackLimits,
): Promise<PackedNow | UnpackedArchive | undefined> {
  const { store, blobs, removal, snapshotThread, stopping: signal } = parts;
  const hold = blobs.hold();
  let isKept = false;
  try {
    const found = await withAllHeld(parts, async () => {
      const requested = await store.artifacts.findRequested(wish, limit);
      const packing = requested !== undefined && 'packing' in requested ? requested.packing : undefined;
      for (const { sha256 } of packing?.files ?? []) hold.add(sha256);
      return requested;
    });
    if (found === undefined) return undefined;
    if ('large' in found) return { unpacked: found.large };
    if ('archive' in found) return { archive: found.archive, isKept: true };
    const { files, runSeq } = found.packing;
    const order = { files, hold, deadlineMs, signal, ...(begun !== undefined && { begun }) };
    const archive = await snapshotThread[wish.kind === 'run' ? 'packTarGz' : 'packZip'](order);
    isKept = await store.artifacts.keepRequested(wish, runSeq, archive);
    return { archive, isKept };
  } finally {
    const held = hold.release();
    // A later run may have replaced some files meanwhile.
    await removal.remove(isKept ? [] : held);
  }
}
