// Writes the files of a backup to new directories, which nobody else uses meanwhile.
import { chmodSync, chownSync, closeSync, fsyncSync, mkdirSync, openSync, utimesSync, writeSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { ErrandError } from '../../domain/errors.ts';
import { isUuid } from '../../domain/ids.ts';
import type { Owner } from '../../disk/make-beneath.ts';
import { blobPath } from '../../files/blobs/blob-place.ts';
import type { ListedFile } from '../../wire/backups/manifest.ts';

export interface Target {
  readonly dataDir: string;
  readonly configDir: string;
  /** Who owns the files of workspaces; null: whoever unpacks them. */
  readonly owner: Owner | null;
}

const KEY = /^[0-9a-f]{64}$/;
const OWNER_ALONE = 0o700;
const OPEN_FOLDER = 0o755;

/** The path of a file of the list. Throws `conflict` for one that leads out of its directory. */
export function pathIn(
  { dataDir, configDir }: Pick<Target, 'configDir' | 'dataDir'>,
  { kind, path }: ListedFile,
): string {
  if (kind === 'database' && path === 'errand.db') return join(dataDir, path);
  if (kind === 'blob' && KEY.test(path)) return blobPath(join(dataDir, 'blobs'), path);
  const [first = '', ...others] = path.split('/');
  const isPlain =
    path.length <= 4_200 && !path.includes('\0') && others.every((name) => !['', '.', '..'].includes(name));
  if (isPlain && others.length > 0 && kind === 'workspace' && isUuid(first)) return join(dataDir, 'workspaces', path);
  if (isPlain && others.length > 0 && kind === 'configuration' && first === '') return join(configDir, path);
  throw new ErrandError(
    'conflict',
    `The list of files has a path that is not allowed: ${JSON.stringify(path.slice(0, 200))}.`,
  );
}

/** Writes a file, with its mode and time. Throws `conflict` when its content isn't as listed. Not durable yet. */
export function unpackFile(target: Target, file: ListedFile, read: (key: string) => Buffer): void {
  const path = pathIn(target, file);
  const isShared = file.kind === 'workspace' || file.kind === 'configuration';
  makeFolders(dirname(path), isShared ? OPEN_FOLDER : OWNER_ALONE, file.kind === 'workspace' ? target.owner : null);
  const hash = createHash('sha256');
  const opened = openSync(path, 'wx', 0o600);
  try {
    let size = 0;
    for (const key of file.objects) {
      const bytes = read(key);
      hash.update(bytes);
      for (let at = 0; at < bytes.length; ) at += writeSync(opened, bytes, at, bytes.length - at);
      size += bytes.length;
    }
    if (size !== file.size || (file.kind === 'blob' && hash.digest('hex') !== file.path))
      throw new ErrandError('conflict', `The content of ${file.kind} ${file.path} is not as listed.`);
  } finally {
    closeSync(opened);
  }
  if (file.kind === 'workspace' && target.owner !== null) chownSync(path, target.owner.uid, target.owner.gid);
  if (isShared) chmodSync(path, file.mode);
  if (isShared) utimesSync(path, file.modified_at / 1_000, file.modified_at / 1_000);
}

/** Makes the missing folders of a path. */
function makeFolders(folder: string, mode: number, owner: Owner | null): void {
  const made = mkdirSync(folder, { recursive: true, mode });
  if (made === undefined || owner === null) return;
  for (let path = folder; path.length >= made.length; path = dirname(path)) chownSync(path, owner.uid, owner.gid);
}

/** Makes a name durable. */
export function syncPath(path: string): void {
  const opened = openSync(path, 'r');
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
