// A keeper over a blob store and a workspace in a directory of their own.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { openBlobStore } from '../../src/files/blobs.ts';
import { makeKeeper, type SnapshotOrder } from '../../src/files/keeper.ts';
import { makeLog } from '../../src/log.ts';
import { temporaryDirectory } from './temporary-directory.ts';

export const LIMITS = { maxFileBytes: 64 * 1_048_576, maxFiles: 10_000, maxTotalBytes: 2 ** 40, maxDepth: 64 };

/** What nothing was passed over means. */
export const NOTHING = { links: 0, special: 0, notUtf8: 0, tooLarge: 0, tooDeep: 0, tooMany: 0, unreadable: 0 };

/** Lower-case hex SHA-256. */
export const sha256 = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** `directory` is made for the test when none is given. */
export async function keeperHouse(over: { clock?: Clock; directory?: string } = {}) {
  const directory = over.directory ?? temporaryDirectory();
  const root = join(directory, 'workspace');
  mkdirSync(root, { recursive: true });
  const blobsDir = join(directory, 'blobs');
  const blobs = await openBlobStore(blobsDir);
  const keeper = makeKeeper({
    directory: join(directory, 'snapshots'),
    blobs: blobsDir,
    clock: over.clock ?? systemClock,
    log: makeLog({ level: 'silent' as 'fatal' }),
  });
  onTestFinished(() => keeper.stop());
  const hold = blobs.hold();
  const pathOf = (key: string) => join(blobsDir, key.slice(0, 2), key);
  return {
    directory,
    root,
    blobs,
    keeper,
    hold,
    pathOf,
    hasBlob: (key: string) => existsSync(pathOf(key)),
    blobBytes: (key: string) => readFileSync(pathOf(key)),
    /** What is being written, or was left behind. */
    incoming: () => readdirSync(join(blobsDir, 'incoming')),
    hashedPath: join(directory, 'snapshots', 'session.json'),
    snapshot: (order: Partial<SnapshotOrder> = {}) =>
      keeper.takeSnapshot({ sessionId: 'session', root, limits: LIMITS, hold, deadlineMs: 30_000, ...order }),
    /** Keeps contents as blobs, and answers them as the files of a snapshot. */
    files: async (contents: Readonly<Record<string, string | Buffer>>) =>
      Promise.all(
        Object.entries(contents).map(async ([path, content]) => {
          const bytes = Buffer.from(content);
          return { path, size: bytes.length, sha256: await hold.put(bytes) };
        }),
      ),
  };
}

export type KeeperHouse = Awaited<ReturnType<typeof keeperHouse>>;

/** Makes the folders above a path. */
export function makeFolderOf(path: string): string {
  mkdirSync(dirname(path), { recursive: true });
  return path;
}
