// Opens and describes files beneath a directory, and never follows a link out of it, as openat2 does with RESOLVE_BENEATH.
// Node has no openat: every step goes through `/proc/self/fd/<directory>/<name>` with O_NOFOLLOW instead.
import { closeSync, constants, fstatSync, lstatSync, openSync, type Stats } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { codeOf, ErrandError, type ErrorReason } from '../domain/errors.ts';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
/** Refers to a file without opening it, so that pipes and devices are unaffected. Node has no constant for it; Linux only. */
export const O_PATH = 0o10000000;
const MAX_PATH_BYTES = 4096;
const MAX_NAME_BYTES = 255;

type FileKind = 'file' | 'directory' | 'link' | 'other';

export interface FileFacts {
  readonly kind: FileKind;
  /** Bytes. */
  readonly size: number;
  readonly modifiedAt: number;
  /** Permission bits. */
  readonly mode: number;
}

/**
 * An open folder. Folders are opened, closed and asked for facts at once: that takes microseconds, and a hop to another thread
 * and back takes more. What writes or syncs doesn't block.
 */
export interface Folder {
  readonly fd: number;
  close(): void;
}

const folderOf = (fd: number): Folder => ({ fd, close: () => closeSync(fd) });

const FAULTS: Readonly<Record<string, readonly [ErrorReason, string]>> = {
  ENOENT: ['not_found', 'does not exist'],
  ENOTDIR: ['bad_request', 'is not a folder'],
  EISDIR: ['bad_request', 'is a folder'],
  ELOOP: ['bad_request', 'is a symbolic link, and links are not followed'],
  ENXIO: ['bad_request', 'is not a regular file but a pipe, socket or device'],
  EEXIST: ['conflict', 'exists already'],
  EACCES: ['forbidden', 'cannot be used: permission denied'],
  EPERM: ['forbidden', 'cannot be used: permission denied'],
  ENAMETOOLONG: ['bad_request', 'is too long a path'],
  ENOSPC: ['unavailable', 'cannot be written: no space is left on the disk'],
  EDQUOT: ['unavailable', 'cannot be written: the disk quota is used up'],
};

function refusal(code: keyof typeof FAULTS, path: string, cause?: unknown): ErrandError {
  const [reason, words] = FAULTS[code] ?? ['internal', `cannot be used (${code})`];
  return new ErrandError(reason, `${JSON.stringify(path)} ${words}.`, { cause });
}

export function explained(error: unknown, path: string): unknown {
  const code = codeOf(error);
  return error instanceof ErrandError || code === undefined ? error : refusal(code, path, error);
}

/**
 * The names of a path beneath its root; none for the root itself. A leading `/` means the root. Throws bad_request for a NUL,
 * invalid Unicode, `..` above the root, and names or paths that are too long.
 */
export function partsBeneath(path: string): readonly string[] {
  const refuse = (words: string) => new ErrandError('bad_request', `${JSON.stringify(path.slice(0, 200))} ${words}.`);
  if (path.includes('\u0000') || !path.isWellFormed())
    throw refuse('contains a character that is not allowed in a path');
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) throw refuse(`is longer than ${MAX_PATH_BYTES} bytes`);
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (Buffer.byteLength(part) > MAX_NAME_BYTES) throw refuse(`has a name longer than ${MAX_NAME_BYTES} bytes`);
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) throw refuse('leads out of the folder it must stay in');
  }
  return parts;
}

export function at(directory: Folder, name: string | Buffer): string | Buffer {
  const prefix = `/proc/self/fd/${directory.fd}/`;
  return typeof name === 'string' ? prefix + name : Buffer.concat([Buffer.from(prefix), name]);
}

function factsOf(stats: Stats): FileFacts {
  const kind = stats.isFile() ? 'file' : stats.isDirectory() ? 'directory' : stats.isSymbolicLink() ? 'link' : 'other';
  return { kind, size: stats.size, modifiedAt: Math.floor(stats.mtimeMs), mode: stats.mode & 0o777 };
}

export function factsAt(directory: Folder, name: string | Buffer): FileFacts | undefined {
  try {
    const stats = lstatSync(at(directory, name), { throwIfNoEntry: false });
    return stats === undefined ? undefined : factsOf(stats);
  } catch {
    return undefined;
  }
}

export function openDirectoryAt(parent: Folder, name: string | Buffer, path: string): Folder {
  try {
    return folderOf(openSync(at(parent, name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  } catch (error) {
    // Linux reports ENOTDIR for a link too; the difference matters to the reader of the message.
    if (factsAt(parent, name)?.kind === 'link') throw refusal('ELOOP', path, error);
    throw explained(error, path);
  }
}

type Step = (parent: Folder, name: string, path: string) => Folder | Promise<Folder>;

/** Opens a directory by its path. `first`: what a message says doesn't exist when it doesn't. */
export function openRoot(root: string, first?: string): Folder {
  try {
    return folderOf(openSync(root, O_RDONLY | O_DIRECTORY));
  } catch (error) {
    throw explained(error, codeOf(error) === 'ENOENT' ? (first ?? '/') : '/');
  }
}

/**
 * Descends from the root, with at most two open descriptors. The caller closes the result. Beneath a missing root, the first
 * name is what does not exist.
 */
export async function descend(
  root: string,
  parts: readonly string[],
  step: Step = openDirectoryAt,
  first = parts[0],
): Promise<Folder> {
  let directory = openRoot(root, first);
  for (const [index, part] of parts.entries()) {
    const parent = directory;
    try {
      directory = await step(parent, part, parts.slice(0, index + 1).join('/'));
    } finally {
      parent.close();
    }
  }
  return directory;
}

/** Runs `verb` on the directory that contains the path's last name. */
export async function withParent<T>(
  root: string,
  path: string,
  verb: (parent: Folder, name: string, path: string) => Promise<T>,
): Promise<T> {
  const parts = partsBeneath(path);
  const name = parts.at(-1);
  if (name === undefined) throw refusal('EISDIR', path);
  const parent = await descend(root, parts.slice(0, -1), openDirectoryAt, parts[0]);
  try {
    return await verb(parent, name, parts.join('/'));
  } catch (error) {
    throw explained(error, parts.join('/'));
  } finally {
    parent.close();
  }
}

const KIND_FAULTS: Readonly<Record<FileKind, string | undefined>> = {
  file: undefined,
  directory: 'EISDIR',
  link: 'ELOOP',
  other: 'ENXIO',
};

export function requireFile(facts: FileFacts, path: string): void {
  const code = KIND_FAULTS[facts.kind];
  if (code !== undefined) throw refusal(code, path);
}

/**
 * Opens a regular file; the caller closes it. `flags` are those of open(2), `mode` is for a file that O_CREAT makes. Never
 * blocks on a pipe and never touches a device: gets a reference to the file, checks it, and then opens that reference. Throws
 * not_found, bad_request (a link, a folder, a special file), conflict (O_EXCL), forbidden.
 */
export async function openFileBeneath(root: string, path: string, flags = O_RDONLY, mode = 0o600): Promise<FileHandle> {
  return withParent(root, path, async (parent, name, shown) => {
    if ((flags & O_CREAT) !== 0) {
      try {
        return await open(at(parent, name), flags | O_EXCL | O_NOFOLLOW, mode);
      } catch (error) {
        if (codeOf(error) !== 'EEXIST' || (flags & O_EXCL) !== 0) throw error;
      }
    }
    const named = openSync(at(parent, name), O_PATH | O_NOFOLLOW);
    try {
      requireFile(factsOf(fstatSync(named)), shown);
      return await open(`/proc/self/fd/${named}`, (flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW)) | O_NONBLOCK);
    } finally {
      closeSync(named);
    }
  });
}

/** Kind, size, time and mode of what the path names; a link itself, not its target. Throws not_found. */
export async function statBeneath(root: string, path: string): Promise<FileFacts> {
  if (partsBeneath(path).length === 0) return factsOf(await lstat(root));
  return withParent(root, path, async (parent, name) => factsOf(lstatSync(at(parent, name))));
}
