// Takes a backup on the thread of backups: first the database, then what its rows name.
import { accessSync, constants, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { isoTime } from '../domain/clock.ts';
import { codeOf } from '../domain/errors.ts';
import { parseAnchor } from '../files/audit-anchor.ts';
import { blobPath } from '../files/blobs/blob-place.ts';
import { type DatabaseCopy, openCopy } from '../store/copies/database-copy.ts';
import { FORMAT, type Manifest } from '../wire/backups/manifest.ts';
import { type Counts, type Losses, makeCopier, REASONS, type TreeCounts } from './copy-files.ts';
import { makeListWriter } from './repository/file-list.ts';
import { makeLeftOut } from './left-out.ts';
import { readManifest, sealManifest } from './repository/manifest.ts';
import { stageDatabase } from './stage-database.ts';
import type { BackupTask, Progress } from './thread-messages.ts';
import type { Pace } from './pace.ts';
import type { Sink } from './repository/sink.ts';

export interface TakeParts {
  readonly sink: Sink;
  readonly pace: Pace;
  readonly progress: (progress: Progress) => void;
  /** Throws when the disk must not be filled further. */
  readonly requireSpace: () => void;
  /** Called with each key once its blob is copied. */
  readonly passed: (key: string) => void;
}

type Copier = ReturnType<typeof makeCopier>;

const none = (): Counts => ({ files: 0, bytes: 0 });
const noTree = (): TreeCounts => ({ ...none(), links: 0, folders: 0, holes: 0 });

/** Takes the backup, and returns its manifest once it is durable. */
export async function takeBackup(task: BackupTask, parts: TakeParts): Promise<Manifest> {
  const { sink, pace, requireSpace } = parts;
  let last: Progress = { phase: 'database', done: 0, total: 0, bytes: 0 };
  const progress = (now: Partial<Progress>) => {
    last = { ...last, ...now };
    parts.progress(last);
  };
  const copied = (bytes: number) => progress({ bytes: last.bytes + bytes });
  const list = makeListWriter(sink);
  const leftOut = makeLeftOut();
  const losses = { leftOut, changing: 0, missingBlobs: 0 };
  const copier = makeCopier({ sink, list, pace, copied }, losses);
  const staged = join(task.staging, 'errand.db');
  await stageDatabase(task.database, staged, pace, (done, total) => {
    progress({ phase: 'database', done, total });
    requireSpace();
  });
  const database = none();
  const pages = task.database.kind === 'sqlite' ? 'stay' : 'move';
  await copier.copyStill(database, { kind: 'database', path: 'errand.db', place: staged, pages });
  const copy = openCopy(staged);
  try {
    const work = { ...parts, copier, progress, losses };
    const bucket = copy.bucket();
    const blobs = bucket === null ? await copyBlobs(task, copy, work) : { counts: none(), missing: 0 };
    losses.missingBlobs = blobs.missing;
    const workspaces = task.workspaces === null ? null : await copyWorkspaces(task.workspaces, copy, work);
    const configuration = noTree();
    progress({ phase: 'configuration', done: 0, total: 1 });
    const except = new Set(task.except);
    await copier.copyTree(configuration, { kind: 'configuration', root: task.configuration, prefix: '', except });
    progress({ phase: 'finishing', done: 0, total: 1 });
    const end = copy.auditEnd();
    const facts = {
      format: FORMAT,
      id: task.id,
      created_at: isoTime(task.createdAt),
      errand_version: task.errandVersion,
      schema_version: copy.schemaVersion,
      database,
      blobs: blobs.counts,
      ...(bucket !== null && { bucket }),
      workspaces,
      configuration,
      missing_blobs: losses.missingBlobs,
      left_out: leftOut.count,
      left_out_files: leftOut.named,
      changing: losses.changing,
      audit: end && { last_id: end.id, last_hash: end.hash },
      audit_anchor: task.anchor === null ? null : parseAnchor(task.anchor),
      list: await list.end(),
      master_key: task.wrappedKey,
    };
    let text = '';
    await sink.finish(task.id, (added) => (text = sealManifest({ ...facts, added: { ...added } }, task.sealKey)));
    return readManifest(text, task.id);
  } finally {
    copy.close();
  }
}

type CopyWork = Pick<TakeParts, 'pace' | 'passed'> & {
  readonly copier: Copier;
  readonly losses: Losses;
  readonly progress: (now: Partial<Progress>) => void;
};

async function copyBlobs({ blobs }: BackupTask, copy: DatabaseCopy, { copier, progress, passed }: CopyWork) {
  const counts = none();
  const total = copy.countBlobFiles();
  let [done, missing] = [0, 0];
  progress({ phase: 'blobs', done, total });
  for (const { key, rowSize } of copy.blobs()) {
    // One that is a row is in the copy of the database.
    if (rowSize === null) {
      if (!(await copier.copyStill(counts, { kind: 'blob', path: key, place: blobPath(blobs, key) }))) missing += 1;
      done += 1;
    }
    passed(key);
    progress({ done });
  }
  return { counts, missing };
}

/** The commands of its agent may have done that, or put something else there. That harms no other session. */
function isClosed(workspace: string): boolean {
  const stats = lstatSync(workspace, { throwIfNoEntry: false });
  if (stats === undefined) return false;
  if (!stats.isDirectory()) return true;
  try {
    accessSync(workspace, constants.R_OK | constants.X_OK);
    return false;
  } catch (error) {
    return codeOf(error) !== 'ENOENT';
  }
}

async function copyWorkspaces(directory: string, copy: DatabaseCopy, { copier, progress, pace, losses }: CopyWork) {
  const counts = noTree();
  const total = copy.countSessions();
  let done = 0;
  progress({ phase: 'workspaces', done, total });
  for (const session of copy.sessions()) {
    const root = join(directory, session);
    if (isClosed(root)) losses.leftOut.add(session, REASONS.unreadable);
    else await copier.copyTree(counts, { kind: 'workspace', root, prefix: session, except: new Set<string>() });
    done += 1;
    progress({ done });
    await pace.rest();
  }
  return counts;
}
