// Makes folders beneath a directory, and never follows a link out of it.
import { chownSync, fchmodSync, fchownSync, fsync } from 'node:fs';
import { chmod, lstat, mkdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { codeOf } from '../domain/errors.ts';
import { at, descend, explained, openDirectoryAt, partsBeneath } from './open-beneath.ts';

/** Syncs what is open under a descriptor. */
export const syncOpen: (fd: number) => Promise<void> = promisify(fsync);

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Gives the owner access to a root again, since commands may close it. A root that is missing, or isn't a folder, is unchanged.
 */
export async function reopenRoot(root: string): Promise<void> {
  const stats = await lstat(root).catch(() => undefined);
  if (stats?.isDirectory() && (stats.mode & 0o700) !== 0o700) await chmod(root, (stats.mode & 0o777) | 0o700);
}

/** Makes a missing root, accessible to its owner only, and returns whether it was missing. At once what `dress` does at once. */
export async function makeRoot(root: string, owner: Owner | null): Promise<boolean> {
  const made = await mkdir(root, { recursive: true, mode: 0o700 });
  if (made !== undefined && owner !== null) chownSync(root, owner.uid, owner.gid);
  return made !== undefined;
}

/** Makes the missing folders of a path, with `mode` and owner. Throws bad_request where a file or link is in the way. */
export async function makeDirectoriesBeneath(
  root: string,
  path: string,
  options: { readonly mode?: number; readonly owner?: Owner | null } = {},
): Promise<void> {
  const parts = partsBeneath(path);
  if (parts.length === 0) return;
  const directory = await descend(root, parts, async (parent, name, shown) => {
    const made = await mkdir(at(parent, name), 0o700).then(
      () => true,
      (error: unknown) => {
        if (codeOf(error) === 'EEXIST') return false;
        throw explained(error, shown);
      },
    );
    const child = openDirectoryAt(parent, name, shown);
    if (made) {
      dress(child.fd, options.mode ?? 0o755, options.owner ?? null);
      await syncOpen(parent.fd);
    }
    return child;
  });
  directory.close();
}

/**
 * Sets the owner first: a chown clears mode bits. Sets the mode explicitly because the umask has reduced it. At once, for what
 * was just made: its entry is in the journal's running part, and a hop to another thread takes longer.
 */
export function dress(fd: number, mode: number, owner: Owner | null): void {
  if (owner !== null) fchownSync(fd, owner.uid, owner.gid);
  fchmodSync(fd, mode);
}
