// Takes the snapshot of a workspace on the snapshot thread: how it differs from what is recorded of it.
import { hash, randomUUID } from 'node:crypto';
import { lstatSync, rmSync } from 'node:fs';
import { ErrandError } from '../../domain/errors.ts';
import { SMALL_BLOB_BYTES } from '../../domain/sessions/contents.ts';
import { hasBlob, placeBlobs, type Written } from '../blobs/blob-place.ts';
import { identityOf, readFound, readSmall } from './copy-file.ts';
import { gatherExtras } from './extras.ts';
import { isSettled, type Manifest, type Manifests, type SeenFile } from './manifests.ts';
import type { Looked, ReportedFile, SnapshotTask } from './snapshot-requests.ts';
import type { Pace } from './pace.ts';
import { type ExtrasText, NOTHING_SKIPPED, type SnapshotFile } from './snapshot.ts';
import { type FoundFile, type SkipCounts, walkTree } from './walk-files.ts';

/** What the main thread gets to know while an order is carried out. */
export interface Work {
  readonly pace: Pace;
  /**
   * Reports files to the main thread, the small ones with their bytes one after another, and resolves when it holds their blobs.
   * `areAll`: none were reported before, and none will be: a few are then reported with the end of the order.
   */
  readonly report: (files: readonly ReportedFile[], contents: readonly Buffer[], areAll: boolean) => Promise<void>;
  /** The bytes of those of some small blobs that are rows. */
  readonly ask: (keys: readonly string[]) => Promise<ReadonlyMap<string, Uint8Array>>;
  /** Has blobs brought into the directory, unless they are rows, or nowhere. */
  readonly bring: (keys: readonly string[]) => Promise<void>;
  /** Reports paths that have no file any more. */
  readonly reportGone: (paths: readonly string[]) => Promise<void>;
}

/** What is known of a workspace before a look. */
export interface Before {
  readonly manifests: Manifests;
  /** The recorded files; null: they are those of the look that the task names. */
  readonly recorded: readonly SnapshotFile[] | null;
}

/** Files that are reported to the main thread at once: more would block it while they are copied. */
const BATCH = 1_024;
/** Bytes that are held in memory meanwhile. */
const BATCH_BYTES = 4_194_304;

interface Read extends SnapshotFile {
  /** Its bytes when it is small, or where they were written to; null when neither is needed. */
  readonly copy: Buffer | string | null;
  /** Whether it was read now, rather than known from before. */
  readonly isFresh: boolean;
}

/** Reports what differs. Returns `unknown`, having read nothing, when it doesn't know the look that the task names. */
export async function takeSnapshot(
  task: SnapshotTask,
  { manifests, recorded }: Before,
  work: Work,
): Promise<Looked | 'unknown'> {
  const manifest = manifests.find(task.manifestPath);
  if (recorded === null && (task.since === null || manifest.token !== task.since)) return 'unknown';
  const skipped: SkipCounts = { ...NOTHING_SKIPPED };
  const base = makeBase(manifest, recorded, task);
  if (base.hasFiles && isMissing(task.root)) throw new MissingWorkspaceError();
  const reader = makeReader(task, work, base);
  let [batch, held, areAll]: [Read[], number, boolean] = [[], 0, true];
  let links = 0;
  const extras = gatherExtras();
  for (const found of walkTree(task.root, { limits: task.limits, skipped, check: work.pace.check })) {
    if (found.kind !== 'file') {
      extras[found.kind](found);
      if (found.kind === 'link') links += 1;
      continue;
    }
    const file = await reader.file(found);
    if (file !== undefined) extras.file(found);
    if (file === undefined) skipped.unreadable += 1;
    else if (reader.differs(file)) {
      batch.push(file);
      held += Buffer.isBuffer(file.copy) ? file.size : 0;
    } else if (typeof file.copy === 'string') rmSync(file.copy, { force: true });
    if (batch.length >= BATCH || held >= BATCH_BYTES) {
      await hand(task, work, batch, false);
      [batch, held, areAll] = [[], 0, false];
    }
    await work.pace.rest();
  }
  const { seen, fresh, bytes, gone } = reader.result();
  const isAsRecorded = extras.text() === base.extras;
  const isSame = recorded === null && batch.length === 0 && areAll && gone.length === 0 && isAsRecorded;
  await hand(task, work, batch, areAll);
  for (let at = BATCH; at < gone.length; at += BATCH) await work.reportGone(gone.slice(at, at + BATCH));
  const token = isSame ? task.since! : randomUUID();
  if (!isSame || fresh > 0) manifests.keep(task.manifestPath, { token, files: seen, extras: extras.text() }, bytes);
  return {
    isComplete: extras.isComplete() && Object.values(skipped).every((count) => count === 0),
    skipped: { ...skipped, links: skipped.links + links },
    token,
    gone: gone.slice(0, BATCH),
    ...(!isAsRecorded && { extras: extras.text() }),
  };
}

/** What the files are compared with. */
interface Base {
  /** What was last seen of them. */
  readonly manifest: Manifest;
  /** The hash of the recorded file. */
  recordedAt(path: string): string | undefined;
  readonly hasFiles: boolean;
  /** Whether a blob of a recorded file needs no look: it is in use. Otherwise one that was lost is stored again. */
  readonly hasBlobs: boolean;
  readonly extras: ExtrasText;
  paths(): Iterable<string>;
}

function makeBase(manifest: Manifest, recorded: Before['recorded'], { extras }: Pick<SnapshotTask, 'extras'>): Base {
  if (recorded === null) {
    const { files } = manifest;
    const recordedAt = (path: string) => files.get(path)?.sha256;
    const known = { hasFiles: files.size > 0, hasBlobs: true, extras: manifest.extras };
    return { manifest, recordedAt, ...known, paths: () => files.keys() };
  }
  const hashes = new Map(recorded.map(({ path, sha256 }) => [path, sha256]));
  const recordedAt = (path: string) => hashes.get(path);
  return { manifest, recordedAt, hasFiles: hashes.size > 0, hasBlobs: false, extras, paths: () => hashes.keys() };
}

const isMissing = (root: string) => lstatSync(root, { throwIfNoEntry: false }) === undefined;

/** Files are recorded, and their directory isn't there: it was lost, or is at another node. Nobody has deleted them. */
class MissingWorkspaceError extends ErrandError {
  constructor() {
    super('unavailable', 'The directory of the workspace is missing.');
  }
}

interface Reader {
  /** Undefined for a file that can't be read, or that changes meanwhile. */
  file(found: FoundFile): Promise<Read | undefined>;
  differs(file: Read): boolean;
  /** All that were read or known, how many were read, their bytes, and the recorded paths that aren't among them. */
  result(): {
    readonly seen: ReadonlyMap<string, SeenFile>;
    readonly fresh: number;
    readonly bytes: number;
    readonly gone: readonly string[];
  };
}

function makeReader(task: SnapshotTask, work: Work, base: Base): Reader {
  const seen = new Map<string, SeenFile>();
  let [copies, fresh, bytes] = [0, 0, 0];
  const isRecorded = ({ path, sha256 }: Pick<Read, 'path' | 'sha256'>) => base.recordedAt(path) === sha256;
  /** What is recorded of a small file has its bytes beside it; a large one may have been lost, and is then stored again. */
  const isStored = (file: Pick<Read, 'path' | 'sha256' | 'size'>) =>
    isSmall(file) ? isRecorded(file) : (base.hasBlobs && isRecorded(file)) || hasBlob(task.blobs, file.sha256);

  function note({ path, stats }: FoundFile, sha256: string, hashedAt: number): void {
    fresh += 1;
    seen.set(path, { identity: identityOf(stats), sha256, settled: isSettled(stats.ctimeNs, hashedAt) });
  }

  async function readLarge(found: FoundFile, expected: string | undefined): Promise<Read | undefined> {
    const [size, hashedAt] = [Number(found.stats.size), Date.now()];
    // Most likely it is unchanged: then nothing has to be written, not even temporarily.
    const again = expected === undefined ? undefined : await readFound(found, null, work.pace);
    const isSame = again !== undefined && again === expected;
    const copy = task.keep && !isSame ? `${task.scratch}-${(copies += 1)}` : null;
    const sha256 = isSame ? again : await readFound(found, copy, work.pace);
    if (sha256 === undefined) {
      if (copy !== null) rmSync(copy, { force: true });
      return undefined;
    }
    note(found, sha256, hashedAt);
    return { path: found.path, size, sha256, copy, isFresh: true };
  }

  return {
    file: async (found) => {
      const { path, stats } = found;
      const size = Number(stats.size);
      bytes += size;
      const known = base.manifest.files.get(path);
      const isSame =
        known?.identity === identityOf(stats) && (!task.keep || isStored({ path, sha256: known.sha256, size }));
      if (isSame && known.settled) {
        seen.set(path, known);
        return { path, size, sha256: known.sha256, copy: null, isFresh: false };
      }
      if (!task.keep || !isSmall({ size })) return readLarge(found, isSame ? known.sha256 : undefined);
      const hashedAt = Date.now();
      const small = readSmall(found);
      if (small === undefined) return undefined;
      const sha256 = hash('sha256', small);
      note(found, sha256, hashedAt);
      return { path, size, sha256, copy: small, isFresh: true };
    },
    differs: (file) => !isRecorded(file) || (task.keep && !isStored(file)),
    result: () => ({ seen, fresh, bytes, gone: [...base.paths()].filter((path) => !seen.has(path)) }),
  };
}

/** A blob that was found was removed before it was held: its file has to be read. */
export class LostBlobError extends ErrandError {
  constructor() {
    super('unavailable', 'A file was removed while it was being stored.');
  }
}

const isSmall = ({ size }: Pick<SnapshotFile, 'size'>) => size <= SMALL_BLOB_BYTES;

/** Has some files held, those that are small with their bytes, then moves those of large ones to the blobs. */
async function hand(task: SnapshotTask, { report }: Work, batch: readonly Read[], areAll: boolean): Promise<void> {
  if (batch.length === 0) return;
  const contents = new Map<string, Buffer>();
  let end = 0;
  const reported = batch.map(({ path, size, sha256, copy }): ReportedFile => {
    if (!Buffer.isBuffer(copy) || contents.has(sha256)) return { path, size, sha256 };
    contents.set(sha256, copy);
    end += size;
    return { path, size, sha256, at: end - size };
  });
  await report(reported, [...contents.values()], areAll);
  if (task.keep)
    await place(
      task,
      batch.filter((file) => !isSmall(file)),
    );
}

async function place(task: SnapshotTask, large: readonly Read[]): Promise<void> {
  const missing = new Map<string, Written>();
  const found: string[] = [];
  for (const { sha256, copy, isFresh } of large) {
    if (hasBlob(task.blobs, sha256) || missing.has(sha256)) {
      if (typeof copy === 'string') rmSync(copy, { force: true });
      if (isFresh) found.push(sha256);
    } else if (typeof copy === 'string') missing.set(sha256, { path: copy, key: sha256 });
    // It existed a moment ago, when nothing held it.
    else throw new LostBlobError();
  }
  await placeBlobs(task.blobs, [...missing.values()], found);
}
