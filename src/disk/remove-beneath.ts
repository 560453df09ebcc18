// Removes files and trees beneath a directory, and never follows a link.
import { randomUUID } from 'node:crypto';
import { closeSync, constants, openSync } from 'node:fs';
import { chmod, rename, rmdir, unlink } from 'node:fs/promises';
import { at, factsAt, type Folder, O_PATH, openDirectoryAt, withParent } from './open-beneath.ts';
import { codeOf } from '../domain/errors.ts';
import { namesIn } from './list-beneath.ts';
import { TEMPORARY_PREFIX } from './replace-beneath.ts';

const { O_DIRECTORY, O_NOFOLLOW } = constants;
const REMOVAL_BATCH = 1000;

/** Removes a file, link or whole folder; returns whether it existed. Links inside are removed, not followed. */
export async function removeBeneath(root: string, path: string): Promise<boolean> {
  return withParent(root, path, async (parent, name, shown) => {
    const facts = factsAt(parent, name);
    if (facts === undefined) return false;
    if (facts.kind !== 'directory') {
      await unlink(at(parent, name));
      return true;
    }
    const top = await openForRemoval(parent, name, shown);
    try {
      let left = true;
      while (left) left = await emptyOnce(top, shown);
    } finally {
      top.close();
    }
    await rmdir(at(parent, name));
    return true;
  });
}

/** A folder whose mode denies its owner access is first made accessible by name. */
async function openForRemoval(parent: Folder, name: string | Buffer, path: string): Promise<Folder> {
  const named = openSync(at(parent, name), O_PATH | O_DIRECTORY | O_NOFOLLOW);
  try {
    await chmod(`/proc/self/fd/${named}`, 0o700);
  } finally {
    closeSync(named);
  }
  return openDirectoryAt(parent, name, path);
}

/**
 * Removes one batch of names; returns whether there were any. Nested folders are moved up to `top`, so that depth needs neither
 * stack nor descriptors.
 */
async function emptyOnce(top: Folder, path: string): Promise<boolean> {
  const { names } = await namesIn(top, REMOVAL_BATCH);
  for (const name of names) {
    if (await unlinked(top, name)) continue;
    const folder = await openForRemoval(top, name, path);
    try {
      const inner = await namesIn(folder, Number.POSITIVE_INFINITY);
      for (const child of inner.names) {
        if (await unlinked(folder, child)) continue;
        (await openForRemoval(folder, child, path)).close();
        await rename(at(folder, child), at(top, TEMPORARY_PREFIX + randomUUID()));
      }
    } finally {
      folder.close();
    }
    await rmdir(at(top, name));
  }
  return names.length > 0;
}

/** Removes a name unless it is a folder, and returns whether it did. */
async function unlinked(directory: Folder, name: Buffer): Promise<boolean> {
  try {
    await unlink(at(directory, name));
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return true;
    if (code === 'EISDIR' || factsAt(directory, name)?.kind === 'directory') return false;
    throw error;
  }
}
