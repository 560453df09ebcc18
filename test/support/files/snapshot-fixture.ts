// A snapshot thread over a blob store and a workspace in a directory of their own.
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../../src/domain/clock.ts';
import { SMALL_BLOB_BYTES } from '../../../src/domain/sessions/contents.ts';
import { type BlobHold, type BlobStore, openBlobStore } from '../../../src/files/blobs/blobs.ts';
import {
  type SnapshotThread,
  makeSnapshotThread,
  type SnapshotRequest,
} from '../../../src/files/snapshots/snapshot-thread.ts';
import type { Snapshot, SnapshotFile } from '../../../src/files/snapshots/snapshot.ts';
import { makeLog } from '../../../src/log/log.ts';
import { NO_ROWS } from './blobs-in-files.ts';
import { type Of, temporaryDirectory } from './temporary-directory.ts';

export const LIMITS = { maxFileBytes: 64 * 1_048_576, maxFiles: 10_000, maxTotalBytes: 2 ** 40, maxDepth: 64 };

/** Nothing was left out. */
export const NOTHING = { links: 0, special: 0, notUtf8: 0, tooLarge: 0, tooDeep: 0, tooMany: 0, unreadable: 0 };

/** A text that is too long for a row. */
export const large = (text: string): string => text.padEnd(SMALL_BLOB_BYTES + 1, '.');

/** Lower-case hex SHA-256. */
export const sha256 = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

interface FloorParts {
  readonly clock?: Clock;
  /** Created for the test when absent. */
  readonly directory?: string;
  /** The name of the test, if others run at the same time, or its purpose. */
  readonly of?: Of;
  /** A fixture whose snapshot thread and blobs it shares, because a thread of its own takes its time to start. */
  readonly beside?: SnapshotFixture;
}

interface Kept {
  readonly blobsDir: string;
  readonly snapshotsDir: string;
  readonly blobs: BlobStore;
  readonly snapshotThread: SnapshotThread;
}

async function makeKept(
  directory: string,
  { clock = systemClock, of = { onTestFinished } }: FloorParts,
): Promise<Kept> {
  const [blobsDir, snapshotsDir] = [join(directory, 'blobs'), join(directory, 'snapshots')];
  const blobs = await openBlobStore(blobsDir, NO_ROWS);
  const log = makeLog({ level: 'silent' as 'fatal' });
  const snapshotThread = makeSnapshotThread({
    directory: snapshotsDir,
    blobs: blobsDir,
    readSmall: blobs.readSmall,
    clock,
    log,
  });
  of.onTestFinished(() => snapshotThread.stop());
  return { blobsDir, snapshotsDir, blobs, snapshotThread };
}

export interface SnapshotFixture extends Kept {
  readonly directory: string;
  readonly root: string;
  readonly sessionId: string;
  readonly hold: BlobHold;
  pathOf(key: string): string;
  /** Whether it is a file, or among what the fixture holds. */
  hasBlob(key: string): boolean;
  blobBytes(key: string): Promise<Buffer>;
  /** Files being written, or left behind. */
  incoming(): string[];
  readonly manifestPath: string;
  snapshot(order?: Partial<SnapshotRequest>): Promise<Snapshot>;
  /** The same of a new thread, which only knows what is stored. */
  restarted(order?: Partial<SnapshotRequest>): Promise<Snapshot>;
  /** Keeps contents as blobs, and answers them as the files of a snapshot. */
  files(contents: Readonly<Record<string, string | Buffer>>): Promise<SnapshotFile[]>;
}

/** A workspace and its session, with a snapshot thread. */
export async function snapshotFixture(parts: FloorParts = {}): Promise<SnapshotFixture> {
  const directory = parts.directory ?? temporaryDirectory({}, parts.of);
  const root = join(directory, 'workspace');
  mkdirSync(root, { recursive: true });
  const { blobsDir, snapshotsDir, blobs, snapshotThread } = parts.beside ?? (await makeKept(directory, parts));
  const sessionId = randomUUID();
  const hold = blobs.hold();
  const pathOf = (key: string) => join(blobsDir, key.slice(0, 2), key);
  return {
    directory,
    root,
    sessionId,
    blobsDir,
    snapshotsDir,
    blobs,
    snapshotThread,
    hold,
    pathOf,
    hasBlob: (key: string) => hold.contents.has(key) || existsSync(pathOf(key)),
    blobBytes: blobs.read,
    incoming: () => readdirSync(join(blobsDir, 'incoming')),
    manifestPath: join(snapshotsDir, `${sessionId}.json`),
    snapshot: (order = {}) =>
      snapshotThread.takeSnapshot({ sessionId, root, limits: LIMITS, hold, deadlineMs: 30_000, ...order }),
    restarted: async (order = {}) => {
      const log = makeLog({ level: 'silent' as 'fatal' });
      const other = makeSnapshotThread({
        directory: snapshotsDir,
        blobs: blobsDir,
        readSmall: blobs.readSmall,
        clock: systemClock,
        log,
      });
      try {
        return await other.takeSnapshot({ sessionId, root, limits: LIMITS, hold, deadlineMs: 30_000, ...order });
      } finally {
        await other.stop();
      }
    },
    files: async (contents) =>
      Promise.all(
        Object.entries(contents).map(async ([path, content]) => {
          const bytes = Buffer.from(content);
          return { path, size: bytes.length, sha256: await hold.put(bytes) };
        }),
      ),
  };
}

/** Makes the folders above a path. */
export function makeFolderOf(path: string): string {
  mkdirSync(dirname(path), { recursive: true });
  return path;
}

/** Writes files into its workspace, by their paths. */
export function write(fixture: SnapshotFixture, files: Readonly<Record<string, string | Buffer>>): void {
  for (const [path, content] of Object.entries(files)) writeFileSync(makeFolderOf(join(fixture.root, path)), content);
}

/** A fixture that the tests of a file share. */
export function shareSnapshotFixture(): () => SnapshotFixture {
  let shared: SnapshotFixture;
  const ends: (() => void | Promise<void>)[] = [];
  beforeAll(async () => {
    shared = await snapshotFixture({ of: { onTestFinished: (end) => void ends.unshift(end) } });
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });
  return () => shared;
}
