// Copies files into a backup, piece by piece; each is as it was at one moment, or counted as changing.
import { closeSync, fstatSync, lstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../domain/errors.ts';
import { isSame, openFound } from '../files/snapshots/copy-file.ts';
import { type FoundFile, type SkipCounts, walkFiles } from '../files/snapshots/walk-files.ts';
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
}

export interface Counts {
  files: number;
  bytes: number;
}

/** What could not be copied as it is. */
export interface Losses {
  leftOut: number;
  changing: number;
  missingBlobs: number;
}

/** Makes the verbs. They run on the thread of backups, and block it. */
export function makeCopier({ sink, list, pace }: CopyParts, losses: Losses) {
  const store = makeStorer({ sink, pace });

  async function add(counts: Counts, file: ListedFile): Promise<void> {
    await list.add(file);
    counts.files += 1;
    counts.bytes += file.size;
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

    /** Copies the regular files below a directory that others may be changing. */
    copyTree: async (counts: Counts, { kind, root, prefix, except }: Tree): Promise<void> => {
      const skipped: SkipCounts = { ...NOTHING_SKIPPED };
      for (const found of walkFiles(root, { limits: LIMITS, skipped, check: () => undefined })) {
        if (!except.has(join(root, found.path))) {
          const file = await copyFound(found, store, losses);
          if (file === undefined) losses.leftOut += 1;
          else await add(counts, { kind, path: `${prefix}${found.path}`, ...file });
        }
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
function makeStorer({ sink, pace }: Pick<CopyParts, 'pace' | 'sink'>): Store {
  const buffer = Buffer.allocUnsafeSlow(PIECE_BYTES);
  return async (file, limit, pieceBytes) => {
    const objects: string[] = [];
    let size = 0;
    while (size < limit) {
      const length = readFully(file, buffer, { position: size, length: Math.min(pieceBytes, limit - size) });
      if (length === 0) break;
      objects.push(await sink.put(buffer.subarray(0, length)));
      size += length;
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
      const { size, mode, mtimeMs } = now.stats;
      const stored = await store(file, Number(size), PIECE_BYTES);
      const isWhole = stored.size === Number(size) && isSame(file, now);
      if (!isWhole && tries < TRIES) continue;
      if (!isWhole) losses.changing += 1;
      return { ...stored, mode: Number(mode) & 0o777, modified_at: Number(mtimeMs) };
    } finally {
      closeSync(file);
    }
  }
  return undefined;
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
