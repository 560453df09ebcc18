// Large archives, packed while they are downloaded: once for all who download one at the same time, and recorded for those who do later.
import { ErrandError, notFound } from '../../../domain/errors.ts';
import type { ArchiveRequest } from '../../../domain/sessions/artifact.ts';
import { type GrowingFile, openGrowing } from '../../../files/archives/growing-file.ts';
import { type ArtifactParts, requestLimits } from '../artifact-parts.ts';
import { makeLanes } from './lanes.ts';
import { packNow, type PackedNow } from './pack-now.ts';

/**
 * Begins to pack an archive of a session of some user, or joins those that wait for it. Throws `unavailable` while many are being
 * packed, in all or of that user.
 */
export type DownloadArchive = (request: Required<ArchiveRequest>, ownerSeq: number) => ArchiveDownload;

/** An archive that is being packed. */
export interface ArchiveDownload {
  /** Rejects with `not_found` when there is no such archive, or no longer, and with `unavailable` when it can't be packed. */
  readonly packed: Promise<PackedNow>;
  /** Opens what is there of it; null while there is nothing. The caller closes it. */
  open(): Promise<GrowingFile | null>;
}

/** Archives that are packed at once, and that wait for it: each may take minutes. */
const LANES = { atOnce: 2, waiting: 16 };
/** Of them, those of one user: nobody keeps the others waiting for long. */
const MOST_OF_ONE = 6;

export interface DownloadParts extends ArtifactParts {
  released(): void;
}

/** Makes it, with the end of all that is being packed. */
export function makeDownloads(parts: DownloadParts): { readonly download: DownloadArchive; ended(): Promise<unknown> } {
  const lanes = makeLanes<PackedNow>(LANES);
  const paths = new Map<string, string>();
  /** Whose they are, of all that are being packed or wait. */
  const owners = new Map<string, number>();

  function isTooMany(name: string, ownerSeq: number): boolean {
    if (owners.has(name)) return false;
    return [...owners.values()].filter((owner) => owner === ownerSeq).length >= MOST_OF_ONE;
  }

  async function pack(name: string, request: Required<ArchiveRequest>): Promise<PackedNow> {
    const { deadlineMs } = requestLimits(parts.settings());
    const limit = { fileCount: Infinity, totalBytes: Infinity };
    const begun = (path: string) => void paths.set(name, path);
    try {
      const packed = await packNow(parts, request, { limit, deadlineMs, begun });
      if (packed === undefined || 'unpacked' in packed) throw notFound('File');
      return packed;
    } catch (error) {
      if (!(error instanceof ErrandError) || error.reason !== 'not_found')
        parts.log.warn({ kind: request.kind, err: error }, 'an archive could not be packed for its download');
      throw error;
    } finally {
      paths.delete(name);
      parts.released();
    }
  }

  return {
    download: (request, ownerSeq) => {
      const name = `${request.kind} ${request.seq} ${request.runSeq}`;
      const isRefused = parts.stopping.aborted || isTooMany(name, ownerSeq);
      const packed = isRefused ? undefined : lanes.join(name, () => pack(name, request));
      if (packed === undefined)
        throw new ErrandError('unavailable', 'Many archives are being packed: try again in a minute.', {
          details: { retryAfterSeconds: 60 },
        });
      if (!owners.has(name)) {
        owners.set(name, ownerSeq);
        void packed.catch(() => undefined).then(() => owners.delete(name));
      }
      const open = async () => {
        const path = paths.get(name);
        return path === undefined ? null : openGrowing(path);
      };
      return { packed, open };
    },
    ended: lanes.ended,
  };
}
