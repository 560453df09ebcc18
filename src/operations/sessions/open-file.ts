// Opens what a signed address gives (E7): the signature is all that is asked for, as long as its session is there.
import { notFound } from '../../domain/errors.ts';
import type { BlobStore, OpenBlob } from '../../files/blobs/blobs.ts';
import type { FileAddresses, FileGrant } from '../../files/file-address.ts';
import { type Presentation, presentationOf } from '../../files/media-type.ts';
import type { Store } from '../../store/open-store.ts';

export interface OpenFileParts {
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly fileAddresses: FileAddresses;
}

/** A file as it is to be sent. Whoever has it closes the blob. */
export interface OpenedFile {
  readonly grant: FileGrant;
  readonly presentation: Presentation;
  readonly blob: OpenBlob;
}

/** Opens by the path of an address. Throws `forbidden` when it is altered or has expired, `not_found` when its session or file is gone. */
export function makeOpenFile({ store, blobs, fileAddresses }: OpenFileParts) {
  return async (path: string): Promise<OpenedFile> => {
    const grant = fileAddresses.verify(path);
    if ((await store.sessions.find(grant.sessionId)) === undefined) throw notFound('File');
    return { grant, presentation: presentationOf(grant.name, grant.disposition), blob: await blobs.open(grant.key) };
  };
}
