// Has the system write to the disk what it still holds in memory.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** By path: the call that has not begun yet, for all who ask before it does. */
const waiting = new Map<string, Promise<boolean>>();
let underWay: Promise<unknown> = Promise.resolve();

/**
 * Syncs the file system that a path lies on, all of it. Node has no call for it, the system's program does. One runs at a
 * time; who asks for the same path meanwhile shares the next. Answers whether it did.
 */
export function syncDiskOf(path: string): Promise<boolean> {
  const shared = waiting.get(path);
  if (shared !== undefined) return shared;
  const next = underWay.then(() => {
    waiting.delete(path);
    return sync(path);
  });
  waiting.set(path, next);
  underWay = next;
  return next;
}

async function sync(path: string): Promise<boolean> {
  const child = spawn('sync', ['-f', '--', path], { stdio: 'ignore' });
  const [code] = (await once(child, 'exit').catch(() => [null])) as [number | null];
  return code === 0;
}
