// Files of one session as Office Mode shows them: its workspace, the archive of it, and pictures of its browser (§4.8, G19).
import { notFound } from '../../domain/errors.ts';
import type { Administrator } from '../../domain/people/user.ts';
import type { Portions } from '../../domain/portions.ts';
import type { Store } from '../../store/open-store.ts';
import {
  type ArtifactOperationParts,
  makeAddressArchive,
  makeListWorkspace,
  workspaceArchiveName,
} from '../sessions/artifacts.ts';
import type { FileLeaf } from '../sessions/file-nodes.ts';
import type { AuditedAccess } from '../audited-access.ts';

/** Where something can be downloaded: the path of its signed address. */
export interface SignedFile {
  readonly address: string;
  readonly filename: string;
}

export interface SessionFileParts
  extends Pick<ArtifactOperationParts, 'fileAddresses' | 'emptyArchives' | 'collector'> {
  readonly store: Pick<Store, 'artifacts' | 'screenshots'>;
  readonly auditedAccess: Pick<AuditedAccess, 'session'>;
}

const TOOL_USE_ID = /^[\w-]+$/;
const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ['image/png', 'png'],
  ['image/jpeg', 'jpg'],
]);

/** The verbs. They throw as `AuditedAccess.session` does. */
export function makeSessionFiles({ store, auditedAccess, fileAddresses, emptyArchives, collector }: SessionFileParts) {
  const addressArchive = makeAddressArchive({ fileAddresses, emptyArchives });
  const listWorkspace = makeListWorkspace({ store, fileAddresses });
  return {
    /** The files of the workspace, in the order of their paths; null while its export isn't ready. */
    getOfficeFiles: async (caller: Administrator, id: string): Promise<Portions<FileLeaf> | null> => {
      const session = await auditedAccess.session(caller, id);
      const { status } = await store.artifacts.getWorkspaceExport(session.seq);
      return status === 'ready' ? listWorkspace(session) : null;
    },

    /** The archive of the workspace; its `address` is null while the export isn't ready. */
    getOfficeArchive: async (
      caller: Administrator,
      id: string,
    ): Promise<Pick<SignedFile, 'filename'> & { readonly address: string | null }> => {
      const session = await auditedAccess.session(caller, id);
      const filename = workspaceArchiveName(session.id);
      const { seq } = session;
      const { status, archive, isUnpacked } = await store.artifacts.getWorkspaceExport(seq);
      const packed = isUnpacked ? await collector.packOnRequest({ kind: 'workspace', seq }, seq) : archive;
      if (status !== 'ready' || (isUnpacked && packed === null)) return { address: null, filename };
      const { address } = await addressArchive(session.id, filename, packed);
      return { address, filename };
    },

    /** What the browser showed at a tool use. Throws `not_found` also when it has no picture. */
    getOfficePicture: async (caller: Administrator, id: string, toolUseId: string): Promise<SignedFile> => {
      const session = await auditedAccess.session(caller, id);
      const found = TOOL_USE_ID.test(toolUseId) ? await store.screenshots.find(session.seq, toolUseId) : undefined;
      if (found === undefined) throw notFound('Picture');
      const filename = `${toolUseId}.${EXTENSIONS.get(found.mimeType) ?? 'bin'}`;
      const file = { key: found.sha256, sessionId: session.id, name: filename, disposition: 'inline' } as const;
      return { address: fileAddresses.sign(file), filename };
    },
  };
}
