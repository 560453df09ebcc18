// Finds some files of a workspace by their paths, as a walk through all of it would.
import { closeSync, fstatSync } from 'node:fs';
import type { Skipped, SnapshotLimits } from './snapshot.ts';
import { type FoundFile, isOwn, judge, MAX_DEPTH, MAX_PATH_BYTES, openFolder } from './walk-files.ts';

/**
 * The files below a root that have some paths, in order of these; those that aren't there have none. Null ends them where a
 * walk would find something that it skips, such as a link: what else is skipped then, only the walk can tell. Blocks: run it on
 * its own thread.
 */
export function* walkPaths(
  root: string,
  paths: readonly string[],
  limits: SnapshotLimits,
): Generator<FoundFile | null> {
  const top = paths.length === 0 ? 'gone' : openFolder(root);
  if (top === 'gone') return;
  if (typeof top !== 'number') {
    yield null;
    return;
  }
  try {
    const uid = BigInt(fstatSync(top).uid);
    for (const path of [...new Set(paths)].sort()) {
      const names = path.slice(1).split('/');
      if (names.some((name, at) => isOwn(at === 0 ? '' : '/', name))) continue;
      const folder: number | keyof Skipped | 'gone' = isTooDeep(path, names, limits)
        ? 'tooDeep'
        : openParent(top, names.slice(0, -1));
      try {
        const place = `/proc/self/fd/${folder}/${names.at(-1)}`;
        const stats = typeof folder === 'number' ? judge(place, limits, uid) : folder;
        if (stats === 'gone') continue;
        if (typeof stats === 'string' || stats.isSymbolicLink()) {
          yield null;
          return;
        }
        yield { path, place, stats };
      } finally {
        if (typeof folder === 'number' && folder !== top) closeSync(folder);
      }
    }
  } finally {
    closeSync(top);
  }
}

function isTooDeep(path: string, names: readonly string[], { maxDepth }: SnapshotLimits): boolean {
  return names.length - 1 > Math.min(maxDepth, MAX_DEPTH) || Buffer.byteLength(path) > MAX_PATH_BYTES;
}

/** Opens the folder of some names below an open one; that one itself when there are none. */
function openParent(top: number, names: readonly string[]): ReturnType<typeof openFolder> {
  let folder = top;
  for (const name of names) {
    const next = openFolder(`/proc/self/fd/${folder}/${name}`);
    if (folder !== top) closeSync(folder);
    if (typeof next !== 'number') return next;
    folder = next;
  }
  return folder;
}
