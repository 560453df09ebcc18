// Writes the files, links and folders of a backup to new directories, which nobody else uses meanwhile.
import {
  closeSync,
  fchmodSync,
  fchownSync,
  ftruncateSync,
  futimesSync,
  lchownSync,
  lutimesSync,
  openSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { createHash } from 'node:crypto';
import { codeOf, ErrandError } from '../../domain/errors.ts';
import type { Owner } from '../../disk/make-beneath.ts';
import { at } from '../../disk/open-beneath.ts';
import type { ListedFile } from '../../wire/backups/manifest.ts';
import { type Level, makeFolders } from './folders.ts';
import { shownEntry } from '../left-out.ts';
import { isEmptyPiece } from '../repository/empty-piece.ts';
import { isShared, entryPathOf, type Target } from './entry-path.ts';

export interface Unpacker {
  /**
   * Writes an entry of the list, with its mode and time. Returns why it can't exist here, or that its content isn't as listed, and leaves
   * nothing of it; null when it does. Throws `conflict` for a database whose content isn't as listed, and for a path that leads
   * through a link. Not durable yet.
   */
  write(entry: ListedFile): string | null;
  close(): void;
}

/** Codes of what this file system can't have, and the words for it. Anything else is a fault of the machine. */
const IMPOSSIBLE: Readonly<Record<string, string>> = {
  ENAMETOOLONG: 'its name is too long for this file system',
  EINVAL: 'its name is not allowed on this file system',
  EILSEQ: 'its name is not allowed on this file system',
  EEXIST: 'there is another file of that name',
  ELOOP: 'its path leads through a link',
  EMLINK: 'its folder has too many folders',
  EOPNOTSUPP: 'this file system has no such files',
};

/**
 * Makes an unpacker. It goes by open folders: a path from the root may be longer than a system call takes. Without `keeps`, it only
 * tries: apart from the database, it writes no content, and what it has made is removed as it goes on.
 */
export function makeUnpacker(
  target: Target,
  { read, keeps }: { readonly read: (key: string) => Buffer; readonly keeps: boolean },
): Unpacker {
  const folders = makeFolders(target, keeps);

  function write(entry: ListedFile): void {
    const { root, names } = entryPathOf(entry);
    if (entry.type === 'folder') {
      const { folder } = folders.open(root, names, entry);
      if (isShared(entry.kind)) dressOpen(folder.fd, entry, null);
      return;
    }
    const [level, name] = [folders.open(root, names.slice(0, -1), entry), names.at(-1)!];
    folders.claim(level, name);
    const isKept = keeps || entry.kind === 'database';
    const owner = entry.kind === 'workspace' ? target.owner : null;
    if (entry.type === 'link') writeLink(level, name, { entry, owner });
    else writeFile(level, name, { entry, owner, read: isKept ? read : null });
    if (!isKept) unlinkSync(at(level.folder, name));
  }

  return {
    write: (entry) => {
      try {
        write(entry);
        return null;
      } catch (error) {
        if (error instanceof DamagedContent) return error.message;
        const why = IMPOSSIBLE[codeOf(error) ?? ''];
        if (why === undefined || !isShared(entry.kind)) throw error;
        return why;
      }
    },
    close: folders.close,
  };
}

/** The message says what is wrong with it, for whoever reads what was left out. */
class DamagedContent extends Error {}

interface Wanted {
  readonly entry: ListedFile;
  readonly owner: Owner | null;
}

function writeLink({ folder }: Level, name: string, { entry, owner }: Wanted): void {
  const path = at(folder, name);
  symlinkSync(entry.target!, path);
  if (owner !== null) lchownSync(path, owner.uid, owner.gid);
  // It has no mode of its own.
  lutimesSync(path, entry.modified_at / 1_000, entry.modified_at / 1_000);
}

/** Without `read`, an empty one. */
function writeFile(
  { folder }: Level,
  name: string,
  { entry, owner, read }: Wanted & { readonly read: ((key: string) => Buffer) | null },
): void {
  const path = at(folder, name);
  const file = openSync(path, 'wx', 0o600);
  try {
    if (read !== null) writeContent(file, entry, read);
    if (isShared(entry.kind)) dressOpen(file, entry, owner);
  } catch (error) {
    if (!(error instanceof ErrandError) || error.reason !== 'conflict' || entry.kind === 'database') throw error;
    unlinkSync(path);
    throw new DamagedContent(`its content is damaged: ${error.message.replace(/\.$/, '')}`);
  } finally {
    closeSync(file);
  }
}

/** The owner first: that clears bits of the mode. */
function dressOpen(opened: number, { mode, modified_at: modifiedAt }: ListedFile, owner: Owner | null): void {
  if (owner !== null) fchownSync(opened, owner.uid, owner.gid);
  fchmodSync(opened, mode);
  futimesSync(opened, modifiedAt / 1_000, modifiedAt / 1_000);
}

function writeContent(opened: number, file: ListedFile, read: (key: string) => Buffer): void {
  const hash = createHash('sha256');
  let size = 0;
  for (const key of file.objects) {
    const bytes = read(key);
    if (file.kind === 'blob') hash.update(bytes);
    // A hole stays one: a file of many would take more space than it did.
    if (!isShared(file.kind) || !isEmptyPiece(bytes)) writeAt(opened, bytes, size);
    size += bytes.length;
  }
  if (isShared(file.kind)) ftruncateSync(opened, size);
  if (size !== file.size || (file.kind === 'blob' && hash.digest('hex') !== file.path))
    throw new ErrandError('conflict', `The content of ${shownEntry(file)} is not as listed.`);
}

function writeAt(opened: number, bytes: Buffer, position: number): void {
  for (let done = 0; done < bytes.length; )
    done += writeSync(opened, bytes, done, bytes.length - done, position + done);
}
