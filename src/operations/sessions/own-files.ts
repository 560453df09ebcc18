// Files of a key's sessions, listed in pages and opened by their paths.
import type { KeyCaller } from '../../domain/people/user.ts';
import { ErrandError, notFound, unprocessable } from '../../domain/errors.ts';
import type { ArtifactStatus, ExportStatus } from '../../domain/sessions/artifact.ts';
import type { BlobStore } from '../../files/blobs/blobs.ts';
import type { OpenBlob } from '../../files/blobs/open-blob.ts';
import type { FileAddresses } from '../../files/file-address.ts';
import type { Store } from '../../store/open-store.ts';
import type { Access } from '../access.ts';
import { type FileLeaf, makeLeafOf } from './file-nodes.ts';

/** Which files: all of a session as they are now, or what a run added or changed. Exactly one is named. */
export interface FileQuery {
  readonly sessionId: string | null;
  readonly runId: string | null;
  /** The path that they come after, in the order of their paths; '' for the first. */
  readonly after: string;
  readonly limit: number;
}

/** A page of them. */
export interface FilePage {
  readonly sessionId: string;
  readonly status: ExportStatus | ArtifactStatus;
  readonly files: readonly FileLeaf[];
}

/** An open file. The receiver closes the blob. */
export interface OpenedOwnFile {
  readonly sessionId: string;
  readonly file: FileLeaf;
  readonly blob: OpenBlob;
}

export interface OwnFileParts {
  readonly store: Pick<Store, 'artifacts'>;
  readonly access: Pick<Access, 'session' | 'run'>;
  readonly fileAddresses: Pick<FileAddresses, 'sign'>;
  readonly blobs: Pick<BlobStore, 'open'>;
}

/** The verbs. They throw as `Access.session` and `Access.run` do. */
export function makeOwnFileOperations({ store, access, fileAddresses: addresses, blobs }: OwnFileParts) {
  async function ofRun(caller: KeyCaller, runId: string, { after, limit }: FileQuery): Promise<FilePage> {
    const { seq, sessionId } = await access.run(caller, runId);
    const { status } = await store.artifacts.getRunArtifacts(seq);
    const files = await store.artifacts.listRunFiles(seq, after, limit);
    return { sessionId, status, files: files.map(makeLeafOf({ sessionId, addresses })) };
  }

  async function ofSession(caller: KeyCaller, id: string, { after, limit }: FileQuery): Promise<FilePage> {
    const { seq, id: sessionId } = await access.session(caller, id);
    const { status } = await store.artifacts.getWorkspaceExport(seq);
    const files = await store.artifacts.listWorkspaceFiles(seq, after, limit);
    return { sessionId, status, files: files.map(makeLeafOf({ sessionId, addresses })) };
  }

  return {
    /** A page of files. Throws `unprocessable` unless either a session or a run is named. */
    listOwnFiles: async (caller: KeyCaller, query: FileQuery): Promise<FilePage> => {
      const { sessionId, runId } = query;
      if (sessionId !== null && runId === null) return ofSession(caller, sessionId, query);
      if (runId !== null && sessionId === null) return ofRun(caller, runId, query);
      throw unprocessable('session_id', 'give either it or run_id');
    },

    /** A file of a session as it is now, by its path from the workspace. Throws `not_found` also where there is none, or its bytes are gone. */
    openOwnFile: async (caller: KeyCaller, id: string, path: string): Promise<OpenedOwnFile> => {
      const { seq, id: sessionId } = await access.session(caller, id);
      const found = await store.artifacts.findWorkspaceFile(seq, path.startsWith('/') ? path : `/${path}`);
      if (found === undefined) throw await absenceOf(seq);
      const file = makeLeafOf({ sessionId, addresses })(found);
      return { sessionId, file, blob: await blobs.open(found.sha256) };
    },
  };

  async function absenceOf(sessionSeq: number): Promise<ErrandError> {
    const { status } = await store.artifacts.getWorkspaceExport(sessionSeq);
    if (status !== 'pending') return notFound('File');
    return new ErrandError('not_found', 'File not found, so far: those of the last task are still being collected.');
  }
}
