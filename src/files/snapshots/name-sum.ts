// The sum of all names in a workspace: tells whether files have come or gone, for much less than a look at each.
import { closeSync, opendirSync } from 'node:fs';
import type { Pace } from './pace.ts';
import type { NameSum, SnapshotLimits } from './snapshot.ts';
import { isOwn, MAX_DEPTH, nameOf, openFolder } from './walk-files.ts';

export const NO_NAMES: NameSum = { count: 0, sum: 0 };
/** Names between two looks at the pace. */
const SLICE = 256;
const [FNV_START, FNV_PRIME] = [0x811c9dc5, 0x01000193];

/** Continues the hash of a path. */
function hashOn(hash: number, text: string): number {
  let next = hash;
  for (let at = 0; at < text.length; at += 1) next = Math.imul(next ^ text.charCodeAt(at), FNV_PRIME);
  return next >>> 0;
}

/** The sum after files have come and gone, by their paths. */
export function sumAfter(before: NameSum, came: readonly string[], gone: readonly string[]): NameSum {
  let { count, sum } = before;
  for (const path of came) [count, sum] = [count + 1, (sum + hashOn(FNV_START, path)) >>> 0];
  for (const path of gone) [count, sum] = [count - 1, (sum - hashOn(FNV_START, path)) >>> 0];
  return { count, sum };
}

interface Level {
  readonly folder: number;
  readonly hash: number;
  readonly names: readonly (readonly [name: string, hash: number])[];
  next: number;
}

/**
 * The sum of all names below a root that are no folders'. Null where that says too little: a folder can't be read, or is deeper
 * than looks go, or there are too many names. Blocks for a turn: run it on its own thread.
 */
export async function sumNames(root: string, limits: SnapshotLimits, pace: Pace): Promise<NameSum | null> {
  const top = openFolder(root);
  if (top === 'gone') return NO_NAMES;
  if (typeof top !== 'number') return null;
  let [count, sum, left] = [0, 0, 2 * limits.maxFiles + 10_000];
  const levels: Level[] = [];

  async function enter(folder: number, hash: number): Promise<boolean> {
    const names: [string, number][] = [];
    levels.push({ folder, hash, names, next: 0 });
    if (levels.length - 1 > Math.min(limits.maxDepth, MAX_DEPTH)) return false;
    const directory = opendirSync(`/proc/self/fd/${folder}`, { encoding: 'buffer' as BufferEncoding, bufferSize: 256 });
    try {
      for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
        const { text, kind } = nameOf(entry);
        if (isOwn(levels.length === 1 ? '' : '/', text)) continue;
        left -= 1;
        if (left < 0) return false;
        const own = hashOn(hashOn(hash, '/'), text);
        if (kind === 'folder') names.push([text, own]);
        else [count, sum] = [count + 1, (sum + own) >>> 0];
        if (left % SLICE === 0) await pace.rest();
      }
    } finally {
      directory.closeSync();
    }
    return true;
  }

  try {
    if (!(await enter(top, FNV_START))) return null;
    for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
      const name = level.names[level.next++];
      if (name === undefined) {
        closeSync(levels.pop()!.folder);
        continue;
      }
      const folder = openFolder(`/proc/self/fd/${level.folder}/${name[0]}`);
      if (folder === 'gone') continue;
      if (typeof folder !== 'number' || !(await enter(folder, name[1]))) return null;
    }
    return { count, sum };
  } finally {
    for (const { folder } of levels) closeSync(folder);
  }
}
