// Looks at a PostgreSQL database from beside, whoever holds its lock.
import { systemClock } from '../../../domain/clock.ts';
import type { Inspector, ServerReport } from '../inspector.ts';
import { READER, type Value } from '../statement.ts';
import { clientConfig, type PostgresAddress } from './connections/address.ts';
import type { Connection } from './connections/connection.ts';
import { carryOut, makePipeline } from './statements/execute.ts';
import { figuresOf } from './figures.ts';
import { schemaStateOf } from './opening/migrate.ts';
import { explainOpening } from './opening/opening-faults.ts';
import { clockAheadMs } from './opening/server-clock.ts';
import { connectToOwn } from './opening/server.ts';

const TABLES = `SELECT relname::text FROM pg_class
  WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') ORDER BY relname`;
const CHECKSUMS = 'SELECT checksum_failures FROM pg_stat_database WHERE datname = current_database()';
const SERVER = `SELECT current_setting('max_connections')::int4 - current_setting('superuser_reserved_connections')::int4,
  (SELECT sum(numbackends) FROM pg_stat_database), current_setting('autovacuum') = 'on', current_setting('data_checksums') = 'on'`;
const OLDEST = `SELECT pid, coalesce(nullif(application_name, ''), usename::text, '?'), extract(epoch FROM now() - xact_start)::int4
  FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start < now() - interval '1 second'
  ORDER BY xact_start LIMIT 1`;
const DEAD = `SELECT relname::text, n_dead_tup, n_live_tup FROM pg_stat_user_tables
  WHERE schemaname = current_schema() ORDER BY n_dead_tup DESC LIMIT 5`;

/** Connects. Rejects with what keeps it from that. */
export async function openServerInspector(address: PostgresAddress): Promise<Inspector> {
  const connection = await open(address).catch((error: unknown) => {
    throw explainOpening(error, address);
  });
  const first = async (sql: string) => (await connection.say(sql)).rows[0];
  return {
    schema: () => schemaStateOf(connection),
    figures: () => carryOut(makePipeline(connection), figuresOf(READER, { most: 1, open: 1, busy: 1, waiting: 0 })),
    tables: async () => (await connection.say(TABLES)).rows.map(([name]) => name as string),
    faults: async () => {
      const failures = ((await first(CHECKSUMS))?.[0] ?? 0) as number;
      return failures === 0 ? [] : [`${failures} pages failed their checksum (pg_stat_database)`];
    },
    look: (verb) => carryOut(makePipeline(connection), verb(READER)),
    server: () => reportOf(connection),
    close: connection.close,
  };
}

async function open(address: PostgresAddress): Promise<Connection> {
  const config = { ...clientConfig(address), application_name: 'errand inspection' };
  const connection = await connectToOwn(config, address, () => undefined);
  await connection.say('SET default_transaction_read_only = on');
  return connection;
}

async function reportOf(connection: Connection): Promise<ServerReport> {
  const [facts = [], [oldest] = [], dead = []] = await Promise.all(
    [SERVER, OLDEST, DEAD].map(async (sql) => (await connection.say(sql)).rows),
  );
  const [maxConnections, usedConnections, autovacuum, hasChecksums] = facts[0]!.map(Number);
  return {
    clockAheadMs: await clockAheadMs(connection, systemClock),
    maxConnections: maxConnections!,
    usedConnections: usedConnections!,
    autovacuum: autovacuum === 1,
    hasChecksums: hasChecksums === 1,
    oldestTransaction: oldest === undefined ? null : transactionOf(oldest),
    deadRows: dead.map(([table, gone, live]) => ({ table: String(table), dead: Number(gone), live: Number(live) })),
  };
}

const transactionOf = ([pid, who, seconds]: readonly Value[]) => ({
  pid: Number(pid),
  who: String(who),
  seconds: Number(seconds),
});
