// Checks of a PostgreSQL database: connections, old transactions, removed rows that still take space, and standbys.
import { MB } from '../../domain/byte-units.ts';
import type { ServerReport } from '../../store/engine/inspector.ts';
import { wordsOfClock } from '../../store/engine/postgres/opening/server-clock.ts';
import { inMegabytes } from '../../terminal/sizes.ts';
import { type Check, type CheckResult, ok, skipped, together, warning } from '../check.ts';
import { byHand } from '../remedies.ts';
import type { Subject } from '../subject.ts';

/** Connections that should stay free for others. */
const SPARE = 10;
const OLD_SECONDS = 3_600;
/** So many removed rows beside those that are there are more than autovacuum leaves. */
const MANY_DEAD = 0.5;
const MANY_DEAD_ROWS = 100_000;
const LARGE_LAG_BYTES = 256 * MB;

type Look = (server: ServerReport, subject: Subject) => CheckResult;

function check(id: string, title: string, look: Look): Check {
  return {
    id,
    engine: 'postgres',
    title,
    examine: async (subject) => {
      const seen = await subject.scan();
      if (!seen.ok || seen.database.server === null) return skipped('the database could not be read');
      return look(seen.database.server, subject);
    },
  };
}

const connections = check('connections', 'Connections to the database', (server, { settings, daemon }) => {
  const { maxConnections, usedConnections } = server;
  const { databaseConnections } = settings();
  const words = `${usedConnections} of ${maxConnections} are used; database_connections is ${databaseConnections}`;
  // A running daemon's own are among those that are used.
  const wanted = usedConnections + (daemon.state === 'running' ? 0 : databaseConnections);
  if (wanted + SPARE <= maxConnections) return ok(words);
  return warning(words, byHand('raise max_connections of the server, or lower database_connections'));
});

const transactions = check('transactions', 'Transactions that last', ({ oldestTransaction: oldest }) => {
  if (oldest === null || oldest.seconds < OLD_SECONDS) return ok('none is old');
  const { pid, who, seconds } = oldest;
  return warning(
    `process ${pid} of the server (${who}) has one of ${Math.floor(seconds / 60)} min: rows that are removed meanwhile take space`,
    byHand(`end that client, or: SELECT pg_terminate_backend(${pid});`),
  );
});

const deadRows = check('dead_rows', 'Removed rows that still take space', ({ autovacuum, deadRows: tables }) => {
  const found = tables.map(({ table, dead, live }) => {
    const words = `${table}: ${dead} beside ${live}`;
    const isMany = dead >= MANY_DEAD_ROWS && dead > live * MANY_DEAD;
    return isMany ? warning(words, byHand(`VACUUM (ANALYZE) ${table};`)) : ok(words);
  });
  if (!autovacuum)
    found.push(warning('autovacuum is off', byHand('ALTER SYSTEM RESET autovacuum; SELECT pg_reload_conf();')));
  return together(found, 'few: autovacuum keeps up');
});

const standbys: Check = {
  id: 'standbys',
  engine: 'postgres',
  title: 'Standbys of the database',
  examine: async ({ scan }) => {
    const seen = await scan();
    if (!seen.ok) return skipped('the database could not be read');
    const { replicas } = seen.database.figures;
    if (replicas.length === 0) return skipped('none can be seen; a role with pg_monitor sees them');
    const found = replicas.map(({ name, state, lagBytes }) => {
      const words = `${name}, ${state}, is ${inMegabytes(lagBytes)} behind`;
      const isWell = state === 'streaming' && lagBytes < LARGE_LAG_BYTES;
      return isWell ? ok(words) : warning(words, byHand('see pg_stat_replication, and the log of the standby'));
    });
    return together(found, replicas.map(({ name }) => name).join(', '));
  },
};

const serverClock = check('server_clock', "The database's clock", ({ clockAheadMs }) => {
  const words = wordsOfClock(clockAheadMs);
  if (words === null) return ok("it is the daemon's");
  return warning(`it ${words}`, byHand('timedatectl set-ntp true, on both machines'));
});

export const POSTGRES_CHECKS: readonly Check[] = [serverClock, connections, transactions, deadRows, standbys];
