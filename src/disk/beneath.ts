// Opens, lists and writes what lies beneath a directory, and never follows a link out of it.
// Node has no openat: every step goes through `/proc/self/fd/<directory>/<name>` with O_NOFOLLOW instead.
import { randomUUID } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { chmod, chown, type FileHandle, lstat, mkdir, open, opendir, rename, unlink } from 'node:fs/promises';
import { ErrandError, type ErrorReason } from '../domain/errors.ts';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
/** Names a file without opening it, so that pipes and devices feel nothing. Node has no name for it; Linux only. */
export const O_PATH = 0o10000000;
const MAX_PATH_BYTES = 4096;
const MAX_NAME_BYTES = 255;

/** Files being written have such names, and a UUID after it, until they are whole. A crash may leave one behind. */
export const TEMPORARY_PREFIX = '.errand-tmp-';

export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

type FileKind = 'file' | 'directory' | 'link' | 'other';

export interface FileFacts {
  readonly kind: FileKind;
  /** Bytes. */
  readonly size: number;
  readonly modifiedAt: number;
  /** Permission bits. */
  readonly mode: number;
}

/** One name in a directory. `exact` is false when the name on disk is not UTF-8, so that no path can reach it. */
export interface Entry extends FileFacts {
  readonly name: string;
  readonly exact: boolean;
}

/** What a directory holds, sorted by name; `more` tells that a limit left some out. */
export interface Listing {
  readonly entries: readonly Entry[];
  readonly more: boolean;
}

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

/** The code of a failed system call, such as `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

function refusal(code: keyof typeof FAULTS, path: string, cause?: unknown): ErrandError {
  const [reason, words] = FAULTS[code] ?? ['internal', `cannot be used (${code})`];
  return new ErrandError(reason, `${JSON.stringify(path)} ${words}.`, { cause });
}

function explained(error: unknown, path: string): unknown {
  const code = codeOf(error);
  return error instanceof ErrandError || code === undefined ? error : refusal(code, path, error);
}

/**
 * The names that a path leads through beneath its root; none for the root itself. A leading `/` means the root.
 * Throws bad_request for a NUL, text that is no Unicode, `..` above the root, and names or paths that are too long.
 */
export function partsBeneath(path: string): readonly string[] {
  const refuse = (words: string) => new ErrandError('bad_request', `${JSON.stringify(path.slice(0, 200))} ${words}.`);
  if (path.includes('\u0000') || !path.isWellFormed()) throw refuse('holds a character that no path may hold');
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

export function at(directory: FileHandle, name: string | Buffer): string | Buffer {
  const prefix = `/proc/self/fd/${directory.fd}/`;
  return typeof name === 'string' ? prefix + name : Buffer.concat([Buffer.from(prefix), name]);
}

function factsOf(stats: Stats): FileFacts {
  const kind = stats.isFile() ? 'file' : stats.isDirectory() ? 'directory' : stats.isSymbolicLink() ? 'link' : 'other';
  return { kind, size: stats.size, modifiedAt: Math.floor(stats.mtimeMs), mode: stats.mode & 0o777 };
}

export async function factsAt(directory: FileHandle, name: string | Buffer): Promise<FileFacts | undefined> {
  const stats = await lstat(at(directory, name)).catch(() => undefined);
  return stats === undefined ? undefined : factsOf(stats);
}

export async function openDirectoryAt(parent: FileHandle, name: string | Buffer, path: string): Promise<FileHandle> {
  try {
    return await open(at(parent, name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    // Linux says ENOTDIR for a link too; the difference matters to whoever reads the message.
    if ((await factsAt(parent, name))?.kind === 'link') throw refusal('ELOOP', path, error);
    throw explained(error, path);
  }
}

type Step = (parent: FileHandle, name: string, path: string) => Promise<FileHandle>;

/** Goes down from the root, holding at most two descriptors. The caller closes the answer. */
async function descend(root: string, parts: readonly string[], step: Step = openDirectoryAt): Promise<FileHandle> {
  let directory = await open(root, O_RDONLY | O_DIRECTORY).catch((error: unknown) => {
    throw explained(error, '/');
  });
  for (const [index, part] of parts.entries()) {
    const parent = directory;
    try {
      directory = await step(parent, part, parts.slice(0, index + 1).join('/'));
    } finally {
      await parent.close();
    }
  }
  return directory;
}

/** Runs `verb` on the directory that holds the path's last name. */
export async function withParent<T>(
  root: string,
  path: string,
  verb: (parent: FileHandle, name: string, path: string) => Promise<T>,
): Promise<T> {
  const parts = partsBeneath(path);
  const name = parts.at(-1);
  if (name === undefined) throw refusal('EISDIR', path);
  const parent = await descend(root, parts.slice(0, -1));
  try {
    return await verb(parent, name, parts.join('/'));
  } catch (error) {
    throw explained(error, parts.join('/'));
  } finally {
    await parent.close();
  }
}

const KIND_FAULTS: Readonly<Record<FileKind, string | undefined>> = {
  file: undefined,
  directory: 'EISDIR',
  link: 'ELOOP',
  other: 'ENXIO',
};

function requireFile(facts: FileFacts, path: string): void {
  const code = KIND_FAULTS[facts.kind];
  if (code !== undefined) throw refusal(code, path);
}

/**
 * Opens a regular file; the caller closes it. `flags` are those of open(2), `mode` is for a file that O_CREAT makes.
 * Never blocks on a pipe and never touches a device: the file is named first, checked, and then opened by that name.
 * Throws not_found, bad_request (a link, a folder, a special file), conflict (O_EXCL), forbidden.
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
    const named = await open(at(parent, name), O_PATH | O_NOFOLLOW);
    try {
      requireFile(factsOf(await named.stat()), shown);
      return await open(`/proc/self/fd/${named.fd}`, (flags & ~(O_CREAT | O_EXCL | O_NOFOLLOW)) | O_NONBLOCK);
    } finally {
      await named.close();
    }
  });
}

/** Kind, size, time and mode of what the path names; a link is described itself. Throws not_found. */
export async function statBeneath(root: string, path: string): Promise<FileFacts> {
  if (partsBeneath(path).length === 0) return factsOf(await lstat(root));
  return withParent(root, path, async (parent, name) => factsOf(await lstat(at(parent, name))));
}

/** Opens a root to its owner again, as commands may close it. A root that is missing, or is no folder, stays as it is. */
export async function reopenRoot(root: string): Promise<void> {
  const stats = await lstat(root).catch(() => undefined);
  if (stats?.isDirectory() && (stats.mode & 0o700) !== 0o700) await chmod(root, (stats.mode & 0o777) | 0o700);
}

/** Makes a root that is missing, for its owner alone. */
export async function makeRoot(root: string, owner: Owner | null): Promise<void> {
  const made = await mkdir(root, { recursive: true, mode: 0o700 });
  if (made !== undefined && owner !== null) await chown(root, owner.uid, owner.gid);
}

/** Makes the folders of a path that are missing, with `mode` and owner. Throws bad_request where a file or link stands. */
export async function makeDirectoriesBeneath(
  root: string,
  path: string,
  options: { readonly mode?: number; readonly owner?: Owner | null } = {},
): Promise<void> {
  const directory = await descend(root, partsBeneath(path), async (parent, name, shown) => {
    const made = await mkdir(at(parent, name), 0o700).then(
      () => true,
      (error: unknown) => {
        if (codeOf(error) === 'EEXIST') return false;
        throw explained(error, shown);
      },
    );
    const child = await openDirectoryAt(parent, name, shown);
    if (made) {
      await dress(child, options.mode ?? 0o755, options.owner ?? null);
      await parent.sync();
    }
    return child;
  });
  await directory.close();
}

/** Gives owner first: a chown clears mode bits. The mode is set by hand because the umask has cut it. */
async function dress(handle: FileHandle, mode: number, owner: Owner | null): Promise<void> {
  if (owner !== null) await handle.chown(owner.uid, owner.gid);
  await handle.chmod(mode);
}

/** The names in an open directory, at most `limit` of them, as bytes. */
export async function namesIn(directory: FileHandle, limit: number): Promise<{ names: Buffer[]; more: boolean }> {
  const names: Buffer[] = [];
  const options = { encoding: 'buffer' as BufferEncoding, bufferSize: 256 };
  for await (const entry of await opendir(`/proc/self/fd/${directory.fd}`, options)) {
    if (names.length === limit) return { names, more: true };
    names.push(entry.name as unknown as Buffer);
  }
  return { names, more: false };
}

/** What a folder holds. Names that vanish meanwhile are left out. Throws not_found, bad_request (no folder, a link). */
export async function readDirectoryBeneath(root: string, path: string, limit = 10_000): Promise<Listing> {
  const directory = await descend(root, partsBeneath(path));
  try {
    const { names, more } = await namesIn(directory, limit);
    const entries: Entry[] = [];
    for (const bytes of names) {
      const facts = await factsAt(directory, bytes);
      const name = bytes.toString();
      if (facts !== undefined) entries.push({ name, exact: Buffer.from(name).equals(bytes), ...facts });
    }
    return { entries: entries.sort((a, b) => (a.name < b.name ? -1 : 1)), more };
  } finally {
    await directory.close();
  }
}

/** Writes an open, empty file that a path leads to. */
export type Fill = (path: string) => Promise<unknown>;

/**
 * Puts a file in place at once, and on the disk: readers see the old content or the new, never half. A file that is replaced keeps its
 * mode unless `mode` is given; a new one has 0644. Throws bad_request where a folder, link or special file stands.
 */
export async function replaceFileBeneath(
  root: string,
  path: string,
  content: string | Uint8Array | Fill,
  options: { readonly mode?: number; readonly owner?: Owner | null } = {},
): Promise<void> {
  await withParent(root, path, async (parent, name, shown) => {
    const old = await factsAt(parent, name);
    if (old !== undefined) requireFile(old, shown);
    const temporary = at(parent, TEMPORARY_PREFIX + randomUUID());
    const file = await open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    try {
      try {
        // Through the descriptor, so that nobody can put another file there.
        if (typeof content === 'function') await content(`/proc/self/fd/${file.fd}`);
        else await file.writeFile(content);
        await dress(file, options.mode ?? old?.mode ?? 0o644, options.owner ?? null);
        // Before it has its name: else a power cut leaves the name with nothing in it.
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, at(parent, name));
      await parent.sync();
    } catch (error) {
      await unlink(temporary).catch(() => undefined);
      throw error;
    }
  });
}
