// Packing: archives of runs and of workspaces, built from blobs, so that the next run need not wait for them (E3, E5).
import type { Archive, FileVersion } from '../../../domain/sessions/artifact.ts';
import type { BlobHold } from '../../../files/blobs/blobs.ts';
import { mayBeStored } from '../../../files/blobs/no-space.ts';
import { isNoThread } from '../../../files/snapshots/send-request.ts';
import type { Packing } from '../../../store/artifacts/artifact-queue.ts';
import { withAllHeld } from '../../../files/blobs/with-all-held.ts';
import { type ArtifactParts, failureOf, requestLimits } from '../artifact-parts.ts';
import { recordedFiles } from '../recording/look.ts';

/**
 * Packs the next archives of a session, and records them in their request. Returns whether there may be more. Throws when the store
 * refuses, and when there is no space, no bucket or no thread: they are retried.
 */
export async function packNext(parts: ArtifactParts, sessionSeq: number): Promise<boolean> {
  const { packings, begun } = await withAllHeld(parts.blobs, async () => {
    const packings: PackingOf[] = [];
    for (const packing of await parts.store.artifacts.listPacking(sessionSeq))
      packings.push({ ...packing, sessionSeq, files: await filesToPack(parts, packing, sessionSeq) });
    return { packings, begun: packings.map((packing) => packHeld(parts, packing)) };
  });
  const ends: Promise<unknown>[] = [];
  // Without waiting for the commit of one before the next: they share it.
  for (const one of begun) ends.push((await one)());
  const failed = (await Promise.allSettled(ends)).find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
  return packings.filter(({ kind }) => kind === 'run').length === packings.length && packings.length > 1;
}

/** `files`: null when the workspace changes while they are read; the run that changes it has it packed. */
type PackingOf = Packing & { readonly sessionSeq: number; readonly files: readonly FileVersion[] | null };
type PackRequestFiles = { readonly files: readonly FileVersion[] };
type Packed = Archive | { readonly failure: string };

async function filesToPack(
  { store }: ArtifactParts,
  { kind, runSeq, token }: Packing,
  sessionSeq: number,
): Promise<PackingOf['files']> {
  const files = await recordedFiles(store, kind, kind === 'run' ? runSeq : sessionSeq);
  const isSame = kind === 'run' || (await store.artifacts.findWorkspace(sessionSeq)).token === token;
  return isSame ? files : null;
}

/** Packs one archive, and returns what records it. Rejects never, but that may. */
async function packHeld(parts: ArtifactParts, packing: PackingOf): Promise<() => Promise<void>> {
  const { files } = packing;
  if (files === null) return async () => undefined;
  const hold = parts.blobs.hold();
  for (const { sha256 } of files) hold.add(sha256);
  const packed = await pack(parts, { ...packing, files }, hold).then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  return async () => {
    let unused: readonly string[] | undefined;
    let held: readonly string[] = [];
    try {
      if ('error' in packed) throw packed.error;
      if (parts.stopping.aborted) return;
      unused = await record(parts, packing, packed.value, hold);
    } finally {
      held = hold.release();
    }
    await parts.removal.remove(unused ?? held);
  };
}

async function pack(parts: ArtifactParts, packing: Packing & PackRequestFiles, hold: BlobHold): Promise<Packed> {
  const { snapshotThread, stopping } = parts;
  const { files } = packing;
  const { deadlineMs } = requestLimits(parts.settings());
  try {
    return await snapshotThread[packing.kind === 'run' ? 'packTarGz' : 'packZip']({
      files,
      hold,
      deadlineMs,
      signal: stopping,
    });
  } catch (error) {
    if (!stopping.aborted) {
      const { kind, runId: run_id, sessionId: session_id } = packing;
      parts.log.error({ session_id, run_id, kind, err: error }, 'an archive could not be packed');
    }
    if (mayBeStored(error) || isNoThread(error)) throw error;
    return { failure: failureOf(error, 'The archive could not be packed.') };
  }
}

/** Returns the blobs that are no longer needed; undefined means all that were held. */
async function record(
  { store }: ArtifactParts,
  packing: PackingOf,
  packed: Packed,
  { contents }: Pick<BlobHold, 'contents'>,
): Promise<string[] | undefined> {
  const { artifacts } = store;
  const { kind, runSeq, sessionSeq } = packing;
  if ('failure' in packed) {
    if (kind === 'run') await artifacts.failArtifacts(runSeq, packed.failure);
    else await artifacts.failExport(sessionSeq, runSeq, packed.failure);
    return undefined;
  }
  const archive = { ...packed, contents: await contents.read([packed.key]) };
  if (kind === 'run') return (await artifacts.finishArtifacts(runSeq, archive)) ? [] : undefined;
  const finished = await artifacts.finishExport(sessionSeq, runSeq, archive);
  if (finished === undefined) return undefined;
  return finished.replacedKey === null ? [] : [finished.replacedKey];
}
