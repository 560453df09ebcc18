// Removes files and trees beneath a directory, and never follows a link.
import { randomUUID } from 'node:crypto';
import { closeSync, constants, lstatSync, openSync } from 'node:fs';
import { chmod, rename, rmdir, unlink } from 'node:fs/promises';
import { at, descend, factsAt, type Folder, O_PATH, openRoot, partsBeneath, withParent } from './open-beneath.ts';
import { codeOf } from '../domain/errors.ts';
import { namesIn } from './list-beneath.ts';
import { TEMPORARY_PREFIX } from './replace-beneath.ts';

const { O_DIRECTORY, O_NOFOLLOW } = constants;
const REMOVAL_BATCH = 1000;

/** Removes a file, link or whole folder; returns whether it existed. Links inside are removed, not followed. */
export async function removeBeneath(root: string, path: string): Promise<boolean> {
  return withParent(root, path, removeAt);
}

/** The same of a name in a folder: a file that is being written may have a longer path than any that is asked for. */
export async function removeIn(root: string, folder: string, name: string): Promise<boolean> {
  const parent = await descend(root, partsBeneath(folder));
  try {
    return await removeAt(parent, name);
  } finally {
    parent.close();
  }
}

async function removeAt(parent: Folder, name: string): Promise<boolean> {
  const facts = factsAt(parent, name);
  if (facts === undefined) return false;
  if (facts.kind !== 'directory') {
    await unlink(at(parent, name));
    return true;
  }
  await empty(await openForRemoval(at(parent, name)));
  await rmdir(at(parent, name));
  return true;
}

/**
 * Removes a directory with everything in it; does nothing when there is none. Never follows a link. Commands can make paths that are
 * longer than a system call takes: `rm` of Node.js leaves these.
 */
export async function removeTree(directory: string): Promise<void> {
  const found = lstatSync(directory, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isDirectory()) {
    await unlink(directory);
    return;
  }
  await empty(await openForRemoval(directory));
  await rmdir(directory);
}

/** Empties an open folder, and closes it. */
async function empty(folder: Folder): Promise<void> {
  try {
    while (await emptyOnce(folder));
  } finally {
    folder.close();
  }
}

/** A folder whose mode denies its owner access is first made accessible by name. */
async function openForRemoval(place: string | Buffer): Promise<Folder> {
  const named = openSync(place, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  try {
    await chmod(`/proc/self/fd/${named}`, 0o700);
    return openRoot(`/proc/self/fd/${named}`);
  } finally {
    closeSync(named);
  }
}

/**
 * Removes one batch of names; returns whether there were any. Nested folders are moved up to `top`, so that depth needs neither
 * stack nor descriptors.
 */
async function emptyOnce(top: Folder): Promise<boolean> {
  const { names } = await namesIn(top, REMOVAL_BATCH);
  for (const name of names) {
    if (await unlinked(top, name)) continue;
    const folder = await openForRemoval(at(top, name));
    try {
      while (await hoistOnce(folder, top));
    } finally {
      folder.close();
    }
    await rmdir(at(top, name));
  }
  return names.length > 0;
}

/** Removes one batch of names in a folder, and moves its folders up to `top`; returns whether there were any. */
async function hoistOnce(folder: Folder, top: Folder): Promise<boolean> {
  const { names } = await namesIn(folder, REMOVAL_BATCH);
  for (const name of names) {
    if (await unlinked(folder, name)) continue;
    (await openForRemoval(at(folder, name))).close();
    await rename(at(folder, name), at(top, TEMPORARY_PREFIX + randomUUID()));
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
