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

/** The number of names, and the sum of their hashes, which is the same in any order. */
export interface NameSum {
  readonly count: number;
  readonly sum: number;
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

/** An earlier look at a workspace. */
export interface Since {
  /** Its token. */
  readonly token: string;
  /** Paths that are reported even if they are as they were then. */
  readonly except: readonly string[];
}

/** How a look at a workspace relates to others. */
export interface Comparison {
  /** Names this look, so that a later one can report the difference; null when it can't. */
  readonly token: string | null;
  /** The files are those that were read anew since the look that the order names; these paths had files then. Null: the files are all. */
  readonly gone: readonly string[] | null;
}

export interface Snapshot extends Comparison {
  /** In order of path. */
  readonly files: readonly SnapshotFile[];
  readonly skipped: Skipped;
  /** Whether all files were looked at, rather than those of some paths. */
  readonly isWhole: boolean;
  /** Of all files, also where only some were looked at; null when it isn't known. */
  readonly names: NameSum | null;
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
