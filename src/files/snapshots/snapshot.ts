// A workspace at one moment: its regular files with their content's hash, and what was passed over (E5).

/** A regular file. `path` begins with `/`; `size` is in bytes. */
export interface SnapshotFile {
  readonly path: string;
  readonly size: number;
  /** Lower-case hex; also the key of the blob when the snapshot was taken with its bytes. */
  readonly sha256: string;
}

/** How many names were passed over, by reason. */
export interface Skipped {
  readonly links: number;
  /** Sockets, pipes and devices. */
  readonly special: number;
  readonly notUtf8: number;
  readonly tooLarge: number;
  /** Folders nested too deep, with all they hold counted as one. */
  readonly tooDeep: number;
  /** Files beyond the number that one snapshot may hold. */
  readonly tooMany: number;
  /** Files that could not be read, or that changed while they were. */
  readonly unreadable: number;
}

export interface Snapshot {
  /** In order of path. */
  readonly files: readonly SnapshotFile[];
  readonly skipped: Skipped;
}

export interface SnapshotLimits {
  /** Larger files are passed over, unread. */
  readonly maxFileBytes: number;
  /** Files of one snapshot; what comes after them is passed over. */
  readonly maxFiles: number;
  /** Bytes of one snapshot; a file that would go over it is passed over as too large. */
  readonly maxTotalBytes: number;
  /** Levels of folders below the root; deeper ones are passed over with all they hold. */
  readonly maxDepth: number;
}
