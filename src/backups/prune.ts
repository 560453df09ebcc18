// Removes old backups of a repository, and the objects that no other backup has.
import { readdirSync, rmSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { syncPath } from '../disk/sync-path.ts';
import { blobPath } from '../files/blobs/blob-place.ts';
import { readList } from './repository/file-list.ts';
import type { Pace } from './pace.ts';
import { makePackedKeys, type PackedKeys } from './repository/packed-keys.ts';
import { listIds, manifestPath, objectsOf, openRepository, readManifestOf, timeOfId } from './repository/repository.ts';
import { openSource } from './source.ts';

export interface Keep {
  /** Backups that are older are removed. */
  readonly days: number;
  /** So many of the newest stay, however old they are. */
  readonly atLeast: number;
}

export interface Pruned {
  readonly removed: readonly string[];
  readonly kept: number;
  /** Of objects that were removed. */
  readonly objects: number;
  readonly bytes: number;
}

const DAY_MS = 86_400_000;

/** The backups that are too old, the oldest first. */
export function tooOld(ids: readonly string[], { days, atLeast }: Keep, now: number): readonly string[] {
  return ids.slice(0, Math.max(0, ids.length - atLeast)).filter((id) => timeOfId(id) < now - days * DAY_MS);
}

/**
 * Removes manifests first: an interrupted removal leaves objects that the next one removes. Throws `conflict` while a backup is
 * in progress, and when the manifest of a backup that stays can't be read: then it isn't known what has to stay.
 */
export async function prune(repository: string, keep: Keep, now: number, pace?: Pick<Pace, 'rest'>): Promise<Pruned> {
  const lock = openRepository(repository);
  try {
    const ids = listIds(repository);
    const removed = tooOld(ids, keep, now);
    const staying = ids.filter((id) => !removed.includes(id));
    const used = usedBy(repository, staying);
    for (const id of removed) rmSync(manifestPath(repository, id));
    if (removed.length > 0) syncPath(join(repository, 'backups'));
    return { removed, kept: staying.length, ...(await sweep(objectsOf(repository), used, pace)) };
  } finally {
    lock.release();
  }
}

function usedBy(repository: string, ids: readonly string[]): PackedKeys {
  const used = makePackedKeys();
  const source = openSource(repository);
  for (const id of ids) {
    // A block that another backup has as well was read with it.
    const fresh = readManifestOf(repository, id).list.filter((key) => used.add(key));
    for (const { objects } of readList(fresh, source.read)) for (const key of objects) used.add(key);
  }
  return used;
}

async function sweep(objects: string, used: Pick<PackedKeys, 'get'>, pace: Pick<Pace, 'rest'> | undefined) {
  let [count, bytes] = [0, 0];
  for (const shard of readdirSync(objects))
    for (const key of readdirSync(join(objects, shard))) {
      if (used.get(key) !== undefined) continue;
      const path = blobPath(objects, key);
      bytes += (await stat(path)).size;
      rmSync(path);
      count += 1;
      await pace?.rest();
    }
  return { objects: count, bytes };
}
