// What was hashed of a workspace and when, so that unchanged files need not be read again.
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** The hash of a file, and the identity that the file had then. */
export interface HashedFile {
  readonly identity: string;
  readonly sha256: string;
  /** Whether the identity alone proves that the file is unchanged. */
  readonly settled: boolean;
}

/** The hashes of one workspace's files by path. */
export type HashedFiles = Map<string, HashedFile>;

/** Hashes as they were stored. */
export interface StoredHashes {
  /** Names exactly these; null when nothing is stored, or by an earlier version. */
  readonly token: string | null;
  readonly files: HashedFiles;
}

const NONE: StoredHashes = { token: null, files: new Map() };

/**
 * A file that changed shortly before it was hashed may change again without a new change time: clocks of file systems tick in
 * steps of up to two seconds. It is hashed again the next time.
 */
const CLOCK_STEP_MS = 2_000n;
const VERSION = 1;

/** Whether a file's hash that was started at a given time (epoch ms) may be reused. */
export function isSettled(ctimeNs: bigint, hashedAt: number): boolean {
  return ctimeNs / 1_000_000n + CLOCK_STEP_MS < BigInt(hashedAt);
}

/** Reads the stored hashes. A missing, damaged or outdated file counts as empty. */
export function readHashed(path: string): StoredHashes {
  // Most have none, and an error costs more than this look-up.
  if (!existsSync(path)) return NONE;
  try {
    const { version, token, files } = JSON.parse(readFileSync(path, 'utf8')) as {
      version: number;
      token?: string;
      files: [path: string, identity: string, sha256: string, settled: boolean][];
    };
    if (version !== VERSION) return NONE;
    const hashed = files.map(([file, identity, sha256, settled]) => [file, { identity, sha256, settled }] as const);
    return { token: token ?? null, files: new Map(hashed) };
  } catch {
    return NONE;
  }
}

/**
 * Stores the hashes, and returns their token; null when they could not be stored. Not synced: what a power cut leaves of them isn't JSON, and without them the next snapshot is slower, but
 * equally correct.
 */
export function keepHashed(path: string, hashed: HashedFiles): string | null {
  const token = randomUUID();
  const files = Array.from(hashed, ([file, { identity, sha256, settled }]) => [file, identity, sha256, settled]);
  try {
    writeFileSync(`${path}.new`, JSON.stringify({ version: VERSION, token, files }), { mode: 0o600 });
    renameSync(`${path}.new`, path);
    return token;
  } catch {
    for (const unfinished of [path, `${path}.new`]) rmSync(unfinished, { force: true });
    return null;
  }
}
