// How much room there is: free on a disk, and taken by a directory with all that is in it.
import { execFile } from 'node:child_process';
import { statfsSync } from 'node:fs';

/** How long a directory may take to be counted. */
const COUNT_MS = 60_000;
const MIB = 1_048_576;

/** What agents may take of the disk that they share. */
export interface SpaceLimits {
  /** Of one workspace. */
  readonly quotaBytes: number;
  /** What has to stay free for everything else; 0 for nothing. */
  readonly keepFreeBytes: number;
}

/** Bytes that are free for everybody on the disk of a path. Throws when there is no such path. */
export function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

/** Whole megabytes, as they stand in the settings. */
export const megabytes = (bytes: number): number => Math.round(bytes / MIB);

/** What a directory with all beneath it takes on the disk, links as themselves; 0 when it can't be counted. */
export async function takenBy(directory: string): Promise<number> {
  const count = ['du', '--summarize', '--one-file-system', '--block-size=1', '--', directory];
  const plain = await total(count);
  if (plain.whole || process.getuid?.() === 0) return plain.bytes;
  // Folders that their owner has closed open to root, also to one that is root over its own files alone.
  const asRoot = await total(['unshare', '--user', '--map-root-user', '--', ...count]);
  return Math.max(plain.bytes, asRoot.bytes);
}

/** A program of its own: a tree of many files is walked while the event loop turns. */
function total([program, ...args]: readonly string[]): Promise<{ bytes: number; whole: boolean }> {
  return new Promise((resolve) => {
    execFile('nice', ['-n', '5', program!, ...args], { timeout: COUNT_MS, cwd: '/' }, (error, stdout) => {
      resolve({ bytes: Number.parseInt(stdout, 10) || 0, whole: error === null });
    });
  });
}
