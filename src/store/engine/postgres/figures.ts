// How a server and the connections to it are doing.
import type { EngineFigures, Replica } from '../database.ts';
import type { Pool } from './pool.ts';

const SIZE = `SELECT current_setting('server_version'), pg_database_size(current_database())`;
/** A role that isn't of `pg_monitor` sees no state. */
const REPLICAS = `SELECT application_name, state, pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn) FROM pg_stat_replication
  WHERE state IS NOT NULL AND replay_lsn IS NOT NULL ORDER BY application_name`;

export function readFigures(pool: Pool): Promise<EngineFigures> {
  return pool.use(async (connection) => {
    const [size, replicas] = await Promise.all([connection.say(SIZE), connection.say(REPLICAS)]);
    const [version, bytes] = size.rows[0]!;
    return {
      engine: 'postgres',
      version: String(version),
      bytes: Number(bytes),
      // The server gives it to new rows; `autovacuum` finds it.
      freeBytes: 0,
      shrinks: true,
      logBytes: null,
      pool: pool.figures(),
      replicas: replicas.rows.map(
        ([name, state, lag]): Replica => ({ name: String(name), state: String(state), lagBytes: Number(lag) }),
      ),
    };
  });
}
