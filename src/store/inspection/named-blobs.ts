// The blobs that rows name, in portions: each is a short read, after which the write-ahead log can be emptied.
import Connection from 'better-sqlite3';
import type { NamedBlob } from '../copies/database-copy.ts';
import { HAS_FILES, IS_BLOB_IN_USE, MANIFEST_FILES, REFERENCES } from '../sessions/cleanups.ts';

export interface NamedBlobs {
  /** Those behind a key, sorted by key; empty at the end. */
  after(key: string, limit: number): NamedBlob[];
  /** Whether a row names it now. */
  isNamed(key: string): boolean;
  /** The same for a row that may be about to be removed. */
  isInUse(key: string): boolean;
  /** Whether the files of a session may be needed, or are about to be removed. */
  hasFiles(sessionId: string): boolean;
  close(): void;
}

const named = (condition: string, portion: string) =>
  [
    ...REFERENCES.map(({ key, size, from, session }) => {
      // A cross join is executed in this order: from the index of the keys.
      const joined = `${from} JOIN sessions s ON s.seq = ${session}`.replaceAll(' JOIN ', ' CROSS JOIN ');
      return `SELECT ${key} AS key, max(${size}) AS size FROM ${joined}
        WHERE ${key} ${condition} AND s.deleted_at IS NULL GROUP BY ${key} ${portion}`;
    }),
    `SELECT sha256 AS key, max(size) AS size FROM ${MANIFEST_FILES} WHERE sha256 ${condition} GROUP BY sha256 ${portion}`,
  ]
    .map((part) => `SELECT key, size FROM (${part})`)
    .join(' UNION ALL ');

// Each part ends after so many keys of its own: together they have the first ones of all.
const PORTION = `SELECT key, max(size) AS size FROM (${named('> ?', 'ORDER BY 1 LIMIT ?')}) GROUP BY key ORDER BY key LIMIT ?`;
const ONE = `SELECT 1 FROM (${named('= ?', '')}) LIMIT 1`;

/** Opens the database for reading, beside whoever writes it. */
export function openNamedBlobs(file: string): NamedBlobs {
  const connection = new Connection(file, { readonly: true, fileMustExist: true });
  const portion = connection.prepare<(string | number)[], NamedBlob>(PORTION);
  const one = connection.prepare<string[]>(ONE);
  const inUse = connection.prepare<string[], { used: number }>(IS_BLOB_IN_USE);
  const files = connection.prepare<string[], { used: number }>(HAS_FILES);
  const parts = REFERENCES.length + 1;
  return {
    after: (key, limit) => portion.all(...Array.from({ length: parts }, () => [key, limit]).flat(), limit),
    isNamed: (key) => one.get(...Array.from({ length: parts }, () => key)) !== undefined,
    isInUse: (key) => inUse.get(...Array.from({ length: parts }, () => key))!.used === 1,
    hasFiles: (sessionId) => files.get(sessionId)!.used === 1,
    close: () => void connection.close(),
  };
}
