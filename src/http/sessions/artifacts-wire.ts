// Artifacts on the wire: a session's workspace, and what one run made (§2.8, §2.9).
import type { ArchiveAddress, RunArtifactList, SessionArtifacts } from '../../operations/sessions/artifacts.ts';
import { type FileLeaf, nodeId } from '../../operations/sessions/file-nodes.ts';
import type { Portions } from '../../domain/portions.ts';
import { streamedTree } from '../files/tree-pieces.ts';
import { type Streamable, type Streamed, streamedList } from '../replies/json-pieces.ts';
import type {
  ArchiveWire,
  FileNodeWire,
  RunArtifactsWire,
  SessionArtifactsWire,
} from '../../wire/sessions/artifact.ts';

/** The workspace of a session. `base`: what addresses of files begin with. */
export function renderSessionArtifacts(
  { sessionId, status, files, archive, error }: SessionArtifacts,
  base: string,
): Streamable<SessionArtifactsWire> {
  return {
    session_id: sessionId,
    workspace_export_status: status,
    files: renderWorkspace(sessionId, files, base),
    archive: renderArchive(archive, base),
    ...(error !== null && { error: { type: 'api_error', message: error } }),
  };
}

/** The artifacts of a run. `skipped` counts by reason what was left out; null before the workspace was examined. */
export function renderRunArtifacts(found: RunArtifactList, base: string): Streamable<RunArtifactsWire> {
  return {
    session_id: found.sessionId,
    run_id: found.runId,
    artifact_status: found.status,
    file_count: found.fileCount,
    total_size: found.totalSize,
    files: streamedList(found.files, (leaf) => renderFile(leaf, base)),
    archive: renderArchive(found.archive, base),
    error: found.error,
    skipped: found.skipped === null ? null : inSnakeCase(found.skipped),
  };
}

/** The files of a workspace in their folders. */
export function renderWorkspace(
  sessionId: string,
  files: Portions<FileLeaf>,
  base: string,
): Streamed<readonly FileNodeWire[]> {
  return streamedTree(files, {
    file: (leaf) => renderFile(leaf, base),
    folder: (path, name) => renderFolder({ id: nodeId(sessionId, path), path, name }),
  });
}

function renderFile(leaf: FileLeaf, base: string): FileNodeWire {
  return {
    id: leaf.id,
    name: leaf.name,
    type: 'file',
    path: leaf.path,
    children: null,
    url: base + leaf.previewAddress,
    downloadUrl: base + leaf.downloadAddress,
    mimeType: leaf.mimeType,
    oss_status: leaf.change,
    oss_meta: { size: leaf.size, sha256: leaf.sha256 },
  };
}

/** Folders have neither an address nor a type. */
function renderFolder({ id, path, name }: Pick<FileLeaf, 'id' | 'path' | 'name'>) {
  const none = { url: null, downloadUrl: null, mimeType: null, oss_status: null, oss_meta: null };
  return { id, name, type: 'folder', path, ...none, children: [] } as const;
}

/** With size and hash, a client can verify the archive that it has saved. */
function renderArchive(archive: ArchiveAddress | null, base: string): ArchiveWire | null {
  if (archive === null) return null;
  const { address, filename, size, sha256 } = archive;
  return { url: base + address, filename, size, sha256 };
}

const inSnakeCase = (counts: Readonly<Record<string, number>>) =>
  Object.fromEntries(
    Object.entries(counts).map(([name, count]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      count,
    ]),
  );
