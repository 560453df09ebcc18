// Where an entry of a backup's list belongs. A list that leads elsewhere was forged.
import type { Owner } from '../../disk/make-beneath.ts';
import { ErrandError } from '../../domain/errors.ts';
import { isUuid } from '../../domain/ids.ts';
import { blobPath } from '../../files/blobs/blob-place.ts';
import type { ListedFile } from '../../wire/backups/manifest.ts';

/** One of the directories that a backup is restored into. */
export type Root = 'configDir' | 'dataDir';

export interface Target extends Readonly<Record<Root, string>> {
  /** Who owns the files of workspaces; null: whoever unpacks them. */
  readonly owner: Owner | null;
}

export interface EntryPath {
  readonly root: Root;
  /** Of the folders below it, and of the entry itself. */
  readonly names: readonly string[];
}

const KEY = /^[0-9a-f]{64}$/;
/** The longest that Linux makes. */
const MAX_TARGET_BYTES = 4_095;

/** What others have made, with its mode and time. */
export const isShared = (kind: ListedFile['kind']): boolean => kind === 'workspace' || kind === 'configuration';

/** Throws `conflict` for an entry that leads out of its directory or isn't plain. */
export function entryPathOf(entry: ListedFile): EntryPath {
  const { kind, path, type } = entry;
  const [first = '', ...others] = path.split('/');
  const isPlain =
    path.length <= 4_200 && !path.includes('\0') && others.every((name) => !['', '.', '..'].includes(name));
  if (type === undefined && kind === 'database' && path === 'errand.db') return { root: 'dataDir', names: [path] };
  if (type === undefined && kind === 'blob' && KEY.test(path))
    return { root: 'dataDir', names: blobPath('blobs', path).split('/') };
  if (isPlain && isShared(kind) && isWhole(entry)) {
    const isRoot = type === 'folder' && kind === 'workspace' && others.length === 0;
    if (kind === 'workspace' && isUuid(first) && (isRoot || others.length > 0))
      return { root: 'dataDir', names: ['workspaces', first, ...others] };
    if (kind === 'configuration' && first === '' && others.length > 0) return { root: 'configDir', names: others };
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
