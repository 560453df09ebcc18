// Replaces files beneath a directory whole, and never follows a link out of it.
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rename, unlink } from 'node:fs/promises';
import { dress, type Owner } from './make-beneath.ts';
import { at, factsAt, requireFile, withParent } from './open-beneath.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

/** Files being written have such names, and a UUID after it, until they are whole. A crash may leave one behind. */
export const TEMPORARY_PREFIX = '.errand-tmp-';

/** Writes an open, empty file that a path leads to. */
export type Fill = (path: string) => Promise<unknown>;

/**
 * Puts a file in place at once, and on the disk: readers see the old content or the new, never half. A file that is replaced keeps its
 * mode unless `mode` is given; a new one has 0644. Throws bad_request where a folder, link or special file stands.
 */
export async function replaceFileBeneath(
  root: string,
  path: string,
  content: string | Uint8Array | Fill,
  options: { readonly mode?: number; readonly owner?: Owner | null } = {},
): Promise<void> {
  await withParent(root, path, async (parent, name, shown) => {
    const old = await factsAt(parent, name);
    if (old !== undefined) requireFile(old, shown);
    const temporary = at(parent, TEMPORARY_PREFIX + randomUUID());
    const file = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    try {
      try {
        // Through the descriptor, so that nobody can put another file there.
        if (typeof content === 'function') await content(`/proc/self/fd/${file.fd}`);
        else await file.writeFile(content);
        await dress(file, options.mode ?? old?.mode ?? 0o644, options.owner ?? null);
        // Before it has its name: else a power cut leaves the name with nothing in it.
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, at(parent, name));
      await parent.sync();
    } catch (error) {
      await unlink(temporary).catch(() => undefined);
      throw error;
    }
  });
}
