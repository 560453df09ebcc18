// Artifacts: what runs have made in their session's workspace, and the archives of it (§2.8, §2.9, E3-E5).

/** Status of a run's artifacts (§3.2). `unavailable`: the run is older than artifacts. */
export type ArtifactStatus = 'pending' | 'ready' | 'failed' | 'unavailable';

/** Status of a session's export (E3). `none`: no run has finished. */
export type ExportStatus = 'none' | 'pending' | 'ready' | 'failed';

/** What became of a file in a run (E5). Deleted files are not listed. */
export type FileChange = 'added' | 'modified';

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

/** An archive that is kept as a blob. */
export interface Archive {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
}
