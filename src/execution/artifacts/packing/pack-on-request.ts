// Packing on request: small archives, which whoever asks waits for. Where the large ones are, their downloads pack them.
import type { Archive, ArchiveRequest, UnpackedArchive } from '../../../domain/sessions/artifact.ts';
import type { ArtifactParts } from '../artifact-parts.ts';
import { makeLanes } from './lanes.ts';
import { packNow } from './pack-now.ts';

/** The archive that is wished for; null while it has still to be packed. Never rejects. */
export type PackOnRequest = (request: ArchiveRequest, sessionSeq: number) => Promise<Archive | UnpackedArchive | null>;

/** Archives that are packed at once, and that wait for it: these for some ten seconds. */
const LANES = { atOnce: 2, waiting: 64 };
const DEADLINE_MS = 30_000;

export interface OnRequestParts extends ArtifactParts {
  /** Has the collector pack what is pending of a session. */
  wake(sessionSeq: number): void;
  released(): void;
}

/** Makes it, with the end of all that is being packed. */
export function makePackOnRequest(parts: OnRequestParts): { readonly pack: PackOnRequest; ended(): Promise<unknown> } {
  const lanes = makeLanes<Archive | UnpackedArchive | null>(LANES);
  return {
    pack: async (request, sessionSeq) => {
      if (parts.stopping.aborted) return null;
      const packed = lanes.join(`${request.kind} ${request.seq}`, () => packOrPostpone(parts, request, sessionSeq));
      return (await packed) ?? null;
    },
    ended: lanes.ended,
  };
}

/** What can't be packed is left to the collector, which repeats it or reports that it failed. */
async function packOrPostpone(
  parts: OnRequestParts,
  request: ArchiveRequest,
  sessionSeq: number,
): Promise<Archive | UnpackedArchive | null> {
  const { log, stopping, store } = parts;
  const facts = { kind: request.kind, session: sessionSeq };
  try {
    const limits = { limit: parts.waitedFor, deadlineMs: DEADLINE_MS };
    const packed = await packNow(parts, request, limits).finally(parts.released);
    if (packed === undefined) return null;
    if ('unpacked' in packed) return packed;
    return packed.isKept ? packed.archive : null;
  } catch (error) {
    if (stopping.aborted) return null;
    log.warn({ ...facts, err: error }, 'an archive could not be packed on request; will retry');
  }
  try {
    await (request.kind === 'run'
      ? store.artifacts.packRunAgain(request.seq)
      : store.artifacts.packWorkspaceAgain(request.seq));
    parts.wake(sessionSeq);
  } catch (error) {
    log.warn({ ...facts, err: error }, 'an archive that was asked for could not be scheduled');
  }
  return null;
}
