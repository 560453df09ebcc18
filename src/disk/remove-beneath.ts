// Removes files and trees beneath a directory, and never follows a link.
import { randomUUID } from 'node:crypto';
import { closeSync, constants, type Dirent, lstatSync, openSync } from 'node:fs';
import { chmod, opendir, rename, rmdir, unlink } from 'node:fs/promises';
import { at, descend, factsAt, type Folder, O_PATH, openRoot, partsBeneath, withParent } from './open-beneath.ts';
import { codeOf } from '../domain/errors.ts';
import { TEMPORARY_PREFIX } from './replace-beneath.ts';

const { O_DIRECTORY, O_NOFOLLOW } = constants;
const LISTED_AT_ONCE = 256;

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

/**
 * Empties an open folder, and closes it. Folders in nested ones are moved up to it, so that depth needs neither stack nor
 * descriptors.
 */
async function empty(top: Folder): Promise<void> {
  try {
    await eachUntilEmpty(top, async (name) => {
      if (await unlinked(top, name)) return;
      const folder = await openForRemoval(at(top, name));
      try {
        await eachUntilEmpty(folder, async (child) => {
          if (await unlinked(folder, child)) return;
          (await openForRemoval(at(folder, child))).close();
          await rename(at(folder, child), at(top, TEMPORARY_PREFIX + randomUUID()));
        });
      } finally {
        folder.close();
      }
      await rmdir(at(top, name));
    });
  } finally {
    top.close();
  }
}

/**
 * Calls `remove` for each name in a folder, until there is none. The folder is listed by other threads: where very many names have been
 * removed, the kernel passes all their places in one call.
 */
async function eachUntilEmpty(folder: Folder, remove: (name: Buffer) => Promise<void>): Promise<void> {
  for (let isEmpty = false; !isEmpty; ) {
    isEmpty = true;
    const options = { encoding: 'buffer' as BufferEncoding, bufferSize: LISTED_AT_ONCE };
    for await (const entry of await opendir(`/proc/self/fd/${folder.fd}`, options)) {
      isEmpty = false;
      await remove((entry as unknown as Dirent<Buffer>).name);
    }
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
