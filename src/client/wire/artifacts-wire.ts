// Artifacts as the management interface tells them (§2.8, §2.9).
import type { ArtifactStatus, ExportStatus } from '../../domain/artifact.ts';

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
  readonly oss_status: string | null;
  readonly oss_meta: { readonly size: number; readonly sha256: string } | null;
}

export interface ArchiveWire {
  readonly url: string;
  readonly filename: string;
  /** Bytes. */
  readonly size: number;
  readonly sha256: string;
}

export interface SessionArtifactsWire {
  readonly session_id: string;
  readonly workspace_export_status: ExportStatus;
  readonly files: readonly FileNodeWire[];
  readonly archive: ArchiveWire | null;
  readonly error?: { readonly type: string; readonly message: string };
}

export interface RunArtifactsWire {
  readonly session_id: string;
  readonly run_id: string;
  readonly artifact_status: ArtifactStatus;
  readonly file_count: number;
  readonly total_size: number;
  readonly files: readonly FileNodeWire[];
  readonly archive: ArchiveWire | null;
  readonly error: { readonly type: string; readonly message: string } | null;
  readonly skipped: Readonly<Record<string, number>> | null;
}
