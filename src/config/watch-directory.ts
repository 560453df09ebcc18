// Watches the config directory, and calls back when it has changed and settled. Links are not followed (J1).
import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { SKILL_FILE } from '../catalog/kinds/skills.ts';
import { messageOf } from '../domain/errors.ts';

const QUIET_MS = 200;
const LONGEST_WAIT_MS = 2000;

/** Calls `act` when a burst of calls pauses for a moment, or lasts too long. */
function makeDebounce(act: () => void): { call(): void; cancel(): void } {
  let timer: NodeJS.Timeout | null = null;
  let beganAt = 0;
  const cancel = () => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
  };
  const fire = () => {
    timer = null;
    act();
  };
  return {
    call: () => {
      const now = performance.now();
      if (timer === null) beganAt = now;
      cancel();
      timer = setTimeout(fire, Math.max(0, Math.min(QUIET_MS, beganAt + LONGEST_WAIT_MS - now)));
    },
    cancel,
  };
}

/** The directory, and its target if it is a link: the watch itself does not follow links, which could lead anywhere. */
function watchedPaths(directory: string): string[] {
  return existsSync(directory) ? [...new Set([directory, realpathSync(directory)])] : [directory];
}

/** Whether nothing there is ever read here: a skill's files except SKILL.md, and files deeper than a plugin's own. */
function isUnread(relative: string): boolean {
  const parts = relative.split(path.sep);
  if (parts[0] === '..') return false;
  const inside = parts[0] === 'plugins' ? parts.slice(2) : parts;
  if (inside[0] === 'skills') return inside.length > 2 && (inside.length > 3 || inside[2] !== SKILL_FILE);
  return parts[0] === 'plugins' ? inside.length > 2 : parts.length > 3;
}

/** Watches the config directory, even one that is created later. Resolves when every change from now on is seen. */
async function watchDirectory(
  directory: string,
  on: { readonly change: () => void; readonly error: (why: string) => void },
): Promise<FSWatcher> {
  const watched = watchedPaths(directory);
  const watcher = watch(watched, {
    followSymlinks: false,
    depth: 4,
    ignoreInitial: true,
    ignored: (file) => watched.some((root) => isUnread(path.relative(root, file))),
  });
  watcher.on('all', on.change);
  watcher.on('error', (error) => on.error(messageOf(error)));
  await new Promise<void>((resolve) => {
    watcher.once('ready', resolve);
    // A daemon that cannot watch files still works.
    watcher.once('error', () => resolve());
  });
  return watcher;
}

/** Reloads whenever the directory has changed and settled. */
export function makeWatch(directory: string, reload: () => void, failed: (why: string) => void) {
  const debounce = makeDebounce(reload);
  const on = { change: debounce.call, error: failed };
  let watching: Promise<FSWatcher> | null = null;
  return {
    start: async (): Promise<void> => {
      watching ??= watchDirectory(directory, on);
      await watching;
      // For changes between the first reading and the watch; unless it was stopped meanwhile.
      if (watching !== null) reload();
    },
    stop: async (): Promise<void> => {
      const stopping = watching;
      watching = null;
      await (await stopping)?.close();
      debounce.cancel();
    },
  };
}
