// Packing: archives of runs and of workspaces, built from blobs, so that the next run need not wait for them (E3, E5).
import type { Archive, FileVersion } from '../../domain/sessions/artifact.ts';
import type { BlobHold } from '../../files/blobs/blobs.ts';
import { isNoSpace } from '../../files/blobs/no-space.ts';
import type { Packing } from '../../store/artifacts/artifact-queue.ts';
import { type ArtifactParts, failureOf, orderLimits } from './artifact-parts.ts';

/**
 * Packs one archive of a session. Returns whether there was one. Throws when the store refuses or there is no space: it is
 * retried.
 */
export async function packNext(parts: ArtifactParts, sessionSeq: number): Promise<boolean> {
  const { store, blobs, stopping } = parts;
  const packing = await store.artifacts.nextPacking(sessionSeq);
  if (packing === undefined) return false;
  const hold = blobs.hold();
  let unused: readonly string[] | undefined;
  let held: readonly string[] = [];
  try {
    const packed = await pack(parts, { ...packing, sessionSeq }, hold);
    if (stopping.aborted) return false;
    unused = await record(parts, { ...packing, sessionSeq }, packed);
  } finally {
    held = hold.release();
  }
  await parts.removal.remove(unused ?? held);
  return true;
}

type PackingOf = Packing & { readonly sessionSeq: number };
type Packed = Archive | { readonly failure: string };

async function pack(parts: ArtifactParts, packing: PackingOf, hold: BlobHold): Promise<Packed> {
  const { store, snapshotThread, stopping } = parts;
  const isRun = packing.kind === 'run';
  const files = await listHeld(hold, () =>
    isRun ? store.artifacts.listRunFiles(packing.runSeq) : store.artifacts.listWorkspaceFiles(packing.sessionSeq),
  );
  const { deadlineMs } = orderLimits(parts.settings());
  try {
    return await snapshotThread[isRun ? 'packTarGz' : 'packZip']({ files, hold, deadlineMs, signal: stopping });
  } catch (error) {
    if (!stopping.aborted) {
      const { kind, runId: run_id, sessionId: session_id } = packing;
      parts.log.error({ session_id, run_id, kind, err: error }, 'an archive could not be packed');
    }
    if (isNoSpace(error)) throw error;
    return { failure: failureOf(error, 'The archive could not be packed.') };
  }
}

/**
 * Files whose blobs are all held. A later run may replace some before they are held: the list is read again until it is stable.
 */
async function listHeld(hold: BlobHold, list: () => Promise<readonly FileVersion[]>): Promise<readonly FileVersion[]> {
  const held = new Set<string>();
  for (;;) {
    const files = await list();
    const fresh = files.filter(({ sha256 }) => !held.has(sha256));
    if (fresh.length === 0) return files;
    for (const { sha256 } of fresh) {
      hold.add(sha256);
      held.add(sha256);
    }
  }
}

/** Returns the blobs that are no longer needed; undefined means all that were held. */
async function record({ store }: ArtifactParts, packing: PackingOf, packed: Packed): Promise<string[] | undefined> {
  const { artifacts } = store;
  const { kind, runSeq, sessionSeq } = packing;
  if ('failure' in packed) {
    if (kind === 'run') await artifacts.failArtifacts(runSeq, packed.failure);
    else await artifacts.failExport(sessionSeq, runSeq, packed.failure);
    return undefined;
  }
  if (kind === 'run') return (await artifacts.finishArtifacts(runSeq, packed)) ? [] : undefined;
  const finished = await artifacts.finishExport(sessionSeq, runSeq, packed);
  if (finished === undefined) return undefined;
  return finished.replacedKey === null ? [] : [finished.replacedKey];
}
