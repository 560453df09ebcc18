// Inspects a daemon from outside its API: the rows and files on its disk.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import Connection from 'better-sqlite3';
import { isPostgres, rowsIn } from '../postgres/shared-cluster.ts';
import { literal } from '../store/open-store.ts';
import { waitFor } from '../time/wait-for.ts';

export interface DataPlace {
  readonly dataDir: string;
}

/** What a refused request must not change: rows by table, and files below `blobs`. */
export type Contents = Readonly<Record<string, number>>;

const TABLES = ['sessions', 'runs', 'messages', 'attachments', 'steps', 'tool_calls', 'events'];

/** Work in the background that changes what is counted: collections, and what the sweeper takes away. */
const UNFINISHED = `SELECT 1 FROM runs WHERE artifact_status = 'pending' AND finished_at IS NOT NULL
  UNION ALL SELECT 1 FROM workspace_exports WHERE status = 'pending'
  UNION ALL SELECT 1 FROM cleanups UNION ALL SELECT 1 FROM discarded_texts`;

/** Reads committed rows of a daemon's database, whether it runs or not. */
export function rowsOf<Row>({ dataDir }: DataPlace, sql: string, ...values: (string | number)[]): Row[] {
  if (isPostgres) {
    const written = values.map(literal);
    return rowsIn(
      join(dataDir, 'errand.db'),
      sql.replaceAll('?', () => written.shift() ?? '?'),
    );
  }
  const connection = new Connection(join(dataDir, 'errand.db'), { readonly: true, timeout: 5_000 });
  try {
    return connection.prepare(sql).all(...values) as Row[];
  } finally {
    connection.close();
  }
}

/** Counts everything that turns leave behind, once nothing of those before is still being collected or taken away. */
export async function contentsOf(place: DataPlace): Promise<Contents> {
  await waitFor(() => rowsOf(place, UNFINISHED).length === 0, {
    what: 'what runs made is collected, and what was deleted is gone',
  });
  const sql = `SELECT ${TABLES.map((table) => `(SELECT count(*) FROM ${table}) AS ${table}`).join(', ')}`;
  const [rows] = rowsOf<Record<string, number>>(place, sql);
  return { ...rows, blobs: filesBelow(join(place.dataDir, 'blobs')).length };
}

/** Paths of the files below a directory, relative to it, in order. Reads again when files disappear meanwhile. */
export function filesBelow(directory: string): string[] {
  for (;;) {
    try {
      return listFiles(directory);
    } catch (error) {
      const { code, path } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT' || path === directory) throw error;
    }
  }
}

function listFiles(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort();
}
