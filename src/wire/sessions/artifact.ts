// Artifacts: a session's workspace, and what one run made (§2.8, §2.9).
import { ARTIFACT_STATUSES, EXPORT_STATUSES, FILE_CHANGES } from '../../domain/sessions/artifact.ts';
import { array, dictionary, object } from '../shapes/composites.ts';
import { constant, integer, oneOf, string, uuid } from '../shapes/scalars.ts';
import { named, nullable, optional, type Shape, type Static } from '../shapes/shape.ts';

/** A file, or a folder whose `children` are not null. Addresses are good for a quarter of an hour. */
export interface FileNodeWire {
  readonly id: string;
  readonly name: string;
  readonly type: 'file' | 'folder';
  readonly path: string;
  readonly children: readonly FileNodeWire[] | null;
  readonly url: string | null;
  readonly downloadUrl: string | null;
  readonly mimeType: string | null;
  readonly oss_status: 'added' | 'modified' | null;
  readonly oss_meta: { readonly size: number; readonly sha256: string } | null;
}

export const fileNode: Shape<FileNodeWire> = named('FileNode', () =>
  object({
    id: string,
    name: string,
    type: oneOf(['file', 'folder']),
    path: string,
    children: nullable(array(fileNode)),
    url: nullable(string),
    downloadUrl: nullable(string),
    mimeType: nullable(string),
    oss_status: nullable(oneOf(FILE_CHANGES)),
    oss_meta: nullable(object({ size: integer({ from: 0 }), sha256: string })),
  }),
);

/** The top of a workspace's tree. */
export const fileTree = array(fileNode);

/**
 * `size` in bytes. With size and hash, a client can verify the archive that it has saved; both are null until a large one was packed,
 * which its download does.
 */
export const archive = named(
  'Archive',
  object({ url: string, filename: string, size: nullable(integer({ from: 0 })), sha256: nullable(string) }),
);
export type ArchiveWire = Static<typeof archive>;

/** The workspace of a session. */
export const sessionArtifacts = named(
  'SessionArtifacts',
  object({
    session_id: uuid,
    workspace_export_status: oneOf(EXPORT_STATUSES),
    files: array(fileNode),
    archive: nullable(archive),
    error: optional(object({ type: constant('api_error'), message: string })),
  }),
);
export type SessionArtifactsWire = Static<typeof sessionArtifacts>;

/** The artifacts of a run. `skipped` counts by reason what was left out; null before the workspace was examined. */
export const runArtifacts = named(
  'RunArtifacts',
  object({
    session_id: uuid,
    run_id: uuid,
    artifact_status: oneOf(ARTIFACT_STATUSES),
    file_count: integer({ from: 0 }),
    total_size: integer({ from: 0 }),
    files: array(fileNode),
    archive: nullable(archive),
    error: nullable(object({ type: string, message: string })),
    skipped: nullable(dictionary(integer({ from: 0 }))),
  }),
);
export type RunArtifactsWire = Static<typeof runArtifacts>;
