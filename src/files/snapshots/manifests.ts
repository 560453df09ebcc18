// What the snapshot thread last saw of workspaces: so that unchanged files need not be read again, and only what has changed is reported.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { MB } from '../../domain/byte-units.ts';
import type { ExtrasText } from './snapshot.ts';

/** A file as it was seen: its hash, and the identity that it had then. */
export interface SeenFile {
  readonly identity: string;
  readonly sha256: string;
  /** Whether the identity alone proves that the file is unchanged. */
  readonly settled: boolean;
}

/** All files of one workspace, by path. */
export interface Manifest {
  /** Names exactly these contents at these paths, and these extras; null when an earlier version stored them, which knew less. */
  readonly token: string | null;
  readonly files: ReadonlyMap<string, SeenFile>;
  readonly extras: ExtrasText;
}

/** The manifests of one thread. */
export interface Manifests {
  /** The last one of a path; empty when there is none. */
  find(path: string): Manifest;
  /** `bytes`: of all its files. Few small ones are in memory only: to hash them again costs less than to store their hashes. */
  keep(path: string, manifest: Manifest, bytes: number): void;
}

const NO_MANIFEST: Manifest = { token: null, files: new Map(), extras: null };

/**
 * A file that changed shortly before it was hashed may change again without a new change time: clocks of file systems tick in
 * steps of up to two seconds. It is hashed again the next time.
 */
const CLOCK_STEP_MS = 2_000n;
const VERSION = 1;
const [FEW_FILES, FEW_BYTES] = [64, MB];
/** In memory, of all manifests: some 300 bytes each. */
const MOST_FILES = 200_000;

/** Whether a file's hash that was started at a given time (epoch ms) may be reused. */
export function isSettled(ctimeNs: bigint, hashedAt: number): boolean {
  return ctimeNs / 1_000_000n + CLOCK_STEP_MS < BigInt(hashedAt);
}

/** Makes them: in memory those that were used last, and in files those that are not small. */
export function makeManifests(mostFiles = MOST_FILES): Manifests {
  const known = new Map<string, Manifest>();
  let count = 0;

  function remember(path: string, manifest: Manifest): void {
    count += manifest.files.size - (known.get(path)?.files.size ?? 0);
    known.delete(path);
    known.set(path, manifest);
    for (const [oldest, { files }] of known) {
      if (count <= mostFiles) return;
      known.delete(oldest);
      count -= files.size;
    }
  }

  return {
    find: (path) => {
      const manifest = known.get(path) ?? readManifest(path);
      if (manifest.files.size > 0) remember(path, manifest);
      return manifest;
    },
    keep: (path, manifest, bytes) => {
      remember(path, manifest);
      if (manifest.files.size > FEW_FILES || bytes > FEW_BYTES) writeManifest(path, manifest);
    },
  };
}

/** A missing, damaged or outdated file counts as empty. */
function readManifest(path: string): Manifest {
  // Most have none, and an error costs more than this look-up.
  if (!existsSync(path)) return NO_MANIFEST;
  try {
    const { version, token, extras, files } = JSON.parse(readFileSync(path, 'utf8')) as {
      version: number;
      token?: string;
      extras?: ExtrasText;
      files: [path: string, identity: string, sha256: string, settled: boolean][];
    };
    if (version !== VERSION) return NO_MANIFEST;
    const seen = files.map(([file, identity, sha256, settled]) => [file, { identity, sha256, settled }] as const);
    if (extras === undefined) return { token: null, files: new Map(seen), extras: null };
    return { token: token ?? null, files: new Map(seen), extras };
  } catch {
    return NO_MANIFEST;
  }
}

/** Not synced: what a power cut leaves of it isn't JSON, and without it the next look is slower, but equally correct. */
function writeManifest(path: string, { token, files, extras }: Manifest): void {
  const rows = Array.from(files, ([file, { identity, sha256, settled }]) => [file, identity, sha256, settled]);
  try {
    writeFileSync(`${path}.new`, JSON.stringify({ version: VERSION, token, extras, files: rows }), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  } catch {
    for (const unfinished of [path, `${path}.new`]) rmSync(unfinished, { force: true });
  }
}
