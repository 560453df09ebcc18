// Writes the files, links and folders of a backup to new directories, which nobody else uses meanwhile.
import {
  chmodSync,
  closeSync,
  fsyncSync,
  lchownSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import { createHash } from 'node:crypto';
import { dirname, join, relative, sep } from 'node:path';
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
/** The longest that Linux makes. */
const MAX_TARGET_BYTES = 4_095;

/** The path of an entry of the list. Throws `conflict` for one that leads out of its directory or isn't plain. */
export function pathIn({ dataDir, configDir }: Pick<Target, 'configDir' | 'dataDir'>, entry: ListedFile): string {
  const { kind, path, type } = entry;
  const [first = '', ...others] = path.split('/');
  const isPlain =
    path.length <= 4_200 && !path.includes('\0') && others.every((name) => !['', '.', '..'].includes(name));
  if (type === undefined && kind === 'database' && path === 'errand.db') return join(dataDir, path);
  if (type === undefined && kind === 'blob' && KEY.test(path)) return blobPath(join(dataDir, 'blobs'), path);
  if (isPlain && isShared(kind) && isWhole(entry)) {
    const isRoot = type === 'folder' && kind === 'workspace' && others.length === 0;
    if (kind === 'workspace' && isUuid(first) && (isRoot || others.length > 0))
      return join(dataDir, 'workspaces', path);
    if (kind === 'configuration' && first === '' && others.length > 0) return join(configDir, path);
  }
  throw new ErrandError(
    'conflict',
    `The list of files has a path that is not allowed: ${JSON.stringify(path.slice(0, 200))}.`,
  );
}

/** Links and folders have no content, and links alone a target. */
function isWhole({ type, target = '', size, objects }: ListedFile): boolean {
  if (type === undefined) return target === '';
  const isTarget = target !== '' && Buffer.byteLength(target) <= MAX_TARGET_BYTES;
  return size === 0 && objects.length === 0 && (type === 'link' ? isTarget : target === '');
}

/**
 * Makes the verb that writes an entry of the list, with its mode and time. Throws `conflict` when its content isn't as listed,
 * and for a path that leads through a link. Not durable yet.
 */
export function makeUnpacker(target: Target, read: (key: string) => Buffer): (entry: ListedFile) => void {
  /** A folder that has no link on its path: the files of a folder come one after another. */
  let plain = '';

  function openFolder(folder: string, { kind }: ListedFile): void {
    if (folder === plain) return;
    const root = kind === 'configuration' ? target.configDir : target.dataDir;
    const [mode, owner] = [isShared(kind) ? OPEN_FOLDER : OWNER_ALONE, kind === 'workspace' ? target.owner : null];
    let path = root;
    for (const name of relative(root, folder).split(sep)) {
      path = join(path, name);
      makeFolder(path, mode, owner);
    }
    plain = folder;
  }

  return (entry) => {
    const path = pathIn(target, entry);
    if (entry.type === 'folder') openFolder(path, entry);
    else {
      openFolder(dirname(path), entry);
      if (entry.type === 'link') symlinkSync(entry.target!, path);
      else writeContent(path, entry, read);
      if (entry.kind === 'workspace' && target.owner !== null) lchownSync(path, target.owner.uid, target.owner.gid);
    }
    if (isShared(entry.kind)) dress(path, entry);
  };
}

const isShared = (kind: ListedFile['kind']) => kind === 'workspace' || kind === 'configuration';

function dress(path: string, { type, mode, modified_at: modifiedAt }: ListedFile): void {
  // A link has no mode of its own, and a change would be made to what it leads to.
  if (type !== 'link') chmodSync(path, mode);
  lutimesSync(path, modifiedAt / 1_000, modifiedAt / 1_000);
}

function writeContent(path: string, file: ListedFile, read: (key: string) => Buffer): void {
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
}

/** Unless it is there. The kernel would follow a link that an earlier entry has made. */
function makeFolder(path: string, mode: number, owner: Owner | null): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) return;
  if (found !== undefined)
    throw new ErrandError('conflict', `The list of files has a path through something else: ${JSON.stringify(path)}.`);
  mkdirSync(path, { mode });
  if (owner !== null) lchownSync(path, owner.uid, owner.gid);
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
