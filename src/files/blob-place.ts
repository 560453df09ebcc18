// Where a blob lies below the blobs' directory, and how one that was written beside it takes its place.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The path of a blob. */
export function blobPath(directory: string, key: string): string {
  return join(directory, key.slice(0, 2), key);
}

/** The folder of what is being written. Emptied at each start. */
export function incomingPath(directory: string): string {
  return join(directory, 'incoming');
}

/** Whether a blob is there. Only a hold on it makes the answer last. */
export function hasBlob(directory: string, key: string): boolean {
  return statSync(blobPath(directory, key), { throwIfNoEntry: false }) !== undefined;
}

interface Written {
  readonly path: string;
  readonly key: string;
}

/** From so many files on, one call for the whole file system costs less than one for each file and folder. */
const MANY = 32;

/** Moves files to their places as blobs: first their bytes are on the disk, then their names. For a thread that nobody waits in. */
export async function placeBlobs(directory: string, written: readonly Written[]): Promise<void> {
  const [paths, targets] = [written.map(({ path }) => path), written.map(({ key }) => blobPath(directory, key))];
  const folders = [...new Set(targets.map((target) => dirname(target)))];
  if (written.length === 0) return;
  await syncAll(directory, paths);
  for (const folder of folders) mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const [i, path] of paths.entries()) renameSync(path, targets[i]!);
  await syncAll(directory, [...folders, directory]);
}

async function syncAll(directory: string, paths: readonly string[]): Promise<void> {
  if (paths.length > MANY && (await syncFileSystem(directory))) return;
  for (const path of paths) {
    const file = openSync(path, 'r');
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  }
}

/** Node has no call for it, the system's program does. Answers whether it did. */
async function syncFileSystem(directory: string): Promise<boolean> {
  const child = spawn('sync', ['-f', directory], { stdio: 'ignore' });
  const [code] = (await once(child, 'exit').catch(() => [null])) as [number | null];
  return code === 0;
}
