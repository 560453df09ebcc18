// Disk space: what is free on a disk, and what a directory with all its contents takes.
import { execFile } from 'node:child_process';
import { fstatSync, lstatSync, type Stats, statfsSync } from 'node:fs';
import { MB } from '../domain/byte-units.ts';
import { namesIn } from './list-beneath.ts';
import { at, descend, type Folder, openDirectoryAt } from './open-beneath.ts';

/** Time limit for counting a directory. */
const COUNT_MS = 60_000;
/** Up to here, counting in this process costs less than starting a program, which copies the page tables of a large one. */
const MAX_FEW_NAMES = 200;
/** One open descriptor per level. */
const MAX_FEW_LEVELS = 8;
/** The unit of `Stats.blocks`, whatever the file system's own is. */
const BLOCK_BYTES = 512;

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
export const megabytes = (bytes: number): number => Math.round(bytes / MB);

/** What a directory and everything beneath it takes on the disk, links as themselves; 0 when it can't be counted. */
export async function takenBy(directory: string): Promise<number> {
  const few = await takenByFew(directory).catch(() => undefined);
  if (few !== undefined) return few;
  const count = ['du', '--summarize', '--one-file-system', '--block-size=1', '--', directory];
  const plain = await total(count);
  if (plain.whole || process.getuid?.() === 0) return plain.bytes;
  // Root can enter folders that their owner has closed, even a root that has rights over its own files only.
  const asRoot = await total(['unshare', '--user', '--map-root-user', '--', ...count]);
  return Math.max(plain.bytes, asRoot.bytes);
}

interface Tally {
  readonly device: number;
  /** Inodes with several names, which count once. */
  readonly linked: Set<number>;
  namesLeft: number;
  bytes: number;
}

/** The same count as `du`'s, of a small directory; undefined for a larger one. Throws when part of it can't be read. */
async function takenByFew(directory: string): Promise<number | undefined> {
  const folder = await descend(directory, []);
  try {
    const { dev, blocks } = fstatSync(folder.fd);
    const tally = { device: dev, linked: new Set<number>(), namesLeft: MAX_FEW_NAMES, bytes: blocks * BLOCK_BYTES };
    return (await addContents(folder, tally, MAX_FEW_LEVELS)) ? tally.bytes : undefined;
  } finally {
    folder.close();
  }
}

/** Returns false when there is more than may be counted here. */
async function addContents(folder: Folder, tally: Tally, levels: number): Promise<boolean> {
  const { names, more } = await namesIn(folder, tally.namesLeft);
  if (more || levels === 0) return false;
  tally.namesLeft -= names.length;
  for (const name of names) {
    const stats = statsAt(folder, name);
    if (stats === undefined || stats.dev !== tally.device) continue;
    if (!stats.isDirectory()) {
      if (stats.nlink > 1 && tally.linked.has(stats.ino)) continue;
      if (stats.nlink > 1) tally.linked.add(stats.ino);
    }
    tally.bytes += stats.blocks * BLOCK_BYTES;
    if (stats.isDirectory() && !(await addFolder(folder, name, { tally, levels: levels - 1 }))) return false;
  }
  return true;
}

type Rest = { readonly tally: Tally; readonly levels: number };

async function addFolder(parent: Folder, name: Buffer, { tally, levels }: Rest): Promise<boolean> {
  const folder = openDirectoryAt(parent, name, name.toString());
  try {
    return await addContents(folder, tally, levels);
  } finally {
    folder.close();
  }
}

/** Undefined for a file that has gone since it was listed. */
const statsAt = (folder: Folder, name: Buffer): Stats | undefined =>
  lstatSync(at(folder, name), { throwIfNoEntry: false });

/** Runs a separate program, so that counting a tree of many files does not block the event loop. */
function total([program, ...args]: readonly string[]): Promise<{ bytes: number; whole: boolean }> {
  return new Promise((resolve) => {
    execFile('nice', ['-n', '5', program!, ...args], { timeout: COUNT_MS, cwd: '/' }, (error, stdout) => {
      resolve({ bytes: Number.parseInt(stdout, 10) || 0, whole: error === null });
    });
  });
}
