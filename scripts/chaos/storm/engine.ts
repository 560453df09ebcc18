// The database of the daemon in the storm: a SQLite file, or one of a private PostgreSQL server that is killed as well.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { renameSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { databaseOf, readStatuses } from '../../../src/selftest/checks/journal-rows.ts';
import { type Chance, makeChance } from '../../../src/selftest/storm/chance.ts';
import type { Stretch } from '../../../src/selftest/storm/storm.ts';
import { copySnapshot } from '../../../src/store/copies/copy-snapshot.ts';
import { addressOf } from '../../../test/support/postgres/address-of.ts';
import { type Cluster, ROLE, startCluster, SUPERUSER } from '../../../test/support/postgres/cluster.ts';
import { nowAndThen, type Recurring } from './now-and-then.ts';

interface Place {
  readonly dataDir: string;
}

interface Startable {
  restart(): Promise<unknown>;
}

export interface Engine {
  /** Address of the PostgreSQL database; undefined for a SQLite file. */
  readonly database: string | undefined;
  /** Starts the daemon as a service manager does: again, when it ends because its server was killed. */
  restart(daemon: Startable): Promise<unknown>;
  /** Brings the file up to date that the checks read, whose daemon is not killed any more. */
  look(daemon: Place): Promise<void>;
  /** Runs by status, also while the daemon is dead. */
  statuses(daemon: Place): Promise<Readonly<Record<string, number>>>;
  /** Keeps the daemon from writing. Answers when; empty when that failed. */
  lock(daemon: Place, forMs: number): Promise<Stretch[]>;
  /** Kills the server now and then. */
  killServer(seed: number): Recurring;
  /** Ends the server. Answers where its files are when they are kept. */
  close(isKept: boolean): Promise<string | null>;
}

export const sqliteEngine: Engine = {
  database: undefined,
  restart: (daemon) => daemon.restart(),
  look: async () => undefined,
  statuses: async (daemon) => readStatuses(databaseOf(daemon)),
  lock: async (daemon, forMs) => {
    const script = fileURLToPath(new URL('./lock-main.ts', import.meta.url));
    // Not in the arguments: a process that names the data directory there counts as the daemon's.
    const env = { ...process.env, CHAOS_DATABASE: databaseOf(daemon) };
    const child = spawn(process.execPath, [script, String(forMs)], { env, stdio: ['ignore', 'pipe', 'ignore'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    await once(child, 'close');
    return output === '' ? [] : [JSON.parse(output) as Stretch];
  },
  killServer: () => ({ stop: async () => [] }),
  close: async () => null,
};

/** One whose server is there to be looked at. */
export interface PostgresEngine extends Engine {
  readonly cluster: Cluster;
  readonly database: string;
}

/** The database of the daemons. */
export const DATABASE = 'errand';
/** As an administrator has it, in contrast to that of the tests. */
const DURABLE = { fsync: 'on', full_page_writes: 'on' };
/** What took long stands in its log. */
const LOUD = { log_lock_waits: 'on', log_min_duration_statement: 1_000 };

/** Starts a server that keeps what it has committed. */
export async function startPostgresEngine(): Promise<PostgresEngine> {
  const cluster = await startCluster({ settings: { ...DURABLE, ...LOUD } });
  await cluster.query('postgres', `CREATE DATABASE ${DATABASE} OWNER ${ROLE}`);
  const database = cluster.url(DATABASE);
  return {
    cluster,
    database,
    restart: restartAgain,
    look: async (daemon) => {
      const file = databaseOf(daemon);
      rmSync(`${file}.new`, { force: true });
      await copySnapshot(addressOf(database), `${file}.new`, async () => undefined);
      renameSync(`${file}.new`, file);
    },
    statuses: async () => {
      const rows = await cluster
        .query<{ status: string; n: number }>(
          DATABASE,
          'SELECT status, count(*)::integer AS n FROM runs GROUP BY status',
        )
        // It was just killed.
        .catch(() => []);
      return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
    },
    lock: (_daemon, forMs) => lockTable(cluster, forMs),
    killServer: (seed) => killNowAndThen(cluster, seed),
    close: async (isKept) => {
      if (!isKept) return cluster.close().then(() => null);
      await cluster.stop();
      return cluster.directory;
    },
  };
}

const RESTARTS = 9;

/** Starts a daemon, again where it ends because its server is away. */
export async function restartAgain(daemon: Startable, restarts = RESTARTS): Promise<unknown> {
  for (let left = restarts; ; left -= 1)
    try {
      return await daemon.restart();
    } catch (error) {
      const isForServer =
        /ended with code 1\b/.test(String(error)) && /database.*reachable|database.*opened/.test(String(error));
      if (left === 0 || !isForServer) throw error;
    }
}

/** Until the time is over, or the server is killed. */
async function lockTable(cluster: Cluster, forMs: number): Promise<Stretch[]> {
  const client = new Client({ host: cluster.directory, port: 5432, user: SUPERUSER, database: DATABASE });
  const ended = new AbortController();
  client.on('error', () => ended.abort());
  try {
    await client.connect();
    await client.query('BEGIN; LOCK TABLE sessions IN SHARE ROW EXCLUSIVE MODE');
    const from = Date.now();
    await sleep(forMs, undefined, { signal: ended.signal }).catch(() => undefined);
    return [{ from, to: Date.now() }];
  } catch {
    return [];
  } finally {
    await client.end().catch(() => undefined);
  }
}

const UP_MS = { least: 3_000, most: 15_000 } as const;
const DOWN_MS = { least: 0, most: 2_000 } as const;

function killNowAndThen(cluster: Cluster, seed: number): Recurring {
  const chance = makeChance(seed ^ 0x5e12);
  return nowAndThen({ chance, pauseMs: UP_MS, strike: async () => [await killOnce(cluster, chance)] });
}

/** Kills the server and starts it again; answers when it was away. */
export async function killOnce(cluster: Pick<Cluster, 'stop' | 'start'>, chance: Chance): Promise<Stretch> {
  const from = Date.now();
  await cluster.stop(chance.oneIn(2) ? 'SIGKILL' : 'SIGQUIT');
  await sleep(chance.between(DOWN_MS.least, DOWN_MS.most));
  await cluster.start();
  return { from, to: Date.now() };
}
