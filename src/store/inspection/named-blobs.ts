// The blobs that rows name, in portions: each is a short read, after which the write-ahead log can be emptied.
import type { NamedBlob } from '../copies/database-copy.ts';
import type { Inspector } from '../engine/inspector.ts';
import { HAS_FILES, IS_BLOB_IN_USE, MANIFEST_FILES, REFERENCES } from '../sessions/cleanups.ts';

export interface NamedBlobs {
  /** Those behind a key, sorted by key; empty at the end. */
  after(key: string, limit: number): Promise<NamedBlob[]>;
  /** Whether a row names it now. */
  isNamed(key: string): Promise<boolean>;
  /** The same for a row that may be about to be removed. */
  isInUse(key: string): Promise<boolean>;
  /** The bucket that has their bytes; null without one. */
  bucket(): Promise<string | null>;
  /** Whether the files of a session may be needed, or are about to be removed. */
  hasFiles(sessionId: string): Promise<boolean>;
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
    .map((part) => `SELECT key, size FROM (${part}) AS part`)
    .join(' UNION ALL ');

// Each part ends after so many keys of its own: together they have the first ones of all.
const PORTION = `SELECT key, max(size) AS size FROM (${named('> ?', 'ORDER BY 1 LIMIT ?')}) AS named GROUP BY key ORDER BY key LIMIT ?`;
const ONE = `SELECT 1 FROM (${named('= ?', '')}) AS named LIMIT 1`;

const BUCKET = 'SELECT name FROM blob_location WHERE id = 1';

/** Reads them on a connection of their own. */
export function makeNamedBlobs({ look }: Pick<Inspector, 'look'>): NamedBlobs {
  const each = <Part>(...parts: readonly Part[]) => Array.from({ length: REFERENCES.length + 1 }, () => parts).flat();
  const isUsed = async (sql: string, ...values: string[]) =>
    (await look((tx) => tx.get<{ used: number }>(sql, ...values)))!.used === 1;
  return {
    after: (key, limit) => look((tx) => tx.all<NamedBlob>(PORTION, ...each<string | number>(key, limit), limit)),
    isNamed: async (key) => (await look((tx) => tx.get(ONE, ...each(key)))) !== undefined,
    isInUse: (key) => isUsed(IS_BLOB_IN_USE, ...each(key)),
    bucket: async () => (await look((tx) => tx.get<{ name: string }>(BUCKET)))?.name ?? null,
    hasFiles: (sessionId) => isUsed(HAS_FILES, sessionId),
  };
}
