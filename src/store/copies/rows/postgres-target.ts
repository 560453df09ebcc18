// Rows written into an empty database of PostgreSQL: first the tables alone, in the end what holds up the writing of many rows.
import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import type { Client } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { ErrandError } from '../../../domain/errors.ts';
import type { PostgresAddress } from '../../engine/postgres/connections/address.ts';
import { MAKE_VERSION } from '../../engine/postgres/opening/migrate.ts';
import { titleOf } from '../../engine/postgres/opening/opening-faults.ts';
import { postgresSchema } from '../../engine/postgres/sql/schema.ts';
import { SCHEMA_VERSION } from '../../engine/schema.ts';
import type { Value } from '../../engine/statement.ts';
import type { Addition, RowsTarget } from './place.ts';
import { makePlaces, PLACES } from './places.ts';
import { namesOf, openClient, readerOf } from './postgres-rows.ts';
import type { StoredTable } from './tables.ts';
import { HEAD, TAIL } from './tuples.ts';

const REST = `${PLACES.name}_rest`;
const OF_TABLES = "relnamespace = current_schema()::regnamespace AND relkind = 'r'";

/** What is made when the rows are there, and how it is removed until then; references last, as they need indexes. */
const TAKE_AWAY = `
  SELECT 1 AS step, pg_get_indexdef(indexrelid) AS make, format('DROP INDEX %s', indexrelid::regclass) AS remove
    FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
    WHERE ${OF_TABLES} AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid AND contype <> 'f')
  UNION ALL SELECT 2, format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(pg_constraint.oid)),
      format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname)
    FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid WHERE ${OF_TABLES} AND contype = 'f'
  UNION ALL SELECT 3, pg_get_triggerdef(pg_trigger.oid), format('DROP TRIGGER %I ON %s', tgname, tgrelid::regclass)
    FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid WHERE ${OF_TABLES} AND NOT tgisinternal
  ORDER BY step, make`;

/** Opens an empty database, or one whose copy was not finished. Throws `conflict` for any other. */
export async function openTarget(address: PostgresAddress, tables: readonly StoredTable[]): Promise<RowsTarget> {
  const client = await openClient(address);
  try {
    const found = await stateOf(client, address);
    if (found !== 'begun')
      await whole(client, async () => {
        await client.query(found === 'unused' ? `DROP TABLE schema_version` : postgresSchema());
        await makeBare(client, tables);
      });
  } catch (error) {
    await client.end();
    throw error;
  }
  const places = makePlaces(tables);
  return {
    ...readerOf(client, address, tables),
    places: async () => {
      const { rows } = await client.query<Value[]>({ text: `SELECT * FROM ${PLACES.name}`, rowMode: 'array' });
      return places.read(rows);
    },
    begin: async (table) => {
      await client.query('BEGIN');
      return additionTo(client, table, (place) => places.rowOf(table, place));
    },
    complete: (progress) => makeRest(client, progress),
    publish: async (numbers) => {
      await whole(client, async () => {
        for (const { name, columns, key } of tables)
          await setNumber(client, [name, columns[key[0]!]!.name], numbers.get(name));
        await client.query(`${MAKE_VERSION}; DROP TABLE ${PLACES.name}, ${REST}`);
      });
      // Lists are counted in indexes alone, which takes what a VACUUM knows.
      await client.query('VACUUM (ANALYZE)');
    },
    close: () => client.end(),
  };
}

/** Throws `conflict` for a database that `openTarget` wouldn't open. Changes nothing. */
export async function examineTarget(address: PostgresAddress): Promise<void> {
  const client = await openClient(address);
  try {
    await stateOf(client, address);
  } finally {
    await client.end();
  }
}

/** `unused`: a daemon has made the tables of this version, and refused to begin without the rows that its data directory has. */
async function stateOf(client: Client, address: PostgresAddress): Promise<'begun' | 'empty' | 'unused'> {
  const found = await client.query<{ begun: boolean; tables: number; version: boolean }>(`SELECT
    to_regclass('${PLACES.name}') IS NOT NULL AS begun, to_regclass('schema_version') IS NOT NULL AS version,
    (SELECT count(*)::int FROM pg_class WHERE ${OF_TABLES}) AS tables`);
  const { begun, tables, version } = found.rows[0]!;
  if (begun || tables === 0) return begun ? 'begun' : 'empty';
  if (version && (await isUnused(client))) return 'unused';
  const has = version ? 'an Errand stores its rows there' : 'it has tables';
  throw new ErrandError('conflict', `${titleOf(address)} is not empty: ${has}. Name an empty one.`);
}

async function isUnused(client: Client): Promise<boolean> {
  const sql = `SELECT version = ${SCHEMA_VERSION} AND NOT EXISTS (SELECT 1 FROM users) AS unused FROM schema_version`;
  return (await client.query<{ unused: boolean }>(sql)).rows[0]!.unused;
}

/** Takes away what holds up the writing of many rows, and writes down how it is made again. */
async function makeBare(client: Client, tables: readonly StoredTable[]): Promise<void> {
  await client.query(`${PLACES.postgres}; CREATE TABLE ${REST} (step INTEGER NOT NULL, make TEXT NOT NULL)`);
  const rest = await client.query<{ step: number; make: string; remove: string }>(TAKE_AWAY);
  for (const { step, make } of rest.rows) await client.query(`INSERT INTO ${REST} VALUES ($1, $2)`, [step, make]);
  // References first: they may need indexes.
  for (const { remove } of rest.rows.toReversed()) await client.query(remove);
  await client.query(`TRUNCATE ${tables.map(({ name }) => name).join(', ')}`);
}

async function makeRest(client: Client, progress: (done: number, total: number) => void): Promise<void> {
  const { rows } = await client.query<{ make: string }>(`SELECT make FROM ${REST} ORDER BY step, make`);
  for (const [done, { make }] of rows.entries()) {
    progress(done, rows.length);
    await whole(client, async () => {
      await client.query(make);
      await client.query(`DELETE FROM ${REST} WHERE make = $1`, [make]);
    });
  }
}

async function setNumber(client: Client, column: readonly string[], number = 0n): Promise<void> {
  const sql = `SELECT setval(sequence, greatest($3::bigint, 1), $3::bigint > 0)
    FROM pg_get_serial_sequence($1, $2) AS sequence WHERE sequence IS NOT NULL`;
  await client.query(sql, [...column, String(number)]);
}

async function whole(client: Client, work: () => Promise<void>): Promise<void> {
  await client.query('BEGIN');
  try {
    await work();
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

function additionTo(
  client: Client,
  { name, columns }: StoredTable,
  rowOf: (place: Parameters<Addition['commit']>[0]) => Value[],
): Addition {
  const stream = client.query(copyFrom(`COPY ${name} (${namesOf(columns)}) FROM STDIN (FORMAT binary)`));
  let failure: unknown;
  stream.on('error', (error) => {
    failure = error;
  });
  const write = async (bytes: Buffer) => {
    if (failure !== undefined) throw failure;
    if (!stream.write(bytes)) await once(stream, 'drain');
  };
  void write(HEAD);
  return {
    add: ({ bytes }) => write(bytes),
    commit: async (place) => {
      await write(TAIL);
      stream.end();
      await finished(stream);
      const keep = `INSERT INTO ${PLACES.name} VALUES ($1, $2, $3, $4)
        ON CONFLICT (table_name) DO UPDATE SET rows = excluded.rows, last = excluded.last, is_whole = excluded.is_whole`;
      await client.query(keep, rowOf(place));
      await client.query('COMMIT');
    },
    undo: async () => {
      stream.destroy();
      await client.query('ROLLBACK');
    },
  };
}
