// Artifacts: what runs have made in their session's workspace, and the archives of it (§2.8, §2.9, E3-E5).

import type { Contents } from './contents.ts';

/** Status of a run's artifacts (§3.2). `unavailable`: the run is older than artifacts. */
export const ARTIFACT_STATUSES = ['pending', 'ready', 'failed', 'unavailable'] as const;
export type ArtifactStatus = (typeof ARTIFACT_STATUSES)[number];

/** Status of a session's export (E3). `none`: no run has finished. */
export const EXPORT_STATUSES = ['none', 'pending', 'ready', 'failed'] as const;
export type ExportStatus = (typeof EXPORT_STATUSES)[number];

/** How a run changed a file (E5). Deleted files are not listed. */
export const FILE_CHANGES = ['added', 'modified'] as const;
export type FileChange = (typeof FILE_CHANGES)[number];

/** A file with the content it had at some moment. */
export interface FileVersion {
  /** Begins with `/`. */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** Lower-case hex; also the key of the blob. */
  readonly sha256: string;
}

/** Why there are no artifacts, in words for the caller (E4). */
export interface ArtifactError {
  readonly type: string;
  readonly message: string;
}

/** An archive, stored as a blob. */
export interface Archive {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
}

/** An archive that is to be recorded. `contents`: its bytes when they are few; absent: they are stored. */
export interface PackedArchive extends Archive {
  readonly contents?: Contents;
}

/** Which archive: of a run, or of a session's workspace. */
export interface ArchiveRequest {
  readonly kind: 'run' | 'workspace';
  /** Of the run, or of the session. */
  readonly seq: number;
  /** Of a workspace, the run that it is wanted after; of a run, the same again. Absent: as it is now. */
  readonly runSeq?: number;
}

/** An archive that is packed while it is downloaded. */
export interface UnpackedArchive {
  readonly unpacked: Required<ArchiveRequest>;
}
