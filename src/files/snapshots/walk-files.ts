// Walks a workspace in order of its paths, never follows a link, and counts what it skips.
import {
  type BigIntStats,
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
} from 'node:fs';
import { TEMPORARY_PREFIX } from '../../disk/replace-beneath.ts';
import { MB } from '../../domain/byte-units.ts';
import { codeOf, ErrandError } from '../../domain/errors.ts';
import type { SnapshotLimits, Skipped } from './snapshot.ts';

/** A regular file as it was listed; it may be something else when it is opened. */
export interface FoundFile {
  /** Begins with `/`. */
  readonly path: string;
  /** Reaches it through its open folder, without a link on the path. Valid until the next file is requested. */
  readonly place: string;
  readonly stats: BigIntStats;
}

/** The same of what else a folder has. A link's target isn't looked at; a folder comes after its contents, the root last of all. */
export interface FoundEntry extends FoundFile {
  readonly kind: 'file' | 'folder' | 'link';
}

export type SkipCounts = { -readonly [reason in keyof Skipped]: number };

export interface WalkParts {
  readonly limits: SnapshotLimits;
  readonly skipped: SkipCounts;
  /** Called for each name that is skipped. */
  readonly left?: (path: string, reason: keyof Skipped) => void;
  /** Called for each name; if it throws, the walk ends. */
  readonly check: () => void;
}

interface Name {
  readonly text: string;
  readonly kind: 'file' | 'folder' | keyof Skipped;
  /** The sort key: a folder sorts as its contents, so that the walk follows the order of whole paths. */
  readonly order: string;
}

interface Level {
  readonly folder: number;
  /** Path of the folder; `''` is the root. */
  readonly path: string;
  readonly names: readonly Name[];
  next: number;
}

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
/** The limit of one system call; deeper folders could not be unpacked again. */
export const MAX_PATH_BYTES = 4_096;
/** One open descriptor per level. */
export const MAX_DEPTH = 256;
/** Bytes of a path, on average: the paths of all files are held in memory, and a folder with a long one may have many. */
export const MEAN_PATH_BYTES = 256;
/** What a few files may take in addition. */
const FEW_PATHS_BYTES = MB;
const UUID = /^[0-9a-f-]{36}$/;
/** By-products of tools. */
const OWN_FOLDER = '.errand';

/**
 * The files, links and folders below a root, and the root itself, which has the path `''`. A missing root has none. Blocks: run it on its own
 * thread.
 */
export function* walkTree(root: string, parts: WalkParts): Generator<FoundEntry> {
  const top = openFolder(root);
  if (top === 'gone') return;
  if (typeof top !== 'number') throw new ErrandError('unavailable', 'The workspace cannot be read.');
  // A hard link to another user's file would copy that file out of its place.
  const { uid } = fstatSync(top);
  const state: WalkState = {
    ...parts,
    uid: BigInt(uid),
    found: 0,
    bytesLeft: BigInt(parts.limits.maxTotalBytes),
    pathBytesLeft: parts.limits.maxFiles * MEAN_PATH_BYTES + FEW_PATHS_BYTES,
    namesLeft: 2 * parts.limits.maxFiles + 10_000,
  };
  const levels: Level[] = [];
  try {
    enter(levels, { folder: top, path: '' }, state);
    for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
      const name = level.names[level.next++];
      if (name !== undefined) yield* visit(levels, level, name, state);
      else {
        yield folderAt(level);
        closeSync(levels.pop()!.folder);
      }
    }
  } finally {
    for (const { folder } of levels) closeSync(folder);
  }
}

interface WalkState extends WalkParts {
  readonly uid: bigint;
  found: number;
  bytesLeft: bigint;
  /** Of the paths of files. */
  pathBytesLeft: number;
  /** Names that may still be examined. Without a limit, millions of names would block all other requests. */
  namesLeft: number;
}

function folderAt({ folder, path }: Level): FoundEntry {
  return { kind: 'folder', path, place: `/proc/self/fd/${folder}`, stats: fstatSync(folder, { bigint: true }) };
}

function* visit(levels: Level[], level: Level, name: Name, state: WalkState): Generator<FoundEntry> {
  const { limits } = state;
  state.check();
  const path = `${level.path}/${name.text}`;
  const place = `/proc/self/fd/${level.folder}/${name.text}`;
  const pathBytes = Buffer.byteLength(path);
  if (name.kind === 'file' || name.kind === 'links') {
    const hasRoom = state.found < limits.maxFiles && pathBytes <= state.pathBytesLeft;
    const verdict = name.kind === 'links' || hasRoom ? judge(place, limits, state.uid) : 'tooMany';
    if (verdict === 'gone') return;
    if (pathBytes > MAX_PATH_BYTES) skip(state, path, 'tooDeep');
    else if (typeof verdict === 'string') skip(state, path, verdict);
    else if (verdict.isSymbolicLink()) yield { kind: 'link', path, place, stats: verdict };
    else if (verdict.size > state.bytesLeft) skip(state, path, 'tooLarge');
    else {
      state.found += 1;
      state.bytesLeft -= verdict.size;
      state.pathBytesLeft -= pathBytes;
      yield { kind: 'file', path, place, stats: verdict };
    }
  } else if (name.kind !== 'folder') {
    skip(state, path, name.kind);
  } else if (levels.length > Math.min(limits.maxDepth, MAX_DEPTH) || pathBytes > MAX_PATH_BYTES) {
    skip(state, path, 'tooDeep');
  } else {
    const folder = openFolder(place);
    if (typeof folder === 'number') enter(levels, { folder, path }, state);
    else if (folder !== 'gone') skip(state, path, folder);
  }
}

function skip({ skipped, left }: WalkState, path: string, reason: keyof Skipped): void {
  skipped[reason] += 1;
  left?.(path, reason);
}

/** The facts of a file that belongs into a snapshot or of a link, or why it does not. */
export function judge(place: string, limits: SnapshotLimits, uid: bigint): BigIntStats | keyof Skipped | 'gone' {
  const stats = ifAllowed(() => lstatSync(place, { bigint: true }));
  if (typeof stats === 'string') return stats;
  if (stats.isSymbolicLink()) return stats;
  if (!stats.isFile()) return stats.isDirectory() ? 'unreadable' : 'special';
  if (stats.nlink > 1n && stats.uid !== uid) return 'links';
  return stats.size > BigInt(limits.maxFileBytes) ? 'tooLarge' : stats;
}

/** Opens a folder, or returns why it is skipped. */
export function openFolder(place: string): number | 'gone' | 'links' | 'unreadable' {
  return ifAllowed(() => openSync(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
}

/** The result of a call, or why its subject is skipped. Faults of the machine are thrown. */
function ifAllowed<T>(call: () => T): T | 'gone' | 'links' | 'unreadable' {
  try {
    return call();
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return 'gone';
    // Linux reports a link this way, too: it replaced the folder after the listing.
    if (code === 'ENOTDIR' || code === 'ELOOP') return 'links';
    if (code === 'EACCES' || code === 'EPERM') return 'unreadable';
    throw error;
  }
}

/** Takes ownership of the descriptor. */
function enter(levels: Level[], { folder, path }: Pick<Level, 'folder' | 'path'>, state: WalkState): void {
  const names: Name[] = [];
  levels.push({ folder, path, names, next: 0 });
  const ended = ifAllowed(() => list(folder, path, names, state));
  if (ended === 'unreadable') skip(state, path, 'unreadable');
  removeDuplicates(names);
  names.sort((a, b) => (a.order < b.order ? -1 : 1));
}

function list(folder: number, path: string, names: Name[], state: WalkState): void {
  const directory = opendirSync(`/proc/self/fd/${folder}`, { encoding: 'buffer' as BufferEncoding, bufferSize: 256 });
  try {
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
      state.check();
      const name = nameOf(entry);
      if (isOwn(path, name.text)) continue;
      if (state.namesLeft === 0) {
        skip(state, path, 'tooMany');
        return;
      }
      state.namesLeft -= 1;
      names.push(name);
    }
  } finally {
    directory.closeSync();
  }
}

/** Several of these may have the same text. */
const isInexact = ({ kind }: Name) => kind === 'notUtf8';

/** The kernel may list a name again that is renamed meanwhile, also as something else. */
function removeDuplicates(names: Name[]): void {
  names.sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : Number(isInexact(a)) - Number(isInexact(b))));
  let kept = 0;
  for (const name of names)
    if (kept === 0 || names[kept - 1]!.text !== name.text || isInexact(name)) names[kept++] = name;
  names.length = kept;
}

/** One name of a folder that was opened for names as bytes. */
export function nameOf(listed: Dirent): Name {
  const entry = listed as unknown as Dirent<Buffer>;
  const text = entry.name.toString();
  const kind = entry.isFile() ? 'file' : entry.isDirectory() ? 'folder' : entry.isSymbolicLink() ? 'links' : 'special';
  if (!Buffer.from(text).equals(entry.name)) return { text, kind: 'notUtf8', order: text };
  return { text, kind, order: kind === 'folder' ? `${text}/` : text };
}

/** What the daemon itself puts there, and files that a crash left half-written. `folder` is `''` for the root. */
export function isOwn(folder: string, name: string): boolean {
  if (folder === '' && name === OWN_FOLDER) return true;
  return name.startsWith(TEMPORARY_PREFIX) && UUID.test(name.slice(TEMPORARY_PREFIX.length));
}
