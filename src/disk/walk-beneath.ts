// Walks the folders beneath a directory, and never follows a link.
import { lstatSync } from 'node:fs';
import { type Listing, readDirectoryBeneath } from './list-beneath.ts';
import { partsBeneath } from './open-beneath.ts';
import { ErrandError } from '../domain/errors.ts';

/** A walk opens each folder from the root, so its cost is quadratic in the depth. */
const MAX_WALK_DEPTH = 256;

/**
 * Visits the folders beneath `path`, shallow ones first: each with its path (`''` is the root), depth and listing. `enter`
 * returns whether to descend into a folder. Folders that vanish or turn into links meanwhile, and those more than 256 levels
 * down, are skipped; only an error of the first one is thrown. A missing root has no folders.
 */
export async function* walkBeneath(
  root: string,
  path: string,
  enter: (folder: string, depth: number) => boolean = () => true,
): AsyncGenerator<{ readonly folder: string; readonly depth: number; readonly listing: Listing }> {
  const top = partsBeneath(path).join('/');
  if (top === '' && isMissing(root)) return;
  const queue: { folder: string; depth: number }[] = [{ folder: top, depth: 0 }];
  for (const { folder, depth } of queue) {
    const listing = await readDirectoryBeneath(root, folder).catch((error: unknown) => {
      if (!(error instanceof ErrandError)) throw error;
      const isNoRoot = folder === '' && error.reason === 'not_found';
      if (depth === 0 && !isNoRoot) throw error;
    });
    if (listing === undefined) continue;
    yield { folder, depth, listing };
    for (const entry of listing.entries) {
      const inner = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (depth < MAX_WALK_DEPTH && entry.kind === 'directory' && entry.exact && enter(inner, depth + 1))
        queue.push({ folder: inner, depth: depth + 1 });
    }
  }
}

/** Whether there is no such folder: most sessions have none, and to find that out by an error takes ten times as long. */
function isMissing(root: string): boolean {
  try {
    return lstatSync(root, { throwIfNoEntry: false }) === undefined;
  } catch {
    // Reported by whoever opens it.
    return false;
  }
}
