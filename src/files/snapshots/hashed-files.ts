// What was hashed of a workspace and when, so that files which are as they were keep their hash unread.
import { readFileSync, rmSync } from 'node:fs';
import { writeWhole } from '../blobs/write-whole.ts';

/** The hash that a file had when it was of an identity. */
export interface HashedFile {
  readonly identity: string;
  readonly sha256: string;
  /** Whether the identity alone tells that the file is as it was. */
  readonly settled: boolean;
}

/** The hashes of one workspace's files by path. */
export type HashedFiles = Map<string, HashedFile>;

/**
 * A file that changed this shortly before it was hashed may change again without another time of change: clocks of file
 * systems tick in steps of up to two seconds. It is hashed anew the next time.
 */
const CLOCK_STEP_MS = 2_000n;
const VERSION = 1;

/** Whether a file's hash may be kept that was begun at a moment (epoch ms). */
export function isSettled(ctimeNs: bigint, hashedAt: number): boolean {
  return ctimeNs / 1_000_000n + CLOCK_STEP_MS < BigInt(hashedAt);
}

/** Reads what was kept. What is not there, of another version or broken counts as nothing. */
export function readHashed(path: string): HashedFiles {
  try {
    const { version, files } = JSON.parse(readFileSync(path, 'utf8')) as {
      version: number;
      files: [path: string, identity: string, sha256: string, settled: boolean][];
    };
    if (version !== VERSION) return new Map();
    return new Map(files.map(([file, identity, sha256, settled]) => [file, { identity, sha256, settled }]));
  } catch {
    return new Map();
  }
}

/** Keeps what was hashed, whole or not at all. Without it the next snapshot is slower, and as right. */
export function keepHashed(path: string, hashed: HashedFiles): void {
  const files = Array.from(hashed, ([file, { identity, sha256, settled }]) => [file, identity, sha256, settled]);
  try {
    writeWhole(path, JSON.stringify({ version: VERSION, files }), 0o600);
  } catch {
    for (const unfinished of [path, `${path}.new`]) rmSync(unfinished, { force: true });
  }
}
