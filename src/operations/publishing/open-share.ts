// Opens the bytes of shares: by a row of the manifest, never by a path that was put together (F4).
import type { Clock } from '../../domain/clock.ts';
import { ErrandError, notFound } from '../../domain/errors.ts';
import { folderOf } from '../../domain/publishing/manifest.ts';
import { shareStatusOf } from '../../domain/publishing/page.ts';
import type { FileVersion } from '../../domain/sessions/artifact.ts';
import type { BlobStore } from '../../files/blobs/blobs.ts';
import type { OpenBlob } from '../../files/blobs/open-blob.ts';
import type { Log } from '../../log/log.ts';
import type { Store } from '../../store/open-store.ts';
import type { SharedVersion } from '../../store/publishing/manifests.ts';

/** A file to send. The receiver closes the blob. */
export interface OpenedShare {
  /** In the workspace; begins with `/`. */
  readonly path: string;
  readonly name: string;
  readonly file: FileVersion;
  readonly version: SharedVersion;
  readonly blob: OpenBlob;
}

export interface OpenShareParts {
  readonly manifests: Pick<Store['manifests'], 'findShared' | 'findFile'>;
  readonly blobs: Pick<BlobStore, 'open'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** The look-ups. They throw `not_found`; `details.why` says why, unless the code is unknown. */
export function makeOpenShare({ manifests, blobs, clock, log }: OpenShareParts) {
  /** A share that can be read now. */
  async function require(code: string): Promise<SharedVersion> {
    const version = await manifests.findShared(code);
    if (version === undefined) throw notFound('Share');
    const status = shareStatusOf(version, clock.now());
    if (status === 'active') return version;
    const message = status === 'expired' ? 'Share not found: it has expired.' : 'Share not found: it was withdrawn.';
    throw new ErrandError('not_found', message, { details: { why: status } });
  }

  async function open(version: SharedVersion, path: string): Promise<OpenedShare> {
    const file = await manifests.findFile(version.seq, path);
    if (file === undefined) throw noFile();
    const name = path.slice(path.lastIndexOf('/') + 1);
    return { path, name, file, version, blob: await blobs.open(file.sha256).catch(lost(version, path)) };
  }

  /** A blob that is gone harms one file: the rest of the version works. */
  function lost({ pageKey, shareCode }: SharedVersion, path: string) {
    return (error: unknown): never => {
      if (!(error instanceof ErrandError) || error.reason !== 'not_found') throw error;
      log.error({ publish_key: pageKey, share_code: shareCode, path }, 'the bytes of a published file are missing');
      throw noFile();
    };
  }

  return {
    require,

    openEntry: async (code: string): Promise<OpenedShare> => {
      const version = await require(code);
      return open(version, version.entryPath);
    },

    /** A file by its path from the entry's folder, exactly as the manifest has it. */
    openAsset: async (code: string, path: string): Promise<OpenedShare> => {
      const version = await require(code);
      return open(version, folderOf(version.entryPath) + path);
    },
  };
}

const noFile = () => new ErrandError('not_found', 'File not found.', { details: { why: 'file' } });
