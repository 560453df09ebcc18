// Takes the snapshot of a workspace on the snapshot thread.
import { join } from 'node:path';
import { rmSync } from 'node:fs';
import { ErrandError } from '../../domain/errors.ts';
import { hasBlob, placeBlobs } from '../blobs/blob-place.ts';
import { identityOf, readFound } from './copy-file.ts';
import { type HashedFiles, isSettled, keepHashed, readHashed } from './hashed-files.ts';
import type { SnapshotTask } from './snapshot-orders.ts';
import type { Pace } from './pace.ts';
import type { Skipped, SnapshotFile } from './snapshot.ts';
import { type FoundFile, type SkipCounts, walkFiles } from './walk-files.ts';

export interface Work {
  readonly pace: Pace;
  /** Reports files to the main thread, and resolves when it holds their blobs. */
  readonly report: (files: readonly SnapshotFile[]) => Promise<void>;
}

/** Files that are reported to the main thread at once. */
const BATCH = 1_024;

interface Read extends SnapshotFile {
  /** Where its bytes were written to; null when they were not. */
  readonly copy: string | null;
  /** Whether it was read now, rather than known from before. */
  readonly isFresh: boolean;
}

/** Reports all files and returns how many names were skipped. */
export async function takeSnapshot(task: SnapshotTask, work: Work): Promise<Skipped> {
  const before = readHashed(task.hashedPath);
  const after: HashedFiles = new Map();
  const skipped: SkipCounts = { links: 0, special: 0, notUtf8: 0, tooLarge: 0, tooDeep: 0, tooMany: 0, unreadable: 0 };
  let [copies, fresh] = [0, 0];

  async function read(found: FoundFile): Promise<Read | undefined> {
    const { path, stats } = found;
    const [identity, size] = [identityOf(stats), Number(stats.size)];
    const known = before.get(path);
    const isKept = known !== undefined && (!task.keep || hasBlob(task.blobs, known.sha256));
    if (isKept && known.settled && known.identity === identity) {
      after.set(path, known);
      return { path, size, sha256: known.sha256, copy: null, isFresh: false };
    }
    fresh += 1;
    const copy = task.keep ? join(task.scratch, String((copies += 1))) : null;
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

  let batch: Read[] = [];
  for (const found of walkFiles(task.root, { limits: task.limits, skipped, check: work.pace.check })) {
    const file = await read(found);
    if (file === undefined) skipped.unreadable += 1;
    else batch.push(file);
    if (batch.length >= BATCH) {
      await hand(task, work, batch);
      batch = [];
    }
    await work.pace.rest();
  }
  await hand(task, work, batch);
  if (fresh > 0 || before.size !== after.size) keepHashed(task.hashedPath, after);
  return skipped;
}

/** Has some files held, then moves their bytes to the blobs. */
async function hand(task: SnapshotTask, { report }: Work, batch: readonly Read[]): Promise<void> {
  if (batch.length === 0) return;
  await report(batch.map(({ path, size, sha256 }) => ({ path, size, sha256 })));
  if (!task.keep) return;
  const missing = new Map<string, string>();
  const found: string[] = [];
  for (const { sha256, copy, isFresh } of batch) {
    if (hasBlob(task.blobs, sha256) || missing.has(sha256)) {
      if (copy !== null) rmSync(copy, { force: true });
      if (isFresh) found.push(sha256);
    } else if (copy !== null) missing.set(sha256, copy);
    // It existed a moment ago, when nothing held it.
    else throw new ErrandError('unavailable', 'A file was removed while it was being stored.');
  }
  await placeBlobs(
    task.blobs,
    Array.from(missing, ([key, path]) => ({ key, path })),
    found,
  );
}
