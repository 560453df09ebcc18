// Gives a directory with all its contents to other owners.
import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  lchownSync,
  lstatSync,
  openSync,
  readdirSync,
  type Stats,
} from 'node:fs';
import type { Owner } from './make-beneath.ts';

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;

/**
 * Gives everything in a directory, and itself in the end, to who `ownerOf` says. Nobody else may use it meanwhile. Walks by open
 * folders, one for each level: a path may be longer than a system call takes. A link is given itself, not what it leads to.
 */
export function giveTree(directory: string, ownerOf: (stats: Stats) => Owner): void {
  giveOpen(openSync(directory, O_RDONLY | O_DIRECTORY), ownerOf);
}

/** Closes the folder. */
function giveOpen(folder: number, ownerOf: (stats: Stats) => Owner): void {
  const own = `/proc/self/fd/${folder}`;
  try {
    for (const { name } of readdirSync(own, { encoding: 'buffer', withFileTypes: true })) {
      const place = Buffer.concat([Buffer.from(`${own}/`), name]);
      const stats = lstatSync(place);
      if (stats.isDirectory()) giveOpen(openSync(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), ownerOf);
      else {
        const { uid, gid } = ownerOf(stats);
        lchownSync(place, uid, gid);
      }
    }
    const { uid, gid } = ownerOf(fstatSync(folder));
    fchownSync(folder, uid, gid);
  } finally {
    closeSync(folder);
  }
}
