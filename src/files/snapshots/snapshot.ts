// A workspace at one moment: its regular files with the hash of their content, and what was skipped (E5).

/** A regular file. `path` begins with `/`; `size` is in bytes. */
export interface SnapshotFile {
  readonly path: string;
  readonly size: number;
  /** Lower-case hex; also the key of the blob when the snapshot stored the bytes. */
  readonly sha256: string;
}

/** How many names were skipped, by reason. */
export interface Skipped {
  readonly links: number;
  /** Sockets, pipes and devices. */
  readonly special: number;
  readonly notUtf8: number;
  readonly tooLarge: number;
  /** Folders nested too deep, each counted as one with all its contents. */
  readonly tooDeep: number;
  /** Files beyond the maximum of one snapshot. */
  readonly tooMany: number;
  /** Files that could not be read, or that changed while they were read. */
  readonly unreadable: number;
}

export const NOTHING_SKIPPED: Skipped = {
  links: 0,
  special: 0,
  notUtf8: 0,
  tooLarge: 0,
  tooDeep: 0,
  tooMany: 0,
  unreadable: 0,
};

/** What a workspace has besides contents (`Extra`), as JSON in the order in which it was found; null: nothing. Equal texts are equal workspaces. */
export type ExtrasText = string | null;

/** How a workspace differs from what is recorded of it. */
export interface Snapshot {
  /** Those that are new or have other contents, in order of path; of a workspace of which nothing is recorded, all. */
  readonly files: readonly SnapshotFile[];
  /** Paths of recorded files that are no longer there. */
  readonly gone: readonly string[];
  /** What else the workspace has now; absent: what is recorded. */
  readonly extras?: ExtrasText;
  readonly skipped: Skipped;
  /** Whether a workspace that is laid out from what was found is the same: of what was skipped, it has the links in its extras. */
  readonly isComplete: boolean;
  /** Names what was seen, so that the next look can be compared with it. */
  readonly token: string;
}

export interface SnapshotLimits {
  /** Larger files are skipped, unread. */
  readonly maxFileBytes: number;
  /** Files of one snapshot; further ones are skipped. */
  readonly maxFiles: number;
  /** Bytes of one snapshot; a file that would exceed it is skipped as too large. */
  readonly maxTotalBytes: number;
  /** Levels of folders below the root; deeper ones are skipped with all their contents. */
  readonly maxDepth: number;
}
