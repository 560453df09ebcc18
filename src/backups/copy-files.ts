// Copies files into a backup, piece by piece; each is as it was at one moment, or counted as changing. Of links and folders, only
// what they are.
import { closeSync, fstatSync, lstatSync, openSync, readlinkSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../domain/errors.ts';
import { isSame, openFound } from '../files/snapshots/copy-file.ts';
import { type FoundEntry, type FoundFile, type SkipCounts, walkTree } from '../files/snapshots/walk-files.ts';
import type { ListedFile } from '../wire/backups/manifest.ts';
import type { ListWriter } from './file-list.ts';
import type { Pace } from './pace.ts';
import type { Sink } from './sink.ts';

/** A content is cut into pieces of this size. */
const PIECE_BYTES = 1_048_576;
/** Of the database: a few changed pages cost no more than this. */
const PAGES_BYTES = 131_072;
/** How often a file is read that changes meanwhile. The last content that was read is kept. */
const TRIES = 3;
/** Of one workspace: more would not be unpacked again. */
const LIMITS = {
  maxFiles: 1_000_000,
  maxFileBytes: Number.MAX_SAFE_INTEGER,
  maxTotalBytes: Number.MAX_SAFE_INTEGER,
  maxDepth: 256,
};

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
}

/** What could not be copied as it is. */
export interface Losses {
  leftOut: number;
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
      if (file !== undefined) await add(counts, { ...where, ...file });
      return file !== undefined;
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
    copyStill: async (counts: Counts, { kind, path, place }: StillFile): Promise<boolean> => {
      const file = openUnlessGone(place);
      if (file === undefined) return false;
      try {
        const { mode, size } = fstatSync(file);
        const stored = await store(file, size, kind === 'database' ? PAGES_BYTES : PIECE_BYTES);
        // Their time says nothing: without it, the line of an unchanged file stays the same.
        await add(counts, { kind, path, ...stored, mode: mode & 0o777, modified_at: 0 });
        return true;
      } finally {
        closeSync(file);
      }
    },

    /** Copies what is below a directory that others may be changing. */
    copyTree: async (counts: TreeCounts, { kind, root, prefix, except }: Tree): Promise<void> => {
      const skipped: SkipCounts = { ...NOTHING_SKIPPED };
      for (const found of walkTree(root, { limits: LIMITS, skipped, check: () => undefined })) {
        const path = `${prefix}${found.path}`;
        // Without a path: the directory that the operator chooses again.
        if (path !== '' && !except.has(join(root, found.path)) && !(await addFound(counts, found, { kind, path })))
          losses.leftOut += 1;
        await pace.rest();
      }
      losses.leftOut += Object.values(skipped).reduce((sum, count) => sum + count, 0);
    },
  };
}

interface StillFile {
  readonly kind: 'blob' | 'database';
  readonly path: string;
  readonly place: string;
}

interface Tree {
  readonly kind: 'configuration' | 'workspace';
  readonly root: string;
  /** Before the path of each file. */
  readonly prefix: string;
  /** Paths of files that are not copied. */
  readonly except: ReadonlySet<string>;
}

const NOTHING_SKIPPED = {
  links: 0,
  special: 0,
  notUtf8: 0,
  tooLarge: 0,
  tooDeep: 0,
  tooMany: 0,
  unreadable: 0,
} satisfies SkipCounts;

type Stored = Pick<ListedFile, 'objects' | 'size'>;
type Store = (file: number, limit: number, pieceBytes: number) => Promise<Stored>;

/** Stores the pieces of an open file, up to a size. */
function makeStorer({ sink, pace, copied }: Pick<CopyParts, 'copied' | 'pace' | 'sink'>): Store {
  const buffer = Buffer.allocUnsafeSlow(PIECE_BYTES);
  return async (file, limit, pieceBytes) => {
    const objects: string[] = [];
    let size = 0;
    while (size < limit) {
      const length = readFully(file, buffer, { position: size, length: Math.min(pieceBytes, limit - size) });
      if (length === 0) break;
      objects.push(await sink.put(buffer.subarray(0, length)));
      size += length;
      copied(length);
      await pace.rest();
    }
    return { size, objects };
  };
}

async function copyFound(found: FoundFile, store: Store, losses: Losses) {
  let now: FoundFile | undefined = found;
  for (let tries = 1; now !== undefined && tries <= TRIES; tries += 1, now = foundAgain(found)) {
    const file = openFound(now);
    if (file === undefined) continue;
    try {
      const { size } = now.stats;
      const stored = await store(file, Number(size), PIECE_BYTES);
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
  return { mode: Number(mode) & 0o777, modified_at: Number(mtimeMs) };
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
