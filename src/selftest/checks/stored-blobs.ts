// Where an installation has the bytes of files, and how they are read from beside: those that are rows of its database, and the others.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type Connection from 'better-sqlite3';
import { codeOf } from '../../domain/errors.ts';
import { blobPath } from '../../files/blobs/blob-place.ts';

/** The directories of an installation whose daemons have ended, or that is at rest. */
export interface Places {
  /** Data directories, one for each daemon. */
  readonly dataDirs: readonly string[];
  /** The data directory that has a session's workspace; `node`: as its row names it. */
  workspacesOf(node: string | null): string;
  /** Keys of the blobs that are no rows. */
  listFiles(): string[];
  /** The bytes of one of them; null: there are none. */
  readFile(key: string): Buffer | null;
  /** Whether the files of a run may be lost, as those are that a lost daemon has not collected. */
  mayLose(run: EndedRun): boolean;
}

export interface EndedRun {
  readonly seq: number;
  readonly node_id: string | null;
  readonly finished_at: number | null;
}

const KEY = /^[0-9a-f]{64}$/;

/** Those of a daemon that has its files in its data directory. */
export const placesOf = (dataDir: string): Places => ({
  dataDirs: [dataDir],
  workspacesOf: () => dataDir,
  mayLose: () => false,
  listFiles: () =>
    readdirSync(join(dataDir, 'blobs'), { recursive: true, encoding: 'utf8' })
      .map((path) => basename(path))
      .filter((name) => KEY.test(name)),
  readFile: (key) => readIfThere(blobPath(join(dataDir, 'blobs'), key)),
});

/** Makes what reads the bytes of a blob; null: there are none. */
export function makeReadStored(
  database: Connection.Database,
  { readFile }: Pick<Places, 'readFile'>,
): (key: string) => Buffer | null {
  const row = database.prepare<[string], Buffer>('SELECT bytes FROM small_blobs WHERE key = ?').pluck();
  return (key) => row.get(key) ?? readFile(key);
}

/** The bytes of a file; null where there is none. */
export function readIfThere(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}
