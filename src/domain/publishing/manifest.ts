// Which files of a workspace a version holds (F11). Paths begin with `/`.

/**
 * Under this path, which no file has, a manifest has the tree of its files as JSON, once somebody has read it. When nodes get another
 * form, it gets the next number.
 */
export const TREE_PATH = '.tree-1';

/** Where attachments are, at the top of a workspace (C4). */
const UPLOADS = '/uploads/';

/** The folder of a file, which ends with `/`. */
export function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

/**
 * The part of a path that keeps a file out of a version of this entry: up to a name that begins with a dot, or the
 * attachments, unless the entry is one. Null for a file that belongs to it.
 */
export function excludedPartOf(path: string, entryPath: string): string | null {
  if (path.startsWith(UPLOADS) && !entryPath.startsWith(UPLOADS)) return UPLOADS.slice(0, -1);
  const dot = path.indexOf('/.');
  if (dot === -1) return null;
  const end = path.indexOf('/', dot + 1);
  return end === -1 ? path : path.slice(0, end);
}

/** Characters of the encoded paths of a version, with those of its folders: everybody may read its tree, which repeats each in addresses. */
export const MAX_PATHS_LENGTH = 4_000_000;

/** Whether the paths of these files, and of all folders above them, are longer than that altogether. */
export function arePathsTooLong(paths: Iterable<string>): boolean {
  const folders = new Set<string>();
  let total = 0;
  for (const path of paths) {
    total += encodeURIComponent(path).length;
    for (let folder = path; total <= MAX_PATHS_LENGTH; ) {
      folder = folder.slice(0, folder.lastIndexOf('/'));
      if (folder === '' || folders.has(folder)) break;
      folders.add(folder);
      total += encodeURIComponent(folder).length;
    }
    if (total > MAX_PATHS_LENGTH) return true;
  }
  return false;
}

/** The limits of one version. */
export interface VersionLimits {
  readonly maxFiles: number;
  readonly maxTotalMb: number;
}

/** Why an entry can't be published, in words that follow `entry_path`. */
export const ENTRY_FAULTS = {
  missing: "must be a plain file that the last run left in the workspace. Links and special files don't count",
  folder: 'must be a file, not a folder',
  longPaths: 'must be in a folder whose paths are shorter. Together, those of all its files and folders are too long',
  hidden: 'must not contain a name that begins with a dot. Such files are never published',
} as const;

/** The same for a version over its limits. */
export function overLimit(what: 'files' | 'megabytes', { maxFiles, maxTotalMb }: VersionLimits): string {
  return what === 'files'
    ? `must be in a folder with at most ${maxFiles} files (publish.max_files). This one has more`
    : `must make a version of at most ${maxTotalMb} MB (publish.max_total_mb). This one is larger`;
}
