// Brings a database to the schema of this code: an empty one at once, an older one migration by migration.
import { type Clock, pauseAlive } from '../../../../domain/clock.ts';
import { ErrandError } from '../../../../domain/errors.ts';
import {
  MIGRATIONS,
  type MigrationStep,
  OLDEST_SCHEMA,
  refusalOfSchema,
  RUNS_WITH,
  SCHEMA_VERSION,
  type SchemaState,
} from '../../schema.ts';
import { nameOf, type PostgresAddress } from '../connections/address.ts';
import type { Connection } from '../connections/connection.ts';
import { faultKindOf } from '../connections/faults.ts';
import { titleOf } from './opening-faults.ts';
import { postgresDdl, postgresSchema } from '../sql/schema.ts';
import { sayThatCodeRuns, withoutOlderCode, withSchemaLock } from './schema-locks.ts';
import { requireServer, SERVER_FACTS } from './server.ts';

/** The first version that a database of PostgreSQL can have. */
const FIRST_VERSION = 40;

const EXISTS = "SELECT to_regclass('schema_version') IS NOT NULL";
const TABLES = `SELECT (SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')),
  (SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND starts_with(relname, 'store_copy'))`;
/** Databases of before have no `runs_with`. */
const STATE = `SELECT version, coalesce((to_jsonb(schema_version) ->> 'runs_with')::int8, version) FROM schema_version`;
/** What says that the database is a store of this version, and which older code may use it. */
export const MAKE_VERSION = `CREATE TABLE schema_version (id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL, runs_with INTEGER);
  INSERT INTO schema_version (id, version, runs_with) VALUES (1, ${SCHEMA_VERSION}, ${RUNS_WITH});`;
const WITH_COLUMN = 'ALTER TABLE schema_version ADD COLUMN IF NOT EXISTS runs_with INTEGER;';

interface Options {
  readonly address: PostgresAddress;
  readonly clock: Clock;
  begins(step: MigrationStep): void;
}

/** Its schema. */
export async function schemaStateOf(connection: Connection): Promise<SchemaState> {
  if ((await connection.say(EXISTS)).rows[0]![0] === 0) return { version: 0, runsWith: 0 };
  const [version, runsWith] = (await connection.say(STATE)).rows[0]! as [number, number];
  return { version, runsWith };
}

/**
 * Examines it, and changes it where it must, one process at a time. From now on, and for as long as the connection lives, nobody changes it so
 * that this code couldn't go on. Throws `conflict` when it isn't one that this Errand can use.
 */
export async function migrate(connection: Connection, options: Options): Promise<void> {
  const { address, clock, begins } = options;
  requireServer((await connection.say(SERVER_FACTS)).rows[0]!, address);
  await sayThatCodeRuns(connection, clock);
  const { version } = await schemaStateOf(connection);
  if (version >= SCHEMA_VERSION) return requireUsable(connection, address);
  const waits = () => begins({ kind: 'wait', from: version, to: SCHEMA_VERSION, bytes: 0 });
  await withSchemaLock(connection, { clock, waits }, () => bringUpToDate(connection, options));
}

/** Throws `conflict` where it is of a version that this code can't use. */
export async function requireUsable(connection: Connection, address: PostgresAddress): Promise<void> {
  const { version, runsWith } = await schemaStateOf(connection);
  const refusal = refusalOfSchema(version, runsWith);
  if (refusal !== null || version < FIRST_VERSION) throw new ErrandError('conflict', `${titleOf(address)} ${refusal}`);
}

async function bringUpToDate(connection: Connection, { address, clock, begins }: Options): Promise<void> {
  const { version, runsWith } = await schemaStateOf(connection);
  if (version === 0) {
    const [tables, copies] = (await connection.say(TABLES)).rows[0]!;
    if (copies !== 0)
      throw new ErrandError(
        'conflict',
        `A copy to ${nameOf(address)} was interrupted. Continue it: errand store copy, with the options it had.`,
      );
    if (tables !== 0)
      throw new ErrandError('conflict', `${titleOf(address)} has tables that are not Errand's. Name an empty one.`);
    return change(connection, postgresSchema() + MAKE_VERSION);
  }
  await requireUsable(connection, address);
  const codes = { clock, name: titleOf(address), from: runsWith, to: RUNS_WITH };
  await withoutOlderCode(connection, codes, async () => {
    for (let next = version; next < SCHEMA_VERSION; next += 1) {
      begins({ kind: 'change', from: next, to: next + 1, bytes: 0 });
      const { sql, runsWith: oldest } = MIGRATIONS[next - OLDEST_SCHEMA]!;
      const mark = `UPDATE schema_version SET version = ${next + 1}, runs_with = greatest(runs_with, ${oldest});`;
      await changePatiently(connection, clock, postgresDdl(sql) + WITH_COLUMN + mark);
    }
  });
}

/** How often a change is tried beside processes that go on, and the pause between. While it waits for a table, they wait, too: not for long. */
const [TRIES, PAUSE_MS] = [30, 500];
const NOT_FOR_LONG = 'SET LOCAL lock_timeout = 1000;';

/** Tables are locked in another order than by transactions of others, and readers may hold one for longer than it is waited for. */
async function changePatiently(connection: Connection, clock: Clock, sql: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await change(connection, NOT_FOR_LONG + sql);
    } catch (error) {
      if (!['again', 'locked'].includes(faultKindOf(error) ?? '') || tries === TRIES) throw error;
    }
    await pauseAlive(clock, PAUSE_MS);
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
