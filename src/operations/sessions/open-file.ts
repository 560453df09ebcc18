// Opens the file of a signed address (E7): only the signature is required, as long as the session exists.
import { notFound } from '../../domain/errors.ts';
import type { BlobStore, OpenBlob } from '../../files/blobs/blobs.ts';
import type { FileAddresses, FileGrant } from '../../files/file-address.ts';
import { type Presentation, presentationOf } from '../../files/media-type.ts';
import type { Store } from '../../store/open-store.ts';

export interface OpenFileParts {
  readonly store: Pick<Store, 'sessions'>;
  readonly blobs: BlobStore;
  readonly fileAddresses: FileAddresses;
}

/** A file to send. The receiver closes the blob. */
export interface OpenedFile {
  readonly grant: FileGrant;
  readonly presentation: Presentation;
  readonly blob: OpenBlob;
}

/**
 * Opens by the path of an address. Throws `forbidden` when it was altered or has expired, `not_found` when its session or
 * file no longer exists.
 */
export function makeOpenFile({ store, blobs, fileAddresses }: OpenFileParts) {
  return async (path: string): Promise<OpenedFile> => {
    const grant = fileAddresses.verify(path);
    if ((await store.sessions.find(grant.sessionId)) === undefined) throw notFound('File');
    return { grant, presentation: presentationOf(grant.name, grant.disposition), blob: await blobs.open(grant.key) };
  };
}
