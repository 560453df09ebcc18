// What a workspace is to have once it is laid out. Where rows contradict each other, as an older version may leave them, files have precedence.
import { type Extra, readExtras, staysInside } from './extras.ts';
import type { ExtrasText, SnapshotFile } from './snapshot.ts';

/** All by their paths. */
export interface Wanted {
  readonly files: ReadonlyMap<string, SnapshotFile>;
  readonly executables: ReadonlySet<string>;
  /** With their targets. Nothing else is below one. */
  readonly links: ReadonlyMap<string, string>;
  /** Those that have nothing, the folders that all of these are in, and those above them. */
  readonly emptyFolders: readonly string[];
  readonly folders: ReadonlySet<string>;
}

export function wantedOf(files: readonly SnapshotFile[], extras: ExtrasText): Wanted {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const [folders, executables, links] = [new Set<string>(), new Set<string>(), new Map<string, string>()];
  const emptyFolders: string[] = [];
  for (const { path } of files) for (const folder of foldersAbove(path)) folders.add(folder);
  const isTaken = ([path]: Extra) =>
    byPath.has(path) ||
    folders.has(path) ||
    [...foldersAbove(path)].some((above) => byPath.has(above) || links.has(above));
  for (const extra of readExtras(extras)) {
    const [path] = extra;
    if (extra[1] === 'executable') executables.add(path);
    if (extra[1] === 'executable' || isTaken(extra)) continue;
    if (extra[1] === 'folder') {
      emptyFolders.push(path);
      folders.add(path);
    } else if (staysInside(path, extra[2])) links.set(path, extra[2]);
    else continue;
    for (const folder of foldersAbove(path)) folders.add(folder);
  }
  return { files: byPath, executables, links, emptyFolders, folders };
}

/** From the one that it is in to the topmost. */
function* foldersAbove(path: string): Generator<string> {
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) yield path.slice(0, end);
}
