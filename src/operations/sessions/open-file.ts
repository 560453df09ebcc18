// Opens the file of a signed address (E7): only the signature is required, as long as the session exists.
import { type Clock, within } from '../../domain/clock.ts';
import { notFound } from '../../domain/errors.ts';
import type { ArchiveDownload } from '../../execution/artifacts/packing/archive-downloads.ts';
import type { Collector } from '../../execution/artifacts/collector.ts';
import type { EmptyArchives } from '../../execution/artifacts/packing/empty-archives.ts';
import type { BlobStore } from '../../files/blobs/blobs.ts';
import type { OpenBlob } from '../../files/blobs/open-blob.ts';
import type { FileAddresses, FileGrant } from '../../files/file-address.ts';
import { type Presentation, presentationOf } from '../../files/media-type.ts';
import type { Store } from '../../store/open-store.ts';
import { readArchiveKey } from './archive-key.ts';

export interface OpenFileParts {
  readonly store: Pick<Store, 'sessions'>;
  readonly blobs: BlobStore;
  readonly fileAddresses: FileAddresses;
  readonly collector: Pick<Collector, 'downloadArchive'>;
  readonly emptyArchives: EmptyArchives;
  readonly clock: Clock;
}

interface Opened {
  readonly grant: FileGrant;
  readonly presentation: Presentation;
}

/** A file to send, by the key of its blob. The receiver closes the blob. */
export interface OpenedFile extends Opened {
  readonly key: string;
  readonly blob: OpenBlob;
}

/** An archive that is sent while it is packed. */
export interface OpenedDownload extends Opened {
  readonly download: ArchiveDownload;
  /** Opens the archive once it is packed. Throws `not_found`. */
  readonly openPacked: () => Promise<OpenBlob>;
}

/** What is packed within this time is sent like any other file, with its size. */
const PACKED_SOON_MS = 2_000;

/**
 * Opens by the path of an address. Throws `forbidden` when it was altered or has expired, `not_found` when its session or
 * file no longer exists, `unavailable` for an archive that can't be packed now.
 */
export function makeOpenFile({ store, blobs, fileAddresses, collector, emptyArchives, clock }: OpenFileParts) {
  const openAt = async (key: string) => ({ key, blob: await blobs.open(key) });
  return async (path: string): Promise<OpenedFile | OpenedDownload> => {
    const grant = fileAddresses.verify(path);
    const session = await store.sessions.find(grant.sessionId);
    if (session === undefined) throw notFound('File');
    const opened: Opened = { grant, presentation: presentationOf(grant.name, grant.disposition) };
    const request = readArchiveKey(grant.key);
    if (request === null) return { ...opened, ...(await openAt(grant.key)) };
    if ('empty' in request) return { ...opened, ...(await openAt((await emptyArchives.get(request.empty)).key)) };
    const download = collector.downloadArchive(request, session.userSeq);
    const soon = await within(clock, PACKED_SOON_MS, download.packed, undefined);
    if (soon !== undefined) return { ...opened, ...(await openAt(soon.archive.key)) };
    const openPacked = async () => blobs.open((await download.packed).archive.key);
    return { ...opened, download, openPacked };
  };
}
