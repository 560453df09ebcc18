// Packs one archive from blobs, and records it for all who ask for it later.
import type { Archive, ArchiveRequest, FileVersion, UnpackedArchive } from '../../../domain/sessions/artifact.ts';
import type { BlobHold } from '../../../files/blobs/blobs.ts';
import type { Requested } from '../../../store/artifacts/requested-archives.ts';
import type { WorkspaceSize } from '../../../store/artifacts/workspace-tree.ts';
import { withAllHeld } from '../../../files/blobs/with-all-held.ts';
import type { ArtifactParts } from '../artifact-parts.ts';
import { recordedFiles } from '../recording/look.ts';

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
  request: ArchiveRequest,
  { limit, deadlineMs, begun }: PackLimits,
): Promise<PackedNow | UnpackedArchive | undefined> {
  const { store, blobs, removal, snapshotThread, stopping: signal } = parts;
  const hold = blobs.hold();
  let isKept = false;
  try {
    const found = await withAllHeld(parts.blobs, async () => readRequested(parts, request, { limit, hold }));
    if (found === undefined) return undefined;
    if ('large' in found) return { unpacked: found.large };
    if ('archive' in found) return { archive: found.archive, isKept: true };
    const { files, runSeq } = found;
    const pack = snapshotThread[request.kind === 'run' ? 'packTarGz' : 'packZip'];
    const archive = await pack({ files, hold, deadlineMs, signal, ...(begun !== undefined && { begun }) });
    const contents = await hold.contents.read([archive.key]);
    isKept = await store.artifacts.keepRequested(request, runSeq, { ...archive, contents });
    return { archive, isKept };
  } finally {
    const held = hold.release();
    // A later run may have replaced some files meanwhile.
    await removal.remove(isKept ? [] : held);
  }
}

/** Undefined also when the files change while they are read, so that they may be of different moments. */
async function readRequested(
  { store }: ArtifactParts,
  request: ArchiveRequest,
  { limit, hold }: Pick<PackLimits, 'limit'> & { readonly hold: BlobHold },
): Promise<Exclude<Requested, { packing: unknown }> | PackedFiles | undefined> {
  const requested = await store.artifacts.findRequested(request, limit);
  if (requested === undefined || !('packing' in requested)) return requested;
  const { runSeq, token } = requested.packing;
  const files = await recordedFiles(store, request.kind, request.seq);
  const after = await store.artifacts.findRequested(request, limit);
  if (after === undefined || !('packing' in after)) return after;
  if (after.packing.runSeq !== runSeq || after.packing.token !== token) return undefined;
  for (const { sha256 } of files) hold.add(sha256);
  return { files, runSeq };
}

interface PackedFiles {
  readonly files: readonly FileVersion[];
  readonly runSeq: number;
}
