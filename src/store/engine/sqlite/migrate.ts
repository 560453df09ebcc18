// Brings a database file to the schema of this code: a new one at once, an older one migration by migration, after a backup.
import { statSync } from 'node:fs';
import type { Database as Connection } from 'better-sqlite3';
import { ErrandError } from '../../../domain/errors.ts';
import { MIGRATIONS, type MigrationStep, OLDEST_SCHEMA, refusalOfSchema, SCHEMA, SCHEMA_VERSION } from '../schema.ts';
import { backUp } from './file/backup.ts';

/**
 * Makes the schema of a new file, or applies the missing migrations, each in a transaction. A file that is migrated is copied to
 * `<file>.v<version>.backup` first; `begins` is called before each step. Throws `conflict` when the file is of a newer Errand, or of one
 * that is too old.
 */
export function migrate(connection: Connection, file: string, begins?: (step: MigrationStep) => void): void {
  const version = versionOf(connection);
  if (version === SCHEMA_VERSION) return;
  if (version === 0) return change(connection, SCHEMA.join('\n'), SCHEMA_VERSION);
  const refusal = refusalOfSchema(version);
  if (refusal !== null) throw new ErrandError('conflict', `${file} ${refusal}`);
  const bytes = statSync(file).size;
  begins?.({ kind: 'copy', from: version, to: SCHEMA_VERSION, bytes });
  backUp(connection, `${file}.v${version}.backup`);
  // A migration may rebuild a table that others reference. The setting can't be changed within a transaction.
  connection.pragma('foreign_keys = OFF');
  // A migration may change the words of a table.
  connection.unsafeMode(true);
  for (let next = version; next < SCHEMA_VERSION; next += 1) {
    begins?.({ kind: 'change', from: next, to: next + 1, bytes });
    change(connection, MIGRATIONS[next - OLDEST_SCHEMA]!.sql, next + 1);
  }
  connection.unsafeMode(false);
  connection.pragma('foreign_keys = ON');
}

const versionOf = (connection: Connection) => connection.pragma('user_version', { simple: true }) as number;

/** Changes the schema to a version. */
function change(connection: Connection, sql: string, version: number): void {
  connection
    .transaction(() => {
      connection.exec(sql);
      const [broken] = connection.pragma('foreign_key_check') as { table: string }[];
      if (broken !== undefined) throw new Error(`A row of ${broken.table} refers to no row.`);
      connection.pragma(`user_version = ${version}`);
    })
    .immediate();
}
