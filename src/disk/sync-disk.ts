// Flushes written data from memory to the disk.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** By path: the call that has not started yet, shared by all requests until it does. */
const waiting = new Map<string, Promise<boolean>>();
let inProgress: Promise<unknown> = Promise.resolve();

/**
 * Syncs the whole file system of a path. Node has no call for it, so this runs the system's program, one at a time; requests
 * for the same path meanwhile share the next run. Returns whether it succeeded.
 */
export function syncDiskOf(path: string): Promise<boolean> {
  const shared = waiting.get(path);
  if (shared !== undefined) return shared;
  const next = inProgress.then(() => {
    waiting.delete(path);
    return sync(path);
  });
  waiting.set(path, next);
  inProgress = next;
  return next;
}

/** Also one that can't begin, as without memory for a process, ends: those behind it have their turn. */
async function sync(path: string): Promise<boolean> {
  try {
    const [code] = (await once(spawn('sync', ['-f', '--', path], { stdio: 'ignore' }), 'exit')) as [number | null];
    return code === 0;
  } catch {
    return false;
  }
}
