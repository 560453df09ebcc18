// Lays a workspace out on the snapshot thread: afterwards it has what is recorded of it, durably, and nothing else.
import {
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  fsyncSync,
  lchownSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { freeBytes } from '../../disk/disk-space.ts';
import { enterBeneath, openFolderAt, placeIn } from '../../disk/enter-beneath.ts';
import { dress, type Owner } from '../../disk/make-beneath.ts';
import { removeTree } from '../../disk/remove-beneath.ts';
import { syncDiskOf } from '../../disk/sync-disk.ts';
import { codeOf } from '../../domain/errors.ts';
import { SMALL_BLOB_BYTES } from '../../domain/sessions/contents.ts';
import { blobPath } from '../blobs/blob-place.ts';
import { noSpace } from '../blobs/no-space.ts';
import { identityOf, openWriter } from './copy-file.ts';
import { modeFor } from './extras.ts';
import type { Manifests, SeenFile } from './manifests.ts';
import { LostContentError, makeReadBlob, type ReadBlob } from './read-blob.ts';
import { revertWorkspace } from './revert-workspace.ts';
import type { LaidOut, LayOutTask } from './snapshot-requests.ts';
import type { SnapshotFile } from './snapshot.ts';
import type { Work } from './take-snapshot.ts';
import { type Wanted, wantedOf } from './wanted.ts';

const { COPYFILE_EXCL, COPYFILE_FICLONE_FORCE, O_NOFOLLOW, O_RDONLY } = constants;
/** Blobs that are brought at once. */
const BATCH = 256;
/** From so many files on, one call for the whole file system costs less than one for each file and folder. */
const MANY = 32;

/**
 * An old copy is changed in place where that is possible: what it has already stays. Otherwise the workspace is made beside it and gets its
 * name at the end. Throws when it can't be read or written, and when there is no room for it.
 */
export async function layOut(
  task: LayOutTask,
  files: readonly SnapshotFile[],
  manifests: Manifests,
  work: Work,
): Promise<LaidOut | { readonly missing: string }> {
  // A crash may have left it.
  await removeTree(task.fresh);
  const manifest = manifests.find(task.manifestPath);
  const wanted = wantedOf(files, task.extras);
  const reverted = await revertWorkspace(task, { wanted, manifest, pace: work.pace });
  const root = reverted === undefined ? await beginAnew(task) : task.root;
  const seen = new Map(reverted?.kept);
  const left = files.filter(({ path }) => !seen.has(path));
  const links = [...wanted.links].filter(([path]) => reverted?.links.has(path) !== true);
  const writtenBytes = left.reduce((sum, { size }) => sum + size, 0);
  requireRoom(task, writtenBytes);
  try {
    await writeWanted({ task, root, seen, work, wanted }, left, links);
  } catch (error) {
    if (reverted === undefined) await removeTree(root);
    if (error instanceof LostContentError) return { missing: error.path };
    throw error;
  }
  const removed = reverted?.removed ?? 0;
  const extras = [...links.map(([path]) => path), ...wanted.emptyFolders.map(within)];
  if (left.length + extras.length > MANY || removed > 0) await syncAll(root, left, extras);
  if (root !== task.root) settle(root, task.root);
  manifests.keep(task.manifestPath, { token: task.token, files: seen, extras: task.extras }, writtenBytes);
  return { kept: files.length - left.length, written: left.length, writtenBytes, removed };
}

/** Removes what is there, and makes an empty directory beside it. */
async function beginAnew({ root, fresh, owner }: LayOutTask): Promise<string> {
  await removeTree(root);
  mkdirSync(dirname(fresh), { recursive: true, mode: 0o700 });
  mkdirSync(fresh, 0o700);
  const made = openFolderAt(fresh);
  dress(made, 0o700, owner);
  closeSync(made);
  return fresh;
}

function requireRoom({ root, keepFreeBytes }: LayOutTask, bytes: number): void {
  if (bytes > 0 && freeBytes(dirname(root)) - bytes < keepFreeBytes) throw noSpace();
}

interface Writing {
  readonly task: LayOutTask;
  readonly root: string;
  /** What was written is added. */
  readonly seen: Map<string, SeenFile>;
  readonly work: Work;
  readonly wanted: Wanted;
}

type Links = readonly (readonly [path: string, target: string])[];

async function writeWanted(writing: Writing, files: readonly SnapshotFile[], links: Links): Promise<void> {
  const { task, root, wanted, work } = writing;
  const areFew = files.length + links.length + wanted.emptyFolders.length <= MANY;
  const folders = makeFolders(root, task.owner, areFew);
  try {
    await writeFiles(writing, files, { folders, areFew });
    for (const path of wanted.emptyFolders) {
      folders.of(within(path));
      await work.pace.rest();
    }
    for (const [path, target] of links) {
      const { folder, name } = folders.of(path);
      symlinkSync(target, placeIn(folder, name));
      if (task.owner !== null) lchownSync(placeIn(folder, name), task.owner.uid, task.owner.gid);
      await work.pace.rest();
    }
  } finally {
    folders.close();
  }
}

/** A path in a folder, for what opens the folder that a path is in. */
const within = (path: string): string => `${path}/`;

interface Into {
  readonly folders: ReturnType<typeof makeFolders>;
  readonly areFew: boolean;
}

async function writeFiles(
  { task, seen, work, wanted }: Writing,
  left: readonly SnapshotFile[],
  { folders, areFew }: Into,
): Promise<void> {
  const bytesOf = makeReadBlob({ directory: task.blobs, files: left, ask: work.ask, pace: work.pace });
  for (const [at, file] of left.entries()) {
    if (at % BATCH === 0) await work.bring(left.slice(at, at + BATCH).map(({ sha256 }) => sha256));
    const { folder, name } = folders.of(file.path);
    const written = await writeFile(placeIn(folder, name), file, { task, bytesOf });
    try {
      dress(written, modeFor(wanted.executables.has(file.path)), task.owner);
      if (areFew) fsyncSync(written);
      const identity = identityOf(fstatSync(written, { bigint: true }));
      seen.set(file.path, { identity, sha256: file.sha256, settled: false });
    } finally {
      closeSync(written);
    }
    await work.pace.rest();
  }
}

/** The folder of the last file stays open: the next one is mostly in it as well. */
function makeFolders(root: string, owner: Owner | null, areSynced: boolean) {
  const top = openFolderAt(root);
  let open: { readonly path: string; readonly folder: number } | undefined;
  const leave = () => {
    if (open === undefined) return;
    if (areSynced) fsyncSync(open.folder);
    closeSync(open.folder);
    open = undefined;
  };
  return {
    of: (path: string): { readonly folder: number; readonly name: string } => {
      const end = path.lastIndexOf('/');
      const above = path.slice(0, end);
      if (open?.path !== above) {
        leave();
        open = { path: above, folder: enterBeneath(top, above.split('/').slice(1), owner) };
      }
      return { folder: open.folder, name: path.slice(end + 1) };
    },
    close: () => {
      leave();
      closeSync(top);
    },
  };
}

interface Source {
  readonly task: LayOutTask;
  readonly bytesOf: ReadBlob;
}

/** Writes a new file, and returns it open. */
async function writeFile(place: string, file: SnapshotFile, { task, bytesOf }: Source): Promise<number> {
  const isLarge = file.size > SMALL_BLOB_BYTES;
  if (isLarge && isCloned(blobPath(task.blobs, file.sha256), place)) {
    const cloned = openSync(place, O_RDONLY | O_NOFOLLOW);
    if (fstatSync(cloned).size === file.size) return cloned;
    closeSync(cloned);
    rmSync(place);
  }
  const stats = isLarge
    ? statSync(blobPath(task.blobs, file.sha256), { bigint: true, throwIfNoEntry: false })
    : undefined;
  const writer = openWriter(place, { blocks: stats?.blocks ?? BigInt(file.size), size: BigInt(file.size) });
  try {
    let at = 0;
    for await (const bytes of bytesOf(file)) {
      writer.write(bytes, at);
      at += bytes.length;
    }
    writer.finish(at);
    return writer.fd;
  } catch (error) {
    writer.close();
    throw error;
  }
}

/** Whether files of the file system can share blocks, as far as it is known. */
let mayClone = true;
const NO_CLONES: ReadonlySet<string> = new Set(['ENOTSUP', 'EOPNOTSUPP', 'EXDEV', 'EINVAL', 'ENOSYS', 'ENOTTY']);

/**
 * Makes a file that shares its blocks with the blob until one of them is changed. A hard link would be changed with the file: agents change
 * files in place.
 */
function isCloned(blob: string, place: string): boolean {
  if (!mayClone) return false;
  try {
    copyFileSync(blob, place, COPYFILE_EXCL | COPYFILE_FICLONE_FORCE);
    return true;
  } catch (error) {
    mayClone = !NO_CLONES.has(codeOf(error) ?? '');
    // Where the blob is gone, whoever reads it says so.
    rmSync(place, { force: true });
    return false;
  }
}

/** Their bytes and names, also those of what was removed, and of extras. */
async function syncAll(root: string, files: readonly SnapshotFile[], extras: readonly string[]): Promise<void> {
  if (await syncDiskOf(root)) return;
  const folders = makeFolders(root, null, true);
  try {
    for (const { path } of files) {
      const { folder, name } = folders.of(path);
      const file = openSync(placeIn(folder, name), O_RDONLY | O_NOFOLLOW);
      fsyncSync(file);
      closeSync(file);
    }
    for (const path of extras) folders.of(path);
  } finally {
    folders.close();
  }
}

/** Gives the new directory its name. */
function settle(fresh: string, root: string): void {
  renameSync(fresh, root);
  const parent = openFolderAt(dirname(root));
  fsyncSync(parent);
  closeSync(parent);
}
