// Replaces files beneath a directory atomically, and never follows a link out of it.
import { randomUUID } from 'node:crypto';
import { closeSync, constants, open, writeFile, writeFileSync } from 'node:fs';
import { rename, unlink } from 'node:fs/promises';
import { promisify } from 'node:util';
import { dress, type Owner, syncOpen } from './make-beneath.ts';
import { at, factsAt, requireFile, withParent } from './open-beneath.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

/** Prefix of files that are still being written, followed by a UUID. A crash may leave one behind. */
export const TEMPORARY_PREFIX = '.errand-tmp-';

/** So much is copied to memory at once: that takes less than a hop to another thread. */
const SMALL_LENGTH = 65_536;
const [openNew, writeWhole] = [promisify(open), promisify(writeFile)];

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
    const file = await openNew(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    try {
      try {
        // Through the descriptor, so that no other process can substitute another file.
        if (typeof content === 'function') await content(`/proc/self/fd/${file}`);
        else if (content.length <= SMALL_LENGTH) writeFileSync(file, content);
        else await writeWhole(file, content);
        dress(file, options.mode ?? old?.mode ?? 0o644, options.owner ?? null);
        // Before it gets its name: otherwise a power failure may leave the name with an empty file.
        await syncOpen(file);
      } finally {
        closeSync(file);
      }
      await rename(temporary, at(parent, name));
      await syncOpen(parent.fd);
    } catch (error) {
      await unlink(temporary).catch(() => undefined);
      throw error;
    }
  });
}
