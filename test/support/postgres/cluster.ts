// A private PostgreSQL server in a temporary directory, which ends with the process that started it, however that ends.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePort } from '../http/free-port.ts';
import { makeCertificate, pemOf } from '../http/certificates.ts';
import { programOf, serverUser } from './programs.ts';

/** Its administrator, without a password on the socket; and the role that owns the databases of Errand. */
export const SUPERUSER = 'postgres';
export const ROLE = 'errand';

export interface ClusterOptions {
  /** Listens on a loopback port as well, where it asks for the password; with TLS for `localhost`, whose issuer is `tls.crt` of its directory. */
  readonly tcp?: { readonly password: string; readonly tls?: boolean };
  /** Where its directory is made; among temporary files when absent. */
  readonly within?: string;
  /** Settings of the server. */
  readonly settings?: Readonly<Record<string, string | number>>;
}

export interface Cluster {
  /** Has the socket, the server's files in `data`, and its log. */
  readonly directory: string;
  /** Of the loopback interface; null without. */
  readonly port: number | null;
  /** The address of a database by the socket. */
  url(database: string, user?: string): string;
  /** The address of a database by the loopback interface, with the password of the role. */
  tcpUrl(database: string): string;
  /** Executes a statement as the administrator, on a connection of its own. */
  query<Row extends object = Record<string, unknown>>(database: string, sql: string): Promise<Row[]>;
  /** Of the server's first process. */
  pid(): number;
  /** What the server has logged. */
  log(): string;
  start(): Promise<void>;
  /** Ends it with a signal: SIGQUIT (at once, as `pg_ctl stop -m immediate`) when none is given. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Ends it and removes its directory. */
  close(): Promise<void>;
}

/** The address of a database of the server with its socket in a directory. */
export const urlOf = (directory: string, database: string, user = ROLE): string =>
  `postgres://${user}@/${database}?host=${encodeURIComponent(directory)}`;

/** Quick rather than durable, and small: hundreds of databases are made and dropped. */
const SETTINGS = {
  listen_addresses: "''",
  fsync: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: 0,
  max_connections: 200,
  shared_buffers: "'64MB'",
  timezone: "'UTC'",
  log_timezone: "'UTC'",
  log_line_prefix: "'%m [%p] %u@%d '",
};

const READY_TIMEOUT_MS = 60_000;

/**
 * Runs the server until the pipe ends that the shell reads, which it does with the process that started it. Then the directory goes, too.
 * $1: the directory; then the command.
 */
const KEEPER = `
dir=$1; shift
exec 3<&0 </dev/null
"$@" >>"$dir/log" 2>&1 3<&- &
server=$!
{ read -r _ <&3; : >"$dir/over"; kill -QUIT $server; } &
watcher=$!
exec 3<&-
wait $server
if [ -e "$dir/over" ]; then rm -rf "$dir"; else kill $watcher; fi 2>/dev/null`;

/** Makes a cluster of the locale C and starts it. */
export async function startCluster({ tcp, within = tmpdir(), settings = {} }: ClusterOptions = {}): Promise<Cluster> {
  const user = serverUser();
  const directory = mkdtempSync(join(within, 'errand-pg-'));
  if (user.uid !== undefined) chownSync(directory, user.uid, user.gid!);
  const data = join(directory, 'data');
  const port = tcp === undefined ? null : await freePort();
  try {
    initialize(data);
  } catch (error) {
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
  const listening = port === null ? {} : { listen_addresses: "'127.0.0.1'", port };
  const tls = tcp?.tls === true ? writeCertificate(directory) : {};
  writeSettings(data, { ...SETTINGS, unix_socket_directories: `'${directory}'`, ...listening, ...tls, ...settings });
  writeFileSync(
    join(data, 'pg_hba.conf'),
    'local all all trust\nlocal replication all trust\nhost all all 127.0.0.1/32 scram-sha-256\n',
  );
  const cluster = makeCluster(directory, port, tcp?.password ?? '');
  await cluster.start();
  const password = tcp === undefined ? '' : ` PASSWORD '${tcp.password}'`;
  await cluster.query('postgres', `CREATE ROLE ${ROLE} LOGIN CREATEDB${password}`);
  return cluster;
}

/** Where the run keeps the files of a server that has not started yet. */
const NEW_FILES = 'ERRAND_TEST_NEW_CLUSTER';

/** From here on, clusters of the run begin with copies of those of a server, in its directory: to make them takes ten times as long. */
export function keepNewFiles(directory: string): void {
  const files = join(directory, 'new');
  initialize(files);
  process.env[NEW_FILES] = files;
}

function initialize(data: string): void {
  const made = process.env[NEW_FILES];
  if (made !== undefined) return void execFileSync('cp', ['-a', made, data]);
  const how = [
    '--auth=trust',
    `--username=${SUPERUSER}`,
    '--locale=C',
    '--encoding=UTF8',
    '--no-sync',
    '--no-instructions',
  ];
  execFileSync(programOf('initdb'), ['-D', data, ...how], { ...serverUser(), cwd: '/', stdio: 'pipe' });
}

/** Its files are those of the server's user, who alone may read the key. */
function writeCertificate(directory: string): Readonly<Record<string, string>> {
  const { cert, key } = makeCertificate('localhost');
  writeFileSync(join(directory, 'tls.crt'), cert);
  writeFileSync(join(directory, 'tls.key'), pemOf(key), { mode: 0o600 });
  const { uid, gid } = serverUser();
  if (uid !== undefined) chownSync(join(directory, 'tls.key'), uid, gid!);
  return { ssl: 'on', ssl_cert_file: `'${directory}/tls.crt'`, ssl_key_file: `'${directory}/tls.key'` };
}

/** Adds settings, of which the last one of a name counts. */
export function writeSettings(data: string, settings: Readonly<Record<string, string | number>>): void {
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`);
  appendFileSync(join(data, 'postgresql.conf'), lines.join(''));
}

/** Starts and stops the server on the files of a directory. */
export function makeCluster(directory: string, port: number | null, password: string): Cluster {
  let keeper: ChildProcess | undefined;
  const data = join(directory, 'data');
  const url = (database: string, user = ROLE) =>
    `${urlOf(directory, database, user)}${port === null ? '' : `&port=${port}`}`;
  const log = () => readFileSync(join(directory, 'log'), 'utf8');
  const pid = () => Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]);

  async function query<Row extends object>(database: string, sql: string): Promise<Row[]> {
    const client = new Client({ host: directory, port: port ?? 5432, user: SUPERUSER, database });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<Row>(sql)).rows;
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  async function start(): Promise<void> {
    const deadline = performance.now() + READY_TIMEOUT_MS;
    for (;;) {
      if (keeper === undefined || hasEnded(keeper)) keeper = keep();
      const reason: unknown = await query('postgres', 'SELECT 1').then(
        () => null,
        (error: unknown) => error,
      );
      if (reason === null) return;
      if (performance.now() > deadline)
        throw new Error(`The server did not start: ${log().slice(-2_000)}`, { cause: reason });
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** A session of its own, so that what ends the tests' group doesn't end the keeper. */
  function keep(): ChildProcess {
    const command = ['-c', KEEPER, 'sh', directory, programOf('postgres'), '-D', data];
    const child = spawn('sh', command, {
      ...serverUser(),
      cwd: '/',
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    child.unref();
    return child;
  }

  async function end(by: (running: ChildProcess) => void): Promise<void> {
    if (keeper === undefined || hasEnded(keeper)) return;
    keeper.ref();
    const ended = once(keeper, 'exit');
    by(keeper);
    await ended;
  }

  return {
    directory,
    port,
    url,
    tcpUrl: (database) => `postgres://${ROLE}:${encodeURIComponent(password)}@localhost:${port}/${database}`,
    query,
    pid,
    log,
    start,
    stop: (signal = 'SIGQUIT') => end(() => void process.kill(pid(), signal)),
    close: async () => {
      await end((running) => void running.stdin?.end());
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;
