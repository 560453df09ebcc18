// Artifacts on the wire: a session's workspace, and what one run made (§2.8, §2.9).
import type { ArchiveAddress, RunArtifactList, SessionArtifacts } from '../../operations/sessions/artifacts.ts';
import type { FileNode } from '../../operations/sessions/file-tree.ts';
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
): SessionArtifactsWire {
  return {
    session_id: sessionId,
    workspace_export_status: status,
    files: files.map((node) => renderNode(node, base)),
    archive: renderArchive(archive, base),
    ...(error !== null && { error: { type: 'api_error', message: error } }),
  };
}

/** The artifacts of a run. `skipped` counts by reason what was left out; null before the workspace was examined. */
export function renderRunArtifacts(found: RunArtifactList, base: string): RunArtifactsWire {
  return {
    session_id: found.sessionId,
    run_id: found.runId,
    artifact_status: found.status,
    file_count: found.fileCount,
    total_size: found.totalSize,
    files: found.files.map((node) => renderNode(node, base)),
    archive: renderArchive(found.archive, base),
    error: found.error,
    skipped: found.skipped === null ? null : inSnakeCase(found.skipped),
  };
}

/** A node of a tree; folders have neither an address nor a type. */
export function renderNode(node: FileNode, base: string): FileNodeWire {
  if (node.kind === 'folder') {
    const { id, name, path, children } = node;
    return {
      id,
      name,
      type: 'folder',
      path,
      children: children.map((child) => renderNode(child, base)),
      url: null,
      downloadUrl: null,
      mimeType: null,
      oss_status: null,
      oss_meta: null,
    };
  }
  return {
    id: node.id,
    name: node.name,
    type: 'file',
    path: node.path,
    children: null,
    url: base + node.previewAddress,
    downloadUrl: base + node.downloadAddress,
    mimeType: node.mimeType,
    oss_status: node.change,
    oss_meta: { size: node.size, sha256: node.sha256 },
  };
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
