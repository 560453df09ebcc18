// Calls back when what is watched has changed and settled; a watch that fails is opened again.
import { once } from 'node:events';
import { type ChokidarOptions, watch } from 'chokidar';
import type { Clock } from '../../domain/clock.ts';
import type { Log } from '../../log/log.ts';
import { makeService } from '../../services/service.ts';

const QUIET_MS = 200;
const LONGEST_WAIT_MS = 2000;
const MAX_RETRY_MS = 60_000;

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

/** A watch that is open. */
export interface Watcher {
  close(): Promise<void>;
}

/** `failed`: a change may have gone unnoticed, and so may all further ones. */
export interface WatchCallbacks {
  readonly changed: () => void;
  readonly failed: (error: unknown) => void;
}

/** Watches these paths, of which links are not followed. Resolves when every change from now on is noticed; rejects when the kernel refuses it. */
export async function openWatch(
  paths: readonly string[],
  options: Pick<ChokidarOptions, 'depth' | 'ignored'>,
  { changed, failed }: WatchCallbacks,
): Promise<Watcher> {
  const watcher = watch([...paths], {
    ...options,
    followSymlinks: false,
    ignoreInitial: true,
    // What can't be read is reported by who reads it; the rest is watched.
    ignorePermissionErrors: true,
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
  readonly open: (callbacks: WatchCallbacks) => Promise<Watcher>;
  /** Reads what is there. */
  readonly reload: () => void;
  /** The log line of what can't be watched. */
  readonly failure: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Reloads whenever what is watched has changed and settled. While it can't be watched, it is read at each try to watch it. */
export function makeWatch({ open, reload, failure, clock, log }: WatchParts) {
  const debounce = makeDebounce(reload);
  let watcher: Watcher | undefined;
  let fault: { readonly error: unknown } | undefined;
  let isStale = false;
  const service = makeService({ work, failure, maxRetryMs: MAX_RETRY_MS, clock, log });
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
    if (watcher !== undefined && fault === undefined && !isStale) return null;
    const failed = fault;
    fault = undefined;
    isStale = false;
    try {
      await close();
      if (failed !== undefined) throw failed.error;
      watcher = await open(callbacks);
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
    /** What is watched may be elsewhere now. */
    reopen: (): void => {
      isStale = true;
      service.wake();
    },
    stop: async (): Promise<void> => {
      await service.stop();
      await close();
      debounce.cancel();
    },
  };
}
