// What a server and its database must be, before anything is written there.
import type { ClientConfig } from 'pg';
import { ErrandError } from '../../../../domain/errors.ts';
import type { Value } from '../../statement.ts';
import type { PostgresAddress } from '../connections/address.ts';
import { connect, type Connection, settle } from '../connections/connection.ts';
import { createDatabase, psql, quoted, titleOf } from './opening-faults.ts';

/** PostgreSQL 15, as `server_version_num` counts. */
const OLDEST = 150_000;

/** One row, whose values `requireServer` takes. */
export const SERVER_FACTS = `SELECT current_setting('server_version_num'), current_setting('server_version'),
  current_setting('server_encoding'), pg_is_in_recovery()::text, coalesce(current_schema(), ''),
  coalesce(has_schema_privilege(current_schema(), 'CREATE'), false)::text`;

const PROCESS = 'SELECT pg_backend_pid()';

/** Opens a connection, whose session is its own. Throws `conflict` for a proxy that pools by transaction. */
export const connectToOwn = (config: ClientConfig, address: PostgresAddress, lost: (error: Error) => void) =>
  connect(config, lost, async (connection) => {
    await requireOwnSession(connection, config, address);
    await settle(connection);
  });

/**
 * Throws `conflict` for a proxy that gives each transaction another session of the server: locks, notifications and prepared statements
 * would be lost on the way. With one, a second connection gets the session that the first one has just used. Neither may have settings:
 * others would get them.
 */
export async function requireOwnSession(
  first: Connection,
  config: ClientConfig,
  address: PostgresAddress,
): Promise<void> {
  const pidOf = async (connection: Connection) => (await connection.say(PROCESS)).rows[0]![0];
  // The number that was told with the connection is that of a process, unless a proxy has made it up.
  if ((await pidOf(first)) === first.serverPid) return;
  const other = await connect(
    config,
    () => undefined,
    async () => undefined,
  );
  try {
    if ((await pidOf(first)) !== (await pidOf(other))) return;
  } finally {
    await other.close();
  }
  const words = 'is behind a proxy that pools by transaction. With pgbouncer: pool_mode = session for this database.';
  throw new ErrandError('conflict', `${titleOf(address)} ${words}`);
}

const HISTORY = `SELECT pg_is_in_recovery(),
  CASE WHEN pg_is_in_recovery() THEN '' ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END`;

/**
 * The history that the rows of a server belong to, another one once a standby took over or a backup was restored; empty where the server
 * doesn't tell. Rejects on a standby as a statement that writes would.
 */
export async function historyOf(connection: Connection): Promise<string> {
  const told = await connection.say(HISTORY).catch(() => null);
  const [isStandby = 0, history = ''] = told?.rows[0] ?? [];
  if (isStandby === 1) throw Object.assign(new Error('it is a standby'), { code: '25006' });
  return String(history);
}

/** Throws `conflict` for a server that Errand can't use, with what to run. */
export function requireServer(facts: readonly Value[], address: PostgresAddress): void {
  const [version, shown, encoding, isStandby, schema, mayCreate] = facts.map(String);
  const { database, user } = address;
  const anew = `DROP DATABASE ${quoted(database)}; ${createDatabase(address)}`;
  const grant = `GRANT USAGE, CREATE ON SCHEMA ${quoted(schema || 'public')} TO ${quoted(user)};`;
  const found: readonly (readonly [isWrong: boolean, words: string])[] = [
    [Number(version) < OLDEST, `is of PostgreSQL ${shown}, and Errand needs 15 or newer. Upgrade the server.`],
    [encoding !== 'UTF8', `has the encoding ${encoding}, and Errand needs UTF8. Make it anew, ${psql(anew)}`],
    [isStandby === 'true', 'is a standby, where nothing can be written. Name the primary server.'],
    [mayCreate !== 'true', `gives ${user} no schema to make tables in. Run, ${psql(grant, database)}`],
  ];
  const wrong = found.find(([isWrong]) => isWrong);
  if (wrong !== undefined) throw new ErrandError('conflict', `${titleOf(address)} ${wrong[1]}`);
}
