// How a PostgreSQL database is doing: its size, its connections, its standbys.
import type { EngineFigures, PoolFigures, Replica } from '../database.ts';
import type { Reader, Step } from '../statement.ts';

const SIZE = `SELECT pg_database_size(current_database()) AS bytes, current_setting('server_version') AS version,
  current_setting('block_size')::int4 AS "pageBytes"`;

/** Where the role may not see them (it can be given pg_monitor), their positions are null. */
const REPLICAS = `SELECT application_name AS name, state, pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn) AS "lagBytes"
  FROM pg_stat_replication WHERE replay_lsn IS NOT NULL ORDER BY application_name`;

/** The figures. The server uses space without rows again, and gives back what it can by itself. */
export function* figuresOf(tx: Reader, pool: PoolFigures): Step<EngineFigures> {
  const size = (yield* tx.get<Pick<EngineFigures, 'bytes' | 'version' | 'pageBytes'>>(SIZE))!;
  const replicas = yield* tx.all<Replica>(REPLICAS);
  return { engine: 'postgres', ...size, freeBytes: 0, shrinks: true, logBytes: null, pool, replicas };
}
