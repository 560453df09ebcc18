// Watches the config directory, and calls back when it has changed and settled. Links are not followed (J1).
import { once } from 'node:events';
import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { watch } from 'chokidar';
import { SKILL_FILE } from '../catalog/kinds/skills.ts';
import type { Clock } from '../domain/clock.ts';
import type { Log } from '../log/log.ts';
import { makeService } from '../services/service.ts';

const QUIET_MS = 200;
const LONGEST_WAIT_MS = 2000;
const MAX_RETRY_MS = 60_000;
const NOT_WATCHED =
  'the config directory is not watched; until it is, changes apply within a minute, or at once on SIGHUP';

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

/** A watch that is open. */
export interface Watcher {
  close(): Promise<void>;
}

/** `failed`: a change may have gone unnoticed, and so may all further ones. */
export interface WatchCallbacks {
  readonly changed: () => void;
  readonly failed: (error: unknown) => void;
}

/**
 * Watches the config directory, even one that is created later. Resolves when every change from now on is noticed; rejects
 * when the kernel refuses it.
 */
async function openWatcher(directory: string, { changed, failed }: WatchCallbacks): Promise<Watcher> {
  const watched = watchedPaths(directory);
  const watcher = watch(watched, {
    followSymlinks: false,
    depth: 4,
    ignoreInitial: true,
    // What can't be read is reported by who reads it; the rest is watched.
    ignorePermissionErrors: true,
    ignored: (file) => watched.some((root) => isUnread(path.relative(root, file))),
  });
  watcher.on('all', changed);
  let isOpen = false;
  watcher.once('ready', () => (isOpen = true));
  // From the start on: an error that nobody listens to ends the process.
  watcher.on('error', (error) => {
    if (isOpen) failed(error);
  });
  try {
    await once(watcher, 'ready');
  } catch (error) {
    await watcher.close();
    throw error;
  }
  return watcher;
}

export interface WatchParts {
  readonly directory: string;
  /** Reads what is there. */
  readonly reload: () => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly open?: typeof openWatcher;
}

/** Reloads whenever the directory has changed and settled. While it can't be watched, it is read at each try to watch it. */
export function makeWatch({ directory, reload, clock, log, open = openWatcher }: WatchParts) {
  const debounce = makeDebounce(reload);
  let watcher: Watcher | undefined;
  let fault: { readonly error: unknown } | undefined;
  const service = makeService({ work, failure: NOT_WATCHED, maxRetryMs: MAX_RETRY_MS, clock, log });
  const callbacks: WatchCallbacks = {
    changed: debounce.call,
    failed: (error) => {
      fault = { error };
      service.wake();
    },
  };

  async function close(): Promise<void> {
    const closing = watcher;
    watcher = undefined;
    await closing?.close();
  }

  async function work(stopping: AbortSignal): Promise<null> {
    if (watcher !== undefined && fault === undefined) return null;
    const failed = fault;
    fault = undefined;
    try {
      await close();
      if (failed !== undefined) throw failed.error;
      watcher = await open(directory, callbacks);
    } finally {
      // For changes that nobody noticed; unless it was stopped meanwhile.
      if (!stopping.aborted) reload();
    }
    return null;
  }

  return {
    start: async (): Promise<void> => {
      service.wake();
      await service.settled();
    },
    stop: async (): Promise<void> => {
      await service.stop();
      await close();
      debounce.cancel();
    },
  };
}
