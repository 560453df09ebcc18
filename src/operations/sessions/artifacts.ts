// What runs have produced: a session's workspace, and the files of one run (§2.8, §2.9, E6).
import type {
  Archive,
  ArtifactError,
  ArtifactStatus,
  ExportStatus,
  FileVersion,
  UnpackedArchive,
} from '../../domain/sessions/artifact.ts';
import type { Caller } from '../../domain/people/user.ts';
import { PORTION_ROWS, type Portions, portionsOf } from '../../domain/portions.ts';
import type { Collector } from '../../execution/artifacts/collector.ts';
import type { ArchiveKind, EmptyArchives } from '../../execution/artifacts/packing/empty-archives.ts';
import type { FileAddresses } from '../../files/file-address.ts';
import type { Store } from '../../store/open-store.ts';
import type { AuditedAccess } from '../audited-access.ts';
import { archiveKey, emptyArchiveKey } from './archive-key.ts';
import { type FileLeaf, type LeafParts, makeLeafOf } from './file-nodes.ts';

export interface ArchiveAddress {
  /** The path of its signed address. */
  readonly address: string;
  readonly filename: string;
  /** Bytes. Both are null while it has still to be packed. */
  readonly size: number | null;
  readonly sha256: string | null;
}

/** A session's whole workspace. The files are available before the archive. */
export interface SessionArtifacts {
  readonly sessionId: string;
  readonly status: ExportStatus;
  /** In the order of their paths. */
  readonly files: Portions<FileLeaf>;
  readonly archive: ArchiveAddress | null;
  readonly error: string | null;
}

/** What one run has added or changed. */
export interface RunArtifactList {
  readonly sessionId: string;
  readonly runId: string;
  readonly status: ArtifactStatus;
  readonly fileCount: number;
  readonly totalSize: number;
  /** In the order of their paths. */
  readonly files: Portions<FileLeaf>;
  /** How many names were skipped, by reason; null before the workspace was examined. */
  readonly skipped: Readonly<Record<string, number>> | null;
  readonly archive: ArchiveAddress | null;
  readonly error: ArtifactError | null;
}

export interface ArtifactOperationParts {
  readonly store: Pick<Store, 'artifacts'>;
  readonly auditedAccess: AuditedAccess;
  readonly fileAddresses: Pick<FileAddresses, 'sign'>;
  readonly emptyArchives: EmptyArchives;
  readonly collector: Pick<Collector, 'packOnRequest'>;
}

/** The name of the archive of a session's workspace (§2.8). */
export const workspaceArchiveName = (sessionId: string) => `workspace-${sessionId}.zip`;

/**
 * Makes the function that gives an archive its address. A ready archive has one, even when there was nothing to pack, and when it is
 * packed while it is downloaded.
 */
export function makeAddressArchive(parts: Pick<ArtifactOperationParts, 'fileAddresses' | 'emptyArchives'>) {
  const sign = (key: string, sessionId: string, name: string) =>
    parts.fileAddresses.sign({ key, sessionId, name, disposition: 'attachment' });
  return async (
    sessionId: string,
    filename: string,
    kept: Archive | UnpackedArchive | null,
  ): Promise<ArchiveAddress> => {
    if (kept !== null && 'unpacked' in kept)
      return { address: sign(archiveKey(kept.unpacked), sessionId, filename), filename, size: null, sha256: null };
    const kind: ArchiveKind = filename.endsWith('.zip') ? 'zip' : 'tar.gz';
    const { key, size } = kept ?? (await parts.emptyArchives.get(kind));
    const name = kept === null ? emptyArchiveKey(kind) : key;
    return { address: sign(name, sessionId, filename), filename, size, sha256: key };
  };
}

type SessionRef = { readonly seq: number; readonly id: string };

/** The nodes of files that are read a portion at a time, after the path of the last one. */
function leavesOf(parts: LeafParts, next: (lastPath: string) => Promise<readonly FileVersion[]>): Portions<FileLeaf> {
  const leafOf = makeLeafOf(parts);
  return portionsOf(async (last) => (await next(last?.path ?? '')).map(leafOf));
}

/** Makes the function that lists the files of a workspace. */
export function makeListWorkspace({
  store,
  fileAddresses: addresses,
}: Pick<ArtifactOperationParts, 'store' | 'fileAddresses'>) {
  return ({ seq, id: sessionId }: SessionRef): Portions<FileLeaf> =>
    leavesOf({ sessionId, addresses }, (last) => store.artifacts.listWorkspaceFiles(seq, last, PORTION_ROWS));
}

type RunRef = SessionRef & { readonly sessionSeq: number; readonly sessionId: string };

/** The verbs. They throw as `AuditedAccess` does. */
export function makeArtifactOperations(parts: ArtifactOperationParts) {
  const { store, auditedAccess, fileAddresses, emptyArchives, collector } = parts;
  const archiveOf = makeAddressArchive({ fileAddresses, emptyArchives });
  const filesOfWorkspace = makeListWorkspace(parts);

  async function ofSession({ seq, id }: SessionRef): Promise<SessionArtifacts> {
    const found = await store.artifacts.getWorkspaceExport(seq);
    const packed = found.isUnpacked ? await collector.packOnRequest({ kind: 'workspace', seq }, seq) : found.archive;
    const status = found.isUnpacked && packed === null ? 'pending' : found.status;
    return {
      sessionId: id,
      status,
      files: filesOfWorkspace({ seq, id }),
      archive: status === 'ready' ? await archiveOf(id, workspaceArchiveName(id), packed) : null,
      error: found.error,
    };
  }

  async function ofRun({ seq, id, sessionSeq, sessionId }: RunRef): Promise<RunArtifactList> {
    const { archive, isUnpacked, ...found } = await store.artifacts.getRunArtifacts(seq);
    const packed = isUnpacked ? await collector.packOnRequest({ kind: 'run', seq }, sessionSeq) : archive;
    const status = isUnpacked && packed === null ? 'pending' : found.status;
    return {
      ...found,
      status,
      sessionId,
      runId: id,
      files: leavesOf({ sessionId, addresses: fileAddresses }, (last) =>
        store.artifacts.listRunFiles(seq, last, PORTION_ROWS),
      ),
      archive: status === 'ready' ? await archiveOf(sessionId, `run-artifacts-${id}.tar.gz`, packed) : null,
    };
  }

  return {
    /** A session's workspace. */
    getSessionArtifacts: async (caller: Caller, sessionId: string): Promise<SessionArtifacts> =>
      ofSession(await auditedAccess.session(caller, sessionId)),

    /** What a run has produced. */
    getRunArtifacts: async (caller: Caller, runId: string): Promise<RunArtifactList> =>
      ofRun(await auditedAccess.run(caller, runId)),
  };
}
