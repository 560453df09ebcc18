// Where blobs are stored, and how a newly written one is moved there.
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync } from 'node:fs';
import { opendir, readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { syncDiskOf } from '../../disk/sync-disk.ts';
import { writeNew } from './write-new.ts';

/** The path of a blob. */
export function blobPath(directory: string, key: string): string {
  return `${directory}/${key.slice(0, 2)}/${key}`;
}

/** The folder for files that are being written. Emptied at each start. */
export function incomingPath(directory: string): string {
  return join(directory, 'incoming');
}

/** Whether a blob exists. The result stays valid only while the blob is held. */
export function hasBlob(directory: string, key: string): boolean {
  return existsSync(blobPath(directory, key));
}

const SHARD = /^[0-9a-f]{2}$/;
const KEY = /^[0-9a-f]{64}$/;

/** Keys of all blobs, unordered. */
export async function* listKeys(directory: string): AsyncGenerator<string> {
  for await (const shard of await opendir(directory)) {
    if (!shard.isDirectory() || !SHARD.test(shard.name)) continue;
    for await (const { name } of await opendir(join(directory, shard.name))) if (KEY.test(name)) yield name;
  }
}

/** Removes the files in the folder for those being written whose paths begin so. */
export async function removeScratch(scratch: string): Promise<void> {
  const [folder, beginning] = [dirname(scratch), basename(scratch)];
  const names = await readdir(folder);
  await Promise.all(names.filter((name) => name.startsWith(beginning)).map((name) => rm(join(folder, name))));
}

/** A file that becomes a blob. */
export interface Written {
  readonly path: string;
  readonly key: string;
  /** What is still to be written to that path; absent: it is there. */
  readonly bytes?: Uint8Array | undefined;
}

/** From this number of files, one call for the whole file system costs less than one for each file and folder. */
const MANY = 32;

/**
 * Moves files to their places as blobs: first syncs their bytes, then their names, together with those of blobs that were
 * `found` there, since their writer may not have synced yet. Blocks: call it on a thread that no request waits for.
 */
export async function placeBlobs(
  directory: string,
  written: readonly Written[],
  found: readonly string[] = [],
): Promise<void> {
  const targets = written.map(({ key }) => blobPath(directory, key));
  const known = found.map((key) => blobPath(directory, key));
  const folders = [...new Set([...targets, ...known].map((path) => dirname(path)))];
  if (folders.length === 0) return;
  await writeAndSync(directory, written);
  for (const folder of folders)
    if (mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined) lasting.delete(folder);
  for (const [i, { path }] of written.entries()) renameSync(path, targets[i]!);
  await syncAll(directory, folders);
  const unsynced = folders.filter((folder) => !lasting.has(folder));
  if (unsynced.length === 0) return;
  await syncAll(directory, [directory]);
  for (const folder of unsynced) lasting.add(folder);
}

/** Folders whose own names are synced: they are never removed. */
const lasting = new Set<string>();

async function writeAndSync(directory: string, written: readonly Written[]): Promise<void> {
  const areFew = written.length <= MANY;
  const unsynced: string[] = [];
  for (const { path, bytes } of written) {
    if (bytes !== undefined) writeNew(path, bytes, areFew);
    if (bytes === undefined || !areFew) unsynced.push(path);
  }
  await syncAll(directory, unsynced);
}

async function syncAll(directory: string, paths: readonly string[]): Promise<void> {
  if (paths.length > MANY && (await syncDiskOf(directory))) return;
  for (const path of paths) {
    const file = openSync(path, 'r');
    try {
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  }
}
