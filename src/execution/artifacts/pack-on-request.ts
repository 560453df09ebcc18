// Packing on request: small archives, which nobody may ever ask for, and those that were removed by age.
import type { Archive } from '../../domain/sessions/artifact.ts';
import type { ArchiveWish } from '../../store/artifacts/requested-archives.ts';
import { type ArtifactParts, withAllHeld } from './artifact-parts.ts';

/** The archive that is wished for; null while it has still to be packed. Never rejects. */
export type PackOnRequest = (wish: ArchiveWish, sessionSeq: number) => Promise<Archive | null>;

/** Archives that are packed at once, and that wait for it: these for some ten seconds. */
const [AT_ONCE, WAITING] = [2, 64];
const DEADLINE_MS = 30_000;

export interface OnRequestParts extends ArtifactParts {
  /** Has the collector pack what is pending of a session. */
  wake(sessionSeq: number): void;
  released(): void;
}

/** Makes it, with the end of all that is being packed. */
export function makePackOnRequest(parts: OnRequestParts): { readonly pack: PackOnRequest; ended(): Promise<unknown> } {
  const lanes: Promise<unknown>[] = Array.from({ length: AT_ONCE }, () => Promise.resolve());
  const wished = new Map<string, Promise<Archive | null>>();
  let turn = 0;

  function begin(wish: ArchiveWish, sessionSeq: number): Promise<Archive | null> {
    turn = (turn + 1) % AT_ONCE;
    const packed = lanes[turn]!.then(() => packOrPostpone(parts, wish, sessionSeq));
    lanes[turn] = packed;
    return packed;
  }

  return {
    pack: async (wish, sessionSeq) => {
      const name = `${wish.kind} ${wish.seq}`;
      const known = wished.get(name);
      if (known !== undefined) return known;
      if (wished.size === AT_ONCE + WAITING || parts.stopping.aborted) return null;
      const packed = begin(wish, sessionSeq);
      wished.set(name, packed);
      return packed.finally(() => void wished.delete(name));
    },
    ended: () => Promise.all(lanes),
  };
}

/** What is large, or can't be packed, is left to the collector, which repeats it or reports that it failed. */
async function packOrPostpone(parts: OnRequestParts, wish: ArchiveWish, sessionSeq: number): Promise<Archive | null> {
  const { log, stopping, store } = parts;
  const facts = { kind: wish.kind, session: sessionSeq };
  try {
    const archive = await packNow(parts, wish).finally(parts.released);
    if (archive !== 'large') return archive;
  } catch (error) {
    if (stopping.aborted) return null;
    log.warn({ ...facts, err: error }, 'an archive could not be packed on request; will retry');
  }
  try {
    await (wish.kind === 'run' ? store.artifacts.packRunAgain(wish.seq) : store.artifacts.packWorkspaceAgain(wish.seq));
    parts.wake(sessionSeq);
  } catch (error) {
    log.warn({ ...facts, err: error }, 'an archive that was asked for could not be scheduled');
  }
  return null;
}

async function packNow(parts: ArtifactParts, wish: ArchiveWish): Promise<Archive | 'large' | null> {
  const { store, blobs, removal, snapshotThread, packedOnRequest, stopping: signal } = parts;
  const hold = blobs.hold();
  let isKept = false;
  try {
    const found = await withAllHeld(parts, async () => {
      const requested = await store.artifacts.findRequested(wish, packedOnRequest);
      const packing = typeof requested === 'object' && 'packing' in requested ? requested.packing : undefined;
      for (const { sha256 } of packing?.files ?? []) hold.add(sha256);
      return requested;
    });
    if (found === 'large' || found === undefined) return found ?? null;
    if ('archive' in found) return found.archive;
    const { files, runSeq } = found.packing;
    const order = { files, hold, deadlineMs: DEADLINE_MS, signal };
    const packed = await snapshotThread[wish.kind === 'run' ? 'packTarGz' : 'packZip'](order);
    isKept = await store.artifacts.keepRequested(wish, runSeq, packed);
    return isKept ? packed : null;
  } finally {
    const held = hold.release();
    // A later run may have replaced some files meanwhile.
    await removal.remove(isKept ? [] : held);
  }
}
