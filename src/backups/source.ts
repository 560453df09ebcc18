// Where backups are read from: a repository, or a tar archive of one.
import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { MB } from '../domain/byte-units.ts';
import { ErrandError, messageOf } from '../domain/errors.ts';
import { blobPath } from '../files/blobs/blob-place.ts';
import type { Manifest } from '../wire/backups/manifest.ts';
import { MAX_MANIFEST_BYTES, readManifest } from './repository/manifest.ts';
import { makePackedKeys } from './repository/packed-keys.ts';
import { listIds, objectsOf, readManifestOf } from './repository/repository.ts';
import { keyOf } from './repository/sink.ts';
import { sizeBefore, tarEntries } from './archive/tar.ts';

export interface Source {
  /** The oldest first. */
  readonly ids: readonly string[];
  /** Throws `not_found`, and `conflict` when it was altered. */
  manifest(id: string): Manifest;
  /** The bytes of an object. Throws `conflict` when they are missing or altered. */
  read(key: string): Buffer;
  close(): void;
}

/** The largest object is the line of a very large database. */
const MAX_OBJECT_BYTES = 256 * MB;

/** Opens a repository or an archive. Throws `not_found` and `conflict`. */
export function openSource(path: string): Source {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw new ErrandError('not_found', `${path} does not exist.`);
  return stats.isDirectory() ? openRepositoryToRead(path) : openArchive(path);
}

function openRepositoryToRead(repository: string): Source {
  return {
    ids: listIds(repository),
    manifest: (id) => readManifestOf(repository, id),
    read: (key) =>
      verified(key, () => {
        const file = blobPath(objectsOf(repository), key);
        requireSize(statSync(file).size);
        return readFileSync(file);
      }),
    close: () => undefined,
  };
}

const MANIFEST = /^backups\/(\d{8}T\d{6}Z-[0-9a-f]{6})\.json$/;
const OBJECT = /^objects\/[0-9a-f]{2}\/([0-9a-f]{64})$/;

function openArchive(path: string): Source {
  const file = openSync(path, 'r');
  const read = (bytes: Buffer, position: number) => readSync(file, bytes, 0, bytes.length, position);
  const objects = makePackedKeys();
  const manifests = new Map<string, string>();
  const contentOf = ({ start, size }: { start: number; size: number }) => {
    requireSize(size);
    const bytes = Buffer.alloc(size);
    if (read(bytes, start) < size) throw new Error('it is cut off');
    return bytes;
  };
  try {
    for (const { name, ...where } of tarEntries(read)) {
      // Those who made an archive of a repository on their own may have its names begin with ./
      const plain = name.replace(/^\.\//, '');
      const [id, key] = [MANIFEST.exec(plain)?.[1], OBJECT.exec(plain)?.[1]];
      if (key !== undefined) objects.add(key, where.start);
      else if (id !== undefined && where.size <= MAX_MANIFEST_BYTES) manifests.set(id, contentOf(where).toString());
    }
  } catch (error) {
    closeSync(file);
    throw error instanceof ErrandError
      ? error
      : new ErrandError('conflict', `${path} can't be read: ${messageOf(error)}.`);
  }
  return {
    ids: [...manifests.keys()].sort(),
    manifest: (id) => {
      const text = manifests.get(id);
      if (text === undefined) throw new ErrandError('not_found', `There is no backup ${id} in ${path}.`);
      return readManifest(text, id);
    },
    read: (key) =>
      verified(key, () => {
        const start = objects.get(key);
        if (start === undefined) throw new Error('it is missing');
        return contentOf({ start, size: sizeBefore(start, read) });
      }),
    close: () => closeSync(file),
  };
}

function verified(key: string, load: () => Buffer): Buffer {
  let bytes: Buffer;
  try {
    bytes = load();
  } catch (error) {
    throw new ErrandError('conflict', `The object ${key} can't be read: ${messageOf(error)}.`, { cause: error });
  }
  if (keyOf(bytes) !== key) throw new ErrandError('conflict', `The object ${key} was altered or is damaged.`);
  return bytes;
}

function requireSize(size: number): void {
  if (size > MAX_OBJECT_BYTES) throw new Error('it is too large');
}
