// Whether nobody but root and this user can change what a directory contains.
import { lstatSync, mkdirSync, realpathSync } from 'node:fs';
import path from 'node:path';

const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;

/** Makes a directory and those above it as far as they are missing, for this user alone. */
export function makePrivate(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
}

/**
 * Why a directory is not trusted; undefined if it is. It must belong to this user, and no one else may be able to write to it
 * or to replace it: its parents belong to root or to this user, and others write to them only if they are sticky.
 */
export function distrust(directory: string, uid: number): string | undefined {
  const real = realpathSync(directory);
  const own = lstatSync(real);
  if (own.uid !== uid) return `${real} belongs to another user`;
  if ((own.mode & WRITABLE_BY_OTHERS) !== 0) return `others can write to ${real}`;
  for (let parent = path.dirname(real); ; parent = path.dirname(parent)) {
    const { uid: owner, mode } = lstatSync(parent);
    if (owner !== 0 && owner !== uid) return `${parent} belongs to another user`;
    if ((mode & WRITABLE_BY_OTHERS) !== 0 && (mode & STICKY) === 0) return `others can write to ${parent}`;
    if (parent === path.dirname(parent)) return undefined;
  }
}
