// Takes the snapshot of a workspace on the snapshot thread.
import { hash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { ErrandError } from '../../domain/errors.ts';
import { hasBlob, placeBlobs, type Written } from '../blobs/blob-place.ts';
import { identityOf, readFound, readSmall } from './copy-file.ts';
import { type HashedFiles, isSettled, keepHashed, readHashed } from './hashed-files.ts';
import { sumNames } from './name-sum.ts';
import type { SnapshotTask } from './snapshot-orders.ts';
import type { Pace } from './pace.ts';
import { type Comparison, type NameSum, NOTHING_SKIPPED, type Skipped, type SnapshotFile } from './snapshot.ts';
import { type FoundFile, type SkipCounts, walkFiles } from './walk-files.ts';
import { walkPaths } from './walk-paths.ts';

export interface Work {
  readonly pace: Pace;
  /**
   * Reports files to the main thread, and resolves when it holds their blobs. `areAll`: none were reported before, and none will
   * be: a few are then reported with the end of the order.
   */
  readonly report: (files: readonly SnapshotFile[], areAll: boolean) => Promise<void>;
}

/** Files that are reported to the main thread at once. */
const BATCH = 1_024;
/** Bytes that are held in memory meanwhile. */
const BATCH_BYTES = 4_194_304;
/** Files up to this size are read into memory: a copy of one whose bytes are a blob already would only be removed again. */
const SMALL_BYTES = 65_536;
/** To hash these again costs less than to store their hashes. */
const FEW_FILES = 8;
const FEW_BYTES = 262_144;

interface Read extends SnapshotFile {
  /** Its bytes, or where they were written to; null when neither is needed. */
  readonly copy: Buffer | string | null;
  /** Whether it was read now, rather than known from before. */
  readonly isFresh: boolean;
}

export interface Looked extends Comparison {
  /** How many names were skipped; null when it looked at some paths only. */
  readonly skipped: Skipped | null;
  readonly names: NameSum | null;
}

/** Reports all files, or those of the task's paths. */
export async function takeSnapshot(task: SnapshotTask, work: Work): Promise<Looked> {
  // Before the look: a file that comes later, whether the look sees it or not, makes the next sum differ.
  const names = await sumNames(task.root, task.limits, work.pace);
  const isPart = task.paths !== null && (await lookAt(task.paths, task, work));
  const looked = isPart ? { skipped: null, token: null, gone: null } : await lookAtAll(task, work);
  return { ...looked, names };
}

/** Returns false when all files have to be looked at; then it has reported none. */
async function lookAt(paths: readonly string[], task: SnapshotTask, work: Work): Promise<boolean> {
  const reader = makeReader(task, work, { files: new Map(), differs: false });
  const batch: Read[] = [];
  let held = 0;
  for (const found of walkPaths(task.root, paths, task.limits)) {
    held += Number(found?.stats.size ?? 0);
    const file = found === null || held > BATCH_BYTES ? undefined : await reader.file(found);
    if (file === undefined) {
      for (const { copy } of batch) if (typeof copy === 'string') rmSync(copy, { force: true });
      return false;
    }
    batch.push(file);
    await work.pace.rest();
  }
  await hand(task, work, batch, true);
  return true;
}

async function lookAtAll(task: SnapshotTask, work: Work): Promise<Omit<Looked, 'names'>> {
  const { token, files } = readHashed(task.hashedPath);
  const differs = token !== null && token === task.since?.token;
  const skipped: SkipCounts = { ...NOTHING_SKIPPED };
  const reader = makeReader(task, work, { files, differs });
  let [batch, held, areAll]: [Read[], number, boolean] = [[], 0, true];
  for (const found of walkFiles(task.root, { limits: task.limits, skipped, check: work.pace.check })) {
    const file = await reader.file(found);
    if (file === undefined) skipped.unreadable += 1;
    else if (reader.isReported(file)) batch.push(file);
    held += Buffer.isBuffer(file?.copy) ? file.size : 0;
    if (batch.length >= BATCH || held >= BATCH_BYTES) {
      await hand(task, work, batch, false);
      [batch, held, areAll] = [[], 0, false];
    }
    await work.pace.rest();
  }
  await hand(task, work, batch, areAll);
  const { after, fresh, bytes } = reader.result();
  const isLittle = after.size <= FEW_FILES && bytes <= FEW_BYTES;
  const isStored = token !== null && fresh === 0 && files.size === after.size;
  return {
    skipped,
    token: isLittle ? null : isStored ? token : keepHashed(task.hashedPath, after),
    gone: differs ? [...files.keys()].filter((path) => !after.has(path)) : null,
  };
}

/** What is known of the files before a look. */
interface Before {
  readonly files: HashedFiles;
  /** Whether the store has recorded these files, and only the difference is reported. */
  readonly differs: boolean;
}

interface Reader {
  /** Undefined for a file that can't be read, or that changes meanwhile. */
  file(found: FoundFile): Promise<Read | undefined>;
  isReported(file: Read): boolean;
  /** The hashes of all that were read or known, and how many bytes they have; how many were read. */
  result(): { readonly after: HashedFiles; readonly fresh: number; readonly bytes: number };
}

function makeReader(task: SnapshotTask, work: Work, before: Before): Reader {
  const after: HashedFiles = new Map();
  const except = new Set(task.since?.except);
  /** Whether a file needs no look unless it has changed: then its blob is in use. */
  const isRecorded = (path: string) => before.differs && !except.has(path);
  let [copies, fresh, bytes] = [0, 0, 0];

  async function read(found: FoundFile): Promise<Read | undefined> {
    const { path, stats } = found;
    const [identity, size] = [identityOf(stats), Number(stats.size)];
    bytes += size;
    const known = before.files.get(path);
    const isKept = known !== undefined && (!task.keep || isRecorded(path) || hasBlob(task.blobs, known.sha256));
    if (isKept && known.settled && known.identity === identity) {
      after.set(path, known);
      return { path, size, sha256: known.sha256, copy: null, isFresh: false };
    }
    fresh += 1;
    if (task.keep && size <= SMALL_BYTES) {
      const hashedAt = Date.now();
      const small = readSmall(found);
      if (small === undefined) return undefined;
      const sha256 = hash('sha256', small);
      after.set(path, { identity, sha256, settled: isSettled(stats.ctimeNs, hashedAt) });
      return { path, size, sha256, copy: small, isFresh: true };
    }
    const copy = task.keep ? `${task.scratch}-${(copies += 1)}` : null;
    const hashedAt = Date.now();
    // Most likely it is unchanged: then nothing has to be written, not even temporarily.
    const again = isKept && known.identity === identity ? await readFound(found, null, work.pace) : undefined;
    const isSame = again !== undefined && again === known?.sha256;
    const sha256 = isSame ? again : await readFound(found, copy, work.pace);
    if (sha256 === undefined) {
      if (copy !== null) rmSync(copy, { force: true });
      return undefined;
    }
    after.set(path, { identity, sha256, settled: isSettled(stats.ctimeNs, hashedAt) });
    return { path, size, sha256, copy: isSame ? null : copy, isFresh: true };
  }

  return {
    file: read,
    isReported: ({ path, isFresh }) => isFresh || !isRecorded(path),
    result: () => ({ after, fresh, bytes }),
  };
}

/** A blob that was found was removed before it was held: its file has to be read. */
export class LostBlobError extends ErrandError {
  constructor() {
    super('unavailable', 'A file was removed while it was being stored.');
  }
}

/** Has some files held, then moves their bytes to the blobs. */
async function hand(task: SnapshotTask, { report }: Work, batch: readonly Read[], areAll: boolean): Promise<void> {
  if (batch.length === 0) return;
  await report(
    batch.map(({ path, size, sha256 }) => ({ path, size, sha256 })),
    areAll,
  );
  if (!task.keep) return;
  const missing = new Map<string, Written>();
  const found: string[] = [];
  for (const { sha256, copy, isFresh } of batch) {
    if (hasBlob(task.blobs, sha256) || missing.has(sha256)) {
      if (typeof copy === 'string') rmSync(copy, { force: true });
      if (isFresh) found.push(sha256);
    } else if (copy !== null) missing.set(sha256, writtenOf(task, sha256, copy));
    // It existed a moment ago, when nothing held it.
    else throw new LostBlobError();
  }
  await placeBlobs(task.blobs, [...missing.values()], found);
}

const writtenOf = ({ scratch }: SnapshotTask, key: string, copy: Buffer | string): Written =>
  typeof copy === 'string' ? { path: copy, key } : { path: `${scratch}-${key}`, key, bytes: copy };
