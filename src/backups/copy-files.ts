// Copies files into a backup, piece by piece; each is as it was at one moment, or counted as changing. Of links and folders, only
// what they are.
import { closeSync, fstatSync, lstatSync, openSync, readlinkSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../domain/errors.ts';
import { isSame, openFound } from '../files/snapshots/copy-file.ts';
import { NOTHING_SKIPPED, type Skipped } from '../files/snapshots/snapshot.ts';
import { type FoundEntry, type FoundFile, MAX_DEPTH, MAX_PATH_BYTES, walkTree } from '../files/snapshots/walk-files.ts';
import type { ListedFile } from '../wire/backups/manifest.ts';
import { type Cut, CUTS, type Pages, WHOLE_PIECES } from './repository/cuts.ts';
import { isEmptyPiece, PIECE_BYTES } from './repository/empty-piece.ts';
import type { ListWriter } from './repository/file-list.ts';
import type { makeLeftOut } from './left-out.ts';
import type { Pace } from './pace.ts';
import type { Sink } from './repository/sink.ts';

/** How often a file is read that changes meanwhile. The last content that was read is kept. */
const TRIES = 3;
/** Of one workspace: more would not be unpacked again. */
const LIMITS = {
  maxFiles: 1_000_000,
  maxFileBytes: Number.MAX_SAFE_INTEGER,
  maxTotalBytes: Number.MAX_SAFE_INTEGER,
  maxDepth: MAX_DEPTH,
};

/** The latest time that has a date. */
const LATEST_MS = 8_640_000_000_000_000;

export interface CopyParts {
  readonly sink: Pick<Sink, 'put'>;
  readonly list: Pick<ListWriter, 'add'>;
  readonly pace: Pick<Pace, 'rest'>;
  /** Called with the size of each piece that was read. */
  readonly copied: (bytes: number) => void;
}

export interface Counts {
  files: number;
  bytes: number;
}

/** Of what may have links and folders. */
export interface TreeCounts extends Counts {
  links: number;
  folders: number;
  /** Bytes that are holes of files. */
  holes: number;
}

/** What could not be copied as it is. */
export interface Losses {
  readonly leftOut: Pick<ReturnType<typeof makeLeftOut>, 'add'>;
  changing: number;
  missingBlobs: number;
}

/** Makes the verbs. They run on the thread of backups, and block it. */
export function makeCopier({ sink, list, pace, copied }: CopyParts, losses: Losses) {
  const store = makeStorer({ sink, pace, copied });

  async function add(counts: Counts, file: ListedFile): Promise<void> {
    await list.add(file);
    counts.files += 1;
    counts.bytes += file.size;
  }

  /** Returns false for what can't be read, or is something else by now. */
  async function addFound(counts: TreeCounts, found: FoundEntry, where: Pick<ListedFile, 'kind' | 'path'>) {
    if (found.kind === 'file') {
      const file = await copyFound(found, store, losses);
      if (file === undefined) return false;
      const { holes, ...facts } = file;
      await add(counts, { ...where, ...facts });
      counts.holes += holes;
      return true;
    }
    const target = found.kind === 'link' ? targetOf(found) : undefined;
    if (found.kind === 'link' && target === undefined) return false;
    const said = target === undefined ? { type: 'folder' as const } : { type: 'link' as const, target };
    await list.add({ ...where, ...said, ...factsOf(found), size: 0, objects: [] });
    counts[`${said.type}s`] += 1;
    return true;
  }

  return {
    /** Copies a file that nobody changes. Returns false when it isn't there. */
    copyStill: async (counts: Counts, { kind, path, place, pages }: StillFile): Promise<boolean> => {
      const file = openUnlessGone(place);
      if (file === undefined) return false;
      try {
        const { mode, size } = fstatSync(file);
        const stored = await store(file, size, pages === undefined ? WHOLE_PIECES : CUTS[pages]);
        // Their time says nothing: without it, the line of an unchanged file stays the same.
        const { objects } = stored;
        await add(counts, { kind, path, size: stored.size, objects, mode: mode & 0o777, modified_at: 0 });
        return true;
      } finally {
        closeSync(file);
      }
    },

    /** Copies what is below a directory that others may be changing. */
    copyTree: async (counts: TreeCounts, { kind, root, prefix, except }: Tree): Promise<void> => {
      const left = (path: string, reason: keyof Skipped) => losses.leftOut.add(`${prefix}${path}`, REASONS[reason]);
      const walk = { limits: LIMITS, skipped: { ...NOTHING_SKIPPED }, left, check: () => undefined };
      for (const found of walkTree(root, walk)) {
        const path = `${prefix}${found.path}`;
        // Without a path: the directory that the operator chooses again.
        if (path !== '' && !except.has(join(root, found.path)) && !(await addFound(counts, found, { kind, path })))
          losses.leftOut.add(path, REASONS.unreadable);
        await pace.rest();
      }
    },
  };
}

interface StillFile {
  readonly kind: 'blob' | 'database';
  readonly path: string;
  readonly place: string;
  /** Of a database. */
  readonly pages?: Pages;
}

interface Tree {
  readonly kind: 'configuration' | 'workspace';
  readonly root: string;
  /** Before the path of each file. */
  readonly prefix: string;
  /** Paths of files that are not copied. */
  readonly except: ReadonlySet<string>;
}

/** Why something is left out, in words for operators. */
export const REASONS: Readonly<Record<keyof Skipped, string>> = {
  links: "it is another user's file, or was replaced meanwhile",
  special: 'it is a socket, a pipe or a device',
  notUtf8: 'its name is not UTF-8',
  tooLarge: 'it is too large',
  tooDeep: `its path is longer than ${MAX_PATH_BYTES} bytes or has more than ${MAX_DEPTH} folders`,
  tooMany: 'there are too many files',
  unreadable: "it can't be read",
};

type Stored = Pick<ListedFile, 'objects' | 'size'> & { readonly holes: number };
type Store = (file: number, limit: number, cut: Cut) => Promise<Stored>;

/** Stores the pieces of an open file, up to a size. */
function makeStorer({ sink, pace, copied }: Pick<CopyParts, 'copied' | 'pace' | 'sink'>): Store {
  const buffer = Buffer.allocUnsafeSlow(PIECE_BYTES);
  return async (file, limit, { most, endIn }) => {
    const objects: string[] = [];
    let [size, holes] = [0, 0];
    while (size < limit) {
      const length = readFully(file, buffer, { position: size, length: Math.min(most, limit - size) });
      if (length === 0) break;
      const piece = buffer.subarray(0, endIn(buffer.subarray(0, length)));
      if (isEmptyPiece(piece)) holes += piece.length;
      objects.push(await sink.put(piece));
      size += piece.length;
      copied(piece.length);
      await pace.rest();
    }
    return { size, objects, holes };
  };
}

async function copyFound(found: FoundFile, store: Store, losses: Losses) {
  let now: FoundFile | undefined = found;
  for (let tries = 1; now !== undefined && tries <= TRIES; tries += 1, now = foundAgain(found)) {
    const file = openFound(now);
    if (file === undefined) continue;
    try {
      const { size } = now.stats;
      const stored = await store(file, Number(size), WHOLE_PIECES);
      const isWhole = stored.size === Number(size) && isSame(file, now);
      if (!isWhole && tries < TRIES) continue;
      if (!isWhole) losses.changing += 1;
      return { ...stored, ...factsOf(now) };
    } finally {
      closeSync(file);
    }
  }
  return undefined;
}

/** Permissions alone: whoever restores it gives nobody the rights of another user. */
function factsOf({ stats: { mode, mtimeMs } }: FoundFile): Pick<ListedFile, 'mode' | 'modified_at'> {
  // Some file systems keep any time that a command sets.
  const modifiedAt = Math.max(-LATEST_MS, Math.min(Number(mtimeMs), LATEST_MS));
  return { mode: Number(mode) & 0o777, modified_at: modifiedAt };
}

/** Undefined when it is gone, or no text. */
function targetOf({ place }: FoundFile): string | undefined {
  try {
    const bytes = readlinkSync(place, 'buffer');
    const text = bytes.toString();
    return Buffer.from(text).equals(bytes) ? text : undefined;
  } catch (error) {
    if (['ENOENT', 'EINVAL', 'EACCES'].includes(codeOf(error) ?? '')) return undefined;
    throw error;
  }
}

function openUnlessGone(place: string): number | undefined {
  try {
    return openSync(place, 'r');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** The file at the same place as it is now. */
function foundAgain(found: FoundFile): FoundFile | undefined {
  const stats = lstatSync(found.place, { bigint: true, throwIfNoEntry: false });
  return stats?.isFile() === true ? { ...found, stats } : undefined;
}

function readFully(file: number, bytes: Buffer, { position, length }: { position: number; length: number }): number {
  let at = 0;
  while (at < length) {
    const count = readSync(file, bytes, at, length - at, position + at);
    if (count === 0) break;
    at += count;
  }
  return at;
}
