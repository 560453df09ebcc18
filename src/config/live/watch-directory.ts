// Watches the config directory. Links are not followed (J1).
import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { SKILL_FILE } from '../../catalog/kinds/skills.ts';
import { openWatch, type WatchCallbacks, type Watcher } from './watch.ts';

export const NOT_WATCHED =
  'the config directory is not watched; until it is, changes apply within a minute, or at once on SIGHUP';

/** The directory, and its target if it is a link: the watch itself does not follow links, which could lead anywhere. */
function watchedPaths(directory: string): string[] {
  return existsSync(directory) ? [...new Set([directory, realpathSync(directory)])] : [directory];
}

/** Whether nothing at this place in the directory is ever read: a skill's files except SKILL.md, and files deeper than a plugin's own. */
export function isUnread(relative: string): boolean {
  const parts = relative.split(path.sep);
  if (parts[0] === '..') return false;
  const inside = parts[0] === 'plugins' ? parts.slice(2) : parts;
  if (inside[0] === 'skills') return inside.length > 2 && (inside.length > 3 || inside[2] !== SKILL_FILE);
  return parts[0] === 'plugins' ? inside.length > 2 : parts.length > 3;
}

/** Watches the config directory, even one that is created later. */
export async function openDirectoryWatch(directory: string, callbacks: WatchCallbacks): Promise<Watcher> {
  const watched = watchedPaths(directory);
  const ignored = (file: string) => watched.some((root) => isUnread(path.relative(root, file)));
  return openWatch(watched, { depth: 4, ignored }, callbacks);
}
