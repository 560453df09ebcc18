// The blobs that rows name, in portions: each is a short read, after which the write-ahead log can be emptied.
import type { NamedBlob } from '../copies/database-copy.ts';
import type { Inspector } from '../engine/inspector.ts';
import { type SmallBlobUse, usesIn } from '../sessions/small-blobs.ts';
import { HAS_FILES, IS_BLOB_IN_USE, MANIFEST_FILES, REFERENCES } from '../sessions/cleanups.ts';

export interface NamedBlobs {
  /** Those behind a key, sorted by key; empty at the end. */
  after(key: string, limit: number): Promise<NamedBlob[]>;
  /** Small blobs behind a key, with whether a row names them: see `Store.smallBlobs`. */
  listUses(after: string, limit: number): Promise<readonly SmallBlobUse[]>;
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
const portion = (rowSize: string) =>
  `SELECT key, max(size) AS size, ${rowSize} AS row_size FROM (${named('> ?', 'ORDER BY 1 LIMIT ?')}) AS named GROUP BY key ORDER BY key LIMIT ?`;
const PORTION = portion('(SELECT length(bytes) FROM small_blobs s WHERE s.key = named.key)');
/** Of a schema without small blobs. */
const PORTION_OF_FILES = portion('NULL');
const ONE = `SELECT 1 FROM (${named('= ?', '')}) AS named LIMIT 1`;

const BUCKET = 'SELECT name FROM blob_location WHERE id = 1';

/** Reads them on a connection of their own. */
export function makeNamedBlobs({ look, tables }: Pick<Inspector, 'look' | 'tables'>): NamedBlobs {
  let hasRows: Promise<boolean> | undefined;
  const areRows = () => (hasRows ??= tables().then((names) => names.includes('small_blobs')));
  const each = <Part>(...parts: readonly Part[]) => Array.from({ length: REFERENCES.length + 1 }, () => parts).flat();
  const isUsed = async (sql: string, ...values: string[]) =>
    (await look((tx) => tx.get<{ used: number }>(sql, ...values)))!.used === 1;
  return {
    after: async (key, limit) => {
      const sql = (await areRows()) ? PORTION : PORTION_OF_FILES;
      return look((tx) => tx.all<NamedBlob>(sql, ...each<string | number>(key, limit), limit));
    },
    listUses: async (after, limit) => ((await areRows()) ? look((tx) => usesIn(tx, after, limit)) : []),
    isNamed: async (key) => (await look((tx) => tx.get(ONE, ...each(key)))) !== undefined,
    isInUse: (key) => isUsed(IS_BLOB_IN_USE, ...each(key)),
    bucket: async () => (await look((tx) => tx.get<{ name: string }>(BUCKET)))?.name ?? null,
    hasFiles: (sessionId) => isUsed(HAS_FILES, sessionId),
  };
}
