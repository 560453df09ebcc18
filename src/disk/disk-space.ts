// Disk space: what is free on a disk, and what a directory with all its contents takes.
import { execFile } from 'node:child_process';
import { statfsSync } from 'node:fs';

/** Time limit for counting a directory. */
const COUNT_MS = 60_000;
const MIB = 1_048_576;

/** What agents may take of the disk that they share. */
export interface SpaceLimits {
  /** Limit of one workspace. */
  readonly quotaBytes: number;
  /** What has to stay free for everything else; 0 for nothing. */
  readonly keepFreeBytes: number;
}

/** Bytes that unprivileged users can still use on the disk of a path. Throws when the path does not exist. */
export function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

/** Whole megabytes, as in the settings. */
export const megabytes = (bytes: number): number => Math.round(bytes / MIB);

/** What a directory and everything beneath it takes on the disk, links as themselves; 0 when it can't be counted. */
export async function takenBy(directory: string): Promise<number> {
  const count = ['du', '--summarize', '--one-file-system', '--block-size=1', '--', directory];
  const plain = await total(count);
  if (plain.whole || process.getuid?.() === 0) return plain.bytes;
  // Root can enter folders that their owner has closed, even a root that has rights over its own files only.
  const asRoot = await total(['unshare', '--user', '--map-root-user', '--', ...count]);
  return Math.max(plain.bytes, asRoot.bytes);
}

/** Runs a separate program, so that counting a tree of many files does not block the event loop. */
function total([program, ...args]: readonly string[]): Promise<{ bytes: number; whole: boolean }> {
  return new Promise((resolve) => {
    execFile('nice', ['-n', '5', program!, ...args], { timeout: COUNT_MS, cwd: '/' }, (error, stdout) => {
      resolve({ bytes: Number.parseInt(stdout, 10) || 0, whole: error === null });
    });
  });
}
