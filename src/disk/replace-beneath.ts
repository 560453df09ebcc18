// Replaces files beneath a directory atomically, and never follows a link out of it.
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rename, unlink } from 'node:fs/promises';
import { dress, type Owner, syncOpen } from './make-beneath.ts';
import { at, factsAt, requireFile, withParent } from './open-beneath.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

/** Prefix of files that are still being written, followed by a UUID. A crash may leave one behind. */
export const TEMPORARY_PREFIX = '.errand-tmp-';

/** Writes an open, empty file at a path. */
export type Fill = (path: string) => Promise<unknown>;

/**
 * Writes a file atomically and syncs it: readers see the old content or the new, never a part. A replaced file keeps its mode
 * unless `mode` is given; a new one has 0644. Throws bad_request where a folder, link or special file is in the way.
 */
export async function replaceFileBeneath(
  root: string,
  path: string,
  content: string | Uint8Array | Fill,
  options: { readonly mode?: number; readonly owner?: Owner | null } = {},
): Promise<void> {
  await withParent(root, path, async (parent, name, shown) => {
    const old = factsAt(parent, name);
    if (old !== undefined) requireFile(old, shown);
    const temporary = at(parent, TEMPORARY_PREFIX + randomUUID());
    const file = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    try {
      try {
        // Through the descriptor, so that no other process can substitute another file.
        if (typeof content === 'function') await content(`/proc/self/fd/${file.fd}`);
        else await file.writeFile(content);
        await dress(file.fd, options.mode ?? old?.mode ?? 0o644, options.owner ?? null);
        // Before it gets its name: otherwise a power failure may leave the name with an empty file.
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, at(parent, name));
      await syncOpen(parent.fd);
    } catch (error) {
      await unlink(temporary).catch(() => undefined);
      throw error;
    }
  });
}
