// The real binary on PostgreSQL, while its server is away, killed, locked, slow, full of others or busy.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { LOCKS } from '../../../src/store/engine/postgres/opening/lock.ts';
import { type DaemonProcess, runErrand, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { takeTurn } from '../../support/daemon/turn.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { type Cluster, ROLE, startCluster, SUPERUSER } from '../../support/postgres/cluster.ts';
import { startDelayingProxy } from '../../support/postgres/delaying-proxy.ts';
import { programOf } from '../../support/postgres/programs.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const PASSWORD = 'a pass@word/of its own';
let cluster: Cluster;
let model: ModelServer;
let made = 0;

beforeAll(async () => {
  cluster = await startCluster({ tcp: { password: PASSWORD, tls: true } });
  model = await startModelServer();
});
afterAll(async () => {
  await model.close();
  await cluster.close();
});

/** A daemon on a database of its own. */
async function aDaemon(urlOf: (database: string) => string = cluster.url): Promise<DaemonProcess> {
  const database = `faults_${(made += 1)}`;
  await cluster.query('postgres', `CREATE DATABASE ${database} OWNER ${ROLE}`);
  const daemon = await startDaemonProcess({ modelServerUrl: model.url, database: urlOf(database) });
  onTestFinished(() => daemon.close());
  return daemon;
}

const ask = (daemon: DaemonProcess, content: string) => takeTurn(daemon, { content });
const answersWell = async (daemon: DaemonProcess) => {
  const { status, text } = await ask(daemon, 'Say it. [[text=Well.]]').catch(() => ({ status: 0, text: '' }));
  return status === 200 && text === 'Well.';
};
const statusOf = async (daemon: DaemonProcess, path: string) => {
  const response = await fetch(daemon.url + path);
  await response.body?.cancel();
  return response.status;
};
/** A connection of an administrator, which is closed when the test ends. */
async function administrator(database: string): Promise<Client> {
  const client = new Client({ host: cluster.directory, port: cluster.port!, user: SUPERUSER, database });
  client.on('error', () => undefined);
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** Does something as soon as a query finds a row: in the server, since a daemon waits for five seconds only. */
const asSoonAs = (found: string, statement = 'NULL') => `DO $$ BEGIN
    WHILE NOT EXISTS (${found}) LOOP PERFORM pg_sleep(0.01), pg_stat_clear_snapshot(); END LOOP;
    ${statement};
  END $$`;
const endServer = (signal: 'QUIT' | 'KILL') => `COPY (SELECT 1) TO PROGRAM 'kill -${signal} ${cluster.pid()}'`;
const WAITS_FOR_RUNS = "SELECT FROM pg_locks WHERE NOT granted AND relation = 'runs'::regclass";

test('a server that is killed again and again loses no run, and no run is done twice', async () => {
  const daemon = await aDaemon();
  const turns = Array.from({ length: 12 }, (_, no) => ask(daemon, `Count to ${no}. [[deltas=60 every=50]]`));
  for (const signal of ['SIGKILL', 'SIGQUIT', 'SIGKILL'] as const) {
    await new Promise((resolve) => setTimeout(resolve, 700));
    await cluster.stop(signal);
    await cluster.start();
  }
  await Promise.allSettled(turns);
  await waitFor(() => answersWell(daemon), { what: 'turns are answered again' });
  const database = `faults_${made}`;
  const unfinished = "SELECT id FROM runs WHERE status NOT IN ('completed', 'failed', 'canceled')";
  await waitFor(async () => (await cluster.query(database, unfinished)).length === 0, { what: 'every run has ended' });
  // Those whose worker could record nothing are returned to the queue by their executor, before their lease has ended.
  expect(daemon.stderr()).not.toContain('it resumes when its lease ends');
  const ends = await cluster.query<{ n: number }>(
    database,
    "SELECT count(*)::int AS n FROM events WHERE type IN ('run.done', 'run.failed', 'run.stopped') GROUP BY run_seq",
  );
  const runs = await cluster.query<{ n: number }>(database, 'SELECT count(*)::int AS n FROM runs');
  expect(ends.length).toBe(runs[0]!.n);
  expect(ends.every(({ n }) => n === 1)).toBe(true);
});

test('while the server is away, turns are refused in words, health is good and readiness is not; then all is well', async () => {
  const daemon = await aDaemon();
  await cluster.stop();
  onTestFinished(() => cluster.start());
  const { status, error } = await ask(daemon, 'Say it. [[text=Well.]]');
  expect([status, error?.message]).toEqual([503, expect.stringMatching(/database|storage/)]);
  expect(await statusOf(daemon, '/healthz')).toBe(200);
  expect(await statusOf(daemon, '/readyz')).toBe(503);
  await cluster.start();
  await waitFor(() => answersWell(daemon), { what: 'turns are answered again' });
  expect(await statusOf(daemon, '/readyz')).toBe(200);
});

test('a node without requests notices that its server is away, and that it is silent, and when it is there again; it stays alive', {
  tags: ['L8'],
}, async () => {
  const own = await startCluster();
  onTestFinished(() => own.close());
  await own.query('postgres', `CREATE DATABASE quiet OWNER ${ROLE}`);
  const network = await startDelayingProxy(own.directory, 0);
  const database = `postgres://${ROLE}@127.0.0.1:${network.port}/quiet?sslmode=disable`;
  const daemon = await startDaemonProcess({ database });
  onTestFinished(async () => {
    network.go();
    await daemon.close();
    await network.close();
  });
  const becomes = async (status: number) => {
    const reply = await waitFor(
      async () => {
        const response = await fetch(`${daemon.url}/readyz`);
        const body = (await response.json()) as { parts: { name: string; state: string; detail: string | null }[] };
        return response.status === status && { body, retryAfter: response.headers.get('retry-after') };
      },
      { timeoutMs: 60_000, what: `/readyz is ${status}` },
    );
    expect(await statusOf(daemon, '/healthz')).toBe(200);
    const part = reply.body.parts.find(({ state }) => state === 'failed');
    return [part?.name, part?.detail, reply.retryAfter];
  };
  const WELL = [undefined, undefined, null];
  expect(await becomes(200)).toEqual(WELL);
  await own.stop();
  expect(await becomes(503)).toEqual(['store', expect.stringContaining('not reachable'), '5']);
  await own.start();
  expect(await becomes(200)).toEqual(WELL);
  network.stall();
  expect(await becomes(503)).toEqual(['store', expect.stringContaining('not answered for 15 seconds'), '5']);
  network.go();
  expect(await becomes(200)).toEqual(WELL);
});

test('a daemon that starts before its server waits for it', async () => {
  const daemon = await aDaemon();
  await daemon.stop();
  await cluster.stop();
  const restarted = daemon.restart();
  await waitFor(() => daemon.stderr().includes('waiting for the database'));
  await cluster.start();
  await restarted;
  expect(await answersWell(daemon)).toBe(true);
});

test('a daemon whose server goes away during its start ends with 1, and says which server and what to do', async () => {
  const daemon = await aDaemon();
  await daemon.stop();
  const admin = await administrator(`faults_${made}`);
  await admin.query('BEGIN; LOCK TABLE runs IN ACCESS EXCLUSIVE MODE');
  admin.query(asSoonAs(WAITS_FOR_RUNS, endServer('QUIT'))).catch(() => undefined);
  onTestFinished(() => cluster.start());
  expect(await daemon.restart().catch(String)).toMatch(/ended with code 1\b/);
  expect(daemon.stderr()).toMatch(
    /^errand: The PostgreSQL database faults_\d+ at \S+ is not reachable \(.*\)\. See whether the server runs, and its log\.$/m,
  );
});

test('a daemon whose server is killed while it waits for the lock of another goes on waiting, and starts', async () => {
  const daemon = await aDaemon();
  await daemon.stop();
  const other = await administrator(`faults_${made}`);
  await other.query(`SELECT pg_advisory_lock(${LOCKS.class}, ${LOCKS.daemon})`);
  const looksWhoHasIt =
    "SELECT FROM pg_stat_activity WHERE application_name LIKE 'errand %' AND query LIKE '%pg_stat_activity%'";
  const isKilled = new Promise<void>((resolve) => other.once('end', resolve));
  other.query(asSoonAs(looksWhoHasIt, endServer('KILL'))).catch(() => undefined);
  const restarted = daemon.restart();
  await isKilled;
  await cluster.start();
  await restarted;
  expect(await answersWell(daemon)).toBe(true);
});

test('a table that an administrator locks delays turns or refuses them, and then all is well', async () => {
  const daemon = await aDaemon();
  const admin = await administrator(`faults_${made}`);
  await admin.query('BEGIN; LOCK TABLE runs IN ACCESS EXCLUSIVE MODE');
  const unlocked = admin.query(`${asSoonAs(WAITS_FOR_RUNS)}; COMMIT`);
  expect(await ask(daemon, 'Say it. [[text=Late.]]')).toMatchObject({ status: 200, text: 'Late.' });
  await unlocked;
  await admin.query('BEGIN; LOCK TABLE runs IN ACCESS EXCLUSIVE MODE');
  const long = ask(daemon, 'Say it. [[text=Late.]]');
  const { status } = await Promise.race([
    long,
    new Promise<{ status: number }>((resolve) => setTimeout(resolve, 60_000, { status: 0 })),
  ]);
  await admin.query('COMMIT');
  expect(status).toBe(503);
  await waitFor(() => answersWell(daemon), { what: 'turns are answered again' });
});

test('with each answer of the server 200 ms later, and after a network that failed, turns are answered', async () => {
  const own = await startCluster();
  onTestFinished(() => own.close());
  await own.query('postgres', `CREATE DATABASE far OWNER ${ROLE}`);
  const proxy = await startDelayingProxy(own.directory, 100);
  const daemon = await startDaemonProcess({
    modelServerUrl: model.url,
    database: `postgres://${ROLE}@127.0.0.1:${proxy.port}/far?sslmode=disable`,
  });
  onTestFinished(async () => {
    await daemon.close();
    await proxy.close();
  });
  expect(await answersWell(daemon)).toBe(true);
  proxy.cut();
  await waitFor(() => answersWell(daemon), { what: 'turns are answered again' });
});

test('when others have all connections, the daemon goes on with its own', async () => {
  const daemon = await aDaemon();
  expect(await answersWell(daemon)).toBe(true);
  const others = Array.from({ length: 200 }, () => {
    const client = new Client({ host: cluster.directory, port: cluster.port!, user: ROLE, database: 'postgres' });
    client.on('error', () => undefined);
    return client;
  });
  await Promise.allSettled(others.map((client) => client.connect()));
  const answers = await Promise.all(Array.from({ length: 8 }, () => answersWell(daemon)));
  await Promise.allSettled(others.map((client) => client.end()));
  expect(answers.every(Boolean)).toBe(true);
});

test('a dump beside it stops no turn', async () => {
  const daemon = await aDaemon();
  const where = ['-h', cluster.directory, '-p', String(cluster.port), '-U', SUPERUSER, `faults_${made}`];
  let dumped = false;
  const dump = promisify(execFile)(programOf('pg_dump'), where, { maxBuffer: 2 ** 28 }).then(() => (dumped = true));
  do expect(await answersWell(daemon)).toBe(true);
  while (!dumped);
  await dump;
});

test('the password is in no log, error, status or examination', async () => {
  const tls = `?sslmode=verify-full&sslrootcert=${encodeURIComponent(`${cluster.directory}/tls.crt`)}`;
  const daemon = await aDaemon((database) => cluster.tcpUrl(database) + tls);
  expect(await answersWell(daemon)).toBe(true);
  await cluster.stop();
  const { error } = await ask(daemon, 'Say it. [[text=Well.]]');
  await cluster.start();
  await waitFor(() => answersWell(daemon), { what: 'turns are answered again' });
  const status = await daemon.admin('GET', '/api/v1/status');
  await daemon.stop();
  const env = { ERRAND_DATABASE: cluster.tcpUrl('nowhere') + tls };
  const doctor = await runErrand(['doctor', '--data-dir', daemon.dataDir, '-o', 'json'], { env }).catch(
    (thrown: { stdout: string; stderr: string }) => thrown,
  );
  const told = [daemon.stderr(), daemon.stdout(), JSON.stringify([error, status]), doctor.stdout, doctor.stderr];
  for (const words of [PASSWORD, encodeURIComponent(PASSWORD), 'pass@word'])
    expect(told.filter((text) => text.includes(words))).toEqual([]);
});
