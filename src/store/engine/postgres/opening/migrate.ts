// Brings a database to the schema of this code: an empty one at once, an older one migration by migration.
import { ErrandError } from '../../../../domain/errors.ts';
import { MIGRATIONS, type MigrationStep, OLDEST_SCHEMA, refusalOfSchema, SCHEMA_VERSION } from '../../schema.ts';
import { nameOf, type PostgresAddress } from '../connections/address.ts';
import type { Connection } from '../connections/connection.ts';
import { titleOf } from './opening-faults.ts';
import { postgresDdl, postgresSchema } from '../sql/schema.ts';
import { requireServer, SERVER_FACTS } from './server.ts';

/** The first version that a database of PostgreSQL can have. */
const FIRST_VERSION = 40;

const FOUND = `SELECT to_regclass('schema_version') IS NOT NULL,
  (SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')),
  (SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND starts_with(relname, 'store_copy'))`;
/** What says that the database is a store of this version. */
export const MAKE_VERSION = `CREATE TABLE schema_version (id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL);
  INSERT INTO schema_version (id, version) VALUES (1, ${SCHEMA_VERSION});`;

/** Examines it, and changes it where it must. Throws `conflict` when it isn't one that this Errand can use. */
export async function migrate(connection: Connection, address: PostgresAddress, begins: (step: MigrationStep) => void) {
  requireServer((await connection.say(SERVER_FACTS)).rows[0]!, address);
  const [exists, tables, copies] = (await connection.say(FOUND)).rows[0]!;
  if (exists === 0) {
    if (copies !== 0)
      throw new ErrandError(
        'conflict',
        `A copy to ${nameOf(address)} was interrupted. Continue it: errand store copy, with the options it had.`,
      );
    if (tables !== 0)
      throw new ErrandError('conflict', `${titleOf(address)} has tables that are not Errand's. Name an empty one.`);
    return change(connection, postgresSchema() + MAKE_VERSION);
  }
  const version = (await connection.say('SELECT version FROM schema_version')).rows[0]![0] as number;
  const refusal = refusalOfSchema(version);
  if (refusal !== null || version < FIRST_VERSION) throw new ErrandError('conflict', `${titleOf(address)} ${refusal}`);
  for (let next = version; next < SCHEMA_VERSION; next += 1) {
    begins({ kind: 'change', from: next, to: next + 1, bytes: 0 });
    const mark = `UPDATE schema_version SET version = ${next + 1};`;
    await change(connection, postgresDdl(MIGRATIONS[next - OLDEST_SCHEMA]!) + mark);
  }
}

/** In one transaction: the server undoes all of it where a part fails. */
async function change(connection: Connection, sql: string): Promise<void> {
  await connection
    .sayAtLength(`BEGIN; SET LOCAL statement_timeout = 0; ${sql}; COMMIT`)
    .catch(async (error: unknown) => {
      await connection.say('ROLLBACK').catch(() => undefined);
      throw error;
    });
}
