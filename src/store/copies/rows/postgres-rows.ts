// Rows in a database of PostgreSQL, read from one snapshot in the order of their keys.
import { Client } from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { clientConfig, nameOf, type PostgresAddress } from '../../engine/postgres/connections/address.ts';
import { SETTINGS_OF_COPIES } from '../../engine/postgres/connections/settings.ts';
import { titleOf } from '../../engine/postgres/opening/opening-faults.ts';
import type { Value } from '../../engine/statement.ts';
import type { Key, RowsPlace } from './place.ts';
import { keysOf } from './places.ts';
import { batchesIn } from './postgres-stream.ts';
import { requireSchema } from './require-schema.ts';
import type { StoredTable } from './tables.ts';

const SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';
const ABOUT = `SELECT coalesce(sum(greatest(reltuples, 0)), 0)::float8 FROM pg_class
  WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'`;

export async function openClient(address: PostgresAddress): Promise<Client> {
  const client = new Client({ ...clientConfig(address), application_name: 'errand store copy' });
  // A lost connection rejects what is waited for.
  client.on('error', () => undefined);
  await client.connect();
  await client.query(SETTINGS_OF_COPIES);
  return client;
}

/** The rows as they are now, whoever writes meanwhile. Throws `conflict` when they are of another schema. */
export async function openSnapshot(address: PostgresAddress, tables: readonly StoredTable[]): Promise<RowsPlace> {
  const client = await openClient(address);
  try {
    await client.query(SNAPSHOT);
    requireSchema(await versionOf(client), titleOf(address));
    return { ...readerOf(client, address, tables), close: () => client.end() };
  } catch (error) {
    await client.end();
    throw error;
  }
}

/** 0 when there is none. */
async function versionOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ is: boolean }>("SELECT to_regclass('schema_version') IS NOT NULL AS is");
  if (!rows[0]!.is) return 0;
  return (await client.query<{ version: number }>('SELECT version FROM schema_version')).rows[0]!.version;
}

export const namesOf = (columns: readonly { readonly name: string }[]): string =>
  columns.map(({ name }) => `"${name}"`).join(', ');

export function readerOf(client: Client, address: PostgresAddress, tables: readonly StoredTable[]) {
  const literal = (value: Value) => (typeof value === 'string' ? client.escapeLiteral(value) : String(value));

  async function* batches(table: StoredTable, after?: Key) {
    const keys = namesOf(keysOf(table));
    const where = after === undefined ? '' : `WHERE (${keys}) > (${after.map(literal).join(', ')})`;
    const rows = `SELECT ${namesOf(table.columns)} FROM ${table.name} ${where} ORDER BY ${keys}`;
    const stream = client.query(copyTo(`COPY (${rows}) TO STDOUT (FORMAT binary)`));
    yield* batchesIn(stream, table);
  }

  /** Null where the number isn't given by a sequence. */
  async function numberOf({ name, columns, key }: StoredTable): Promise<bigint | null> {
    const found = await client.query<{ sequence: string | null }>('SELECT pg_get_serial_sequence($1, $2) AS sequence', [
      name,
      columns[key[0]!]!.name,
    ]);
    const sequence = found.rows[0]?.sequence ?? null;
    if (sequence === null) return null;
    const sql = `SELECT (last_value - CASE WHEN is_called THEN 0 ELSE 1 END)::text AS last FROM ${sequence}`;
    const { rows } = await client.query<{ last: string }>(sql);
    return BigInt(rows[0]!.last);
  }

  return {
    name: nameOf(address),
    batches,
    about: async () => (await client.query<{ about: number }>(`SELECT (${ABOUT}) AS about`)).rows[0]!.about,
    numbers: async () => {
      const numbers = new Map<string, bigint>();
      for (const table of tables) {
        const number = await numberOf(table);
        if (number !== null) numbers.set(table.name, number);
      }
      return numbers;
    },
  };
}
