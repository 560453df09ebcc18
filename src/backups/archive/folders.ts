// The folders on the way to what is unpacked: open while the entries of the list are below them.
import { fchownSync, lstatSync, mkdirSync, rmdirSync } from 'node:fs';
import { codeOf, ErrandError } from '../../domain/errors.ts';
import { at, type Folder, openDirectoryAt, openRoot } from '../../disk/open-beneath.ts';
import type { ListedFile } from '../../wire/backups/manifest.ts';
import { isShared, type Root, type Target } from './entry-path.ts';

/** An open folder on the way. */
export interface Level {
  readonly name: string;
  readonly folder: Folder;
  /** What was made in it and is removed again: a name must not come twice. */
  readonly claimed: Set<string>;
}

export interface Folders {
  /** Opens a folder, and makes what is missing on the way. Throws `conflict` where something else is there. */
  open(root: Root, names: readonly string[], entry: ListedFile): Level;
  /** Notes a name that is about to be made. Throws EEXIST as the system does. */
  claim(level: Level, name: string): void;
  close(): void;
}

const OWNER_ALONE = 0o700;
const OPEN_FOLDER = 0o755;

/** Without `keeps`, each folder is removed when it is left, if it is empty by then. */
export function makeFolders(target: Target, keeps: boolean): Folders {
  let levels: Level[] = [];

  /** Leaves all levels but the first ones. */
  function leave(staying: number): void {
    const left = levels.slice(staying).toReversed();
    levels = levels.slice(0, staying);
    for (const [index, { folder, name }] of left.entries()) {
      folder.close();
      const parent = left[index + 1] ?? levels.at(-1);
      if (!keeps && parent !== undefined) removeEmpty(parent, name);
    }
  }

  function enter(name: string, folder: Folder): void {
    levels.push({ name, folder, claimed: new Set() });
  }

  return {
    open: (root, names, entry) => {
      if (levels[0]?.name !== root) {
        leave(0);
        enter(root, openRoot(target[root]));
      }
      let common = 0;
      while (common < names.length && levels[common + 1]?.name === names[common]) common += 1;
      leave(common + 1);
      for (const name of names.slice(common)) enter(name, makeFolder(levels.at(-1)!, name, { entry, target }));
      return levels.at(-1)!;
    },
    claim: ({ claimed }, name) => {
      if (keeps) return;
      if (claimed.has(name)) throw Object.assign(new Error(`EEXIST: ${name}`), { code: 'EEXIST' });
      claimed.add(name);
    },
    close: () => leave(0),
  };
}

/** Unless it is there. The kernel would follow a link that an earlier entry has made. */
function makeFolder(
  { folder: parent, claimed }: Level,
  name: string,
  { entry: { kind, path }, target }: { readonly entry: ListedFile; readonly target: Target },
): Folder {
  const location = at(parent, name);
  const found = lstatSync(location, { throwIfNoEntry: false });
  if (claimed.has(name) || (found !== undefined && !found.isDirectory()))
    throw new ErrandError(
      'conflict',
      `The list of files has a path through something else: ${JSON.stringify(path.slice(0, 200))}.`,
    );
  if (found !== undefined) return openDirectoryAt(parent, name, path);
  mkdirSync(location, { mode: isShared(kind) ? OPEN_FOLDER : OWNER_ALONE });
  const made = openDirectoryAt(parent, name, path);
  if (kind === 'workspace' && target.owner !== null) fchownSync(made.fd, target.owner.uid, target.owner.gid);
  return made;
}

/** The database stays. */
function removeEmpty(parent: Level, name: string): void {
  try {
    rmdirSync(at(parent.folder, name));
  } catch (error) {
    if (codeOf(error) !== 'ENOTEMPTY') throw error;
  }
}
