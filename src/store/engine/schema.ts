// Brings a database file to the schema of this code: a new one at once, an older one migration by migration, after a backup.
import { statSync } from 'node:fs';
import type { Database as Connection } from 'better-sqlite3';
import { ErrandError } from '../../domain/errors.ts';
import { backUp } from './backup.ts';
import { auditAnchor } from './migrations/036-audit-anchor.ts';
import { largeRows } from './migrations/037-large-rows.ts';
import { pins } from './migrations/038-pins.ts';
import { disabledUsers } from './migrations/039-disabled-users.ts';
import { workspaces } from './migrations/040-workspaces.ts';
import { artifacts } from './schema/artifacts.ts';
import { audit } from './schema/audit.ts';
import { budgets } from './schema/budgets.ts';
import { journal } from './schema/journal.ts';
import { people } from './schema/people.ts';
import { publishing } from './schema/publishing.ts';
import { retention } from './schema/retention.ts';
import { runs } from './schema/runs.ts';
import { schedules } from './schema/schedules.ts';
import { sessions } from './schema/sessions.ts';
import { webhooks } from './schema/webhooks.ts';

/** The whole schema, as the newest migration leaves it. */
const SCHEMA: readonly string[] = [
  people,
  sessions,
  runs,
  journal,
  artifacts,
  budgets,
  schedules,
  webhooks,
  publishing,
  audit,
  retention,
];

/** The oldest version that is migrated. */
export const OLDEST_SCHEMA = 35;

/** What leads from it to the schema, in order. Add new ones at the end, and change the schema with them: a test compares both. */
const MIGRATIONS: readonly string[] = [auditAnchor, largeRows, pins, disabledUsers, workspaces];

/** The schema version this code writes. */
export const SCHEMA_VERSION = OLDEST_SCHEMA + MIGRATIONS.length;

/** Why this code can't use a database of a version, and what can, in words that follow its name; null when it can. */
export function refusalOfSchema(version: number): string | null {
  if (version > SCHEMA_VERSION)
    return `has schema version ${version}, newer than the ${SCHEMA_VERSION} this Errand knows. Run the Errand that wrote it, or a newer one.`;
  if (version < OLDEST_SCHEMA)
    return `has schema version ${version}, older than the ${OLDEST_SCHEMA} that this Errand can bring up to date. Start it once with the last Errand 0.1, which does, and then with this one.`;
  return null;
}

/** A part of a migration. `from` and `to` are versions of the schema; the copy of the old file comes first. */
export interface MigrationStep {
  readonly kind: 'copy' | 'change';
  readonly from: number;
  readonly to: number;
  /** Size of the database. */
  readonly bytes: number;
}

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
    change(connection, MIGRATIONS[next - OLDEST_SCHEMA]!, next + 1);
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
