// The real `errand store copy`: both ways with a daemon in between, and killed again and again.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Connection from 'better-sqlite3';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { SCHEMA_VERSION } from '../../../src/store/engine/schema.ts';
import { runErrand, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { BINARY } from '../../support/daemon/initialized.ts';
import { takeTurn } from '../../support/daemon/turn.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { type ModelServer, startModelServer } from '../../support/model/model-server.ts';
import { type Cluster, ROLE, startCluster, SUPERUSER } from '../../support/postgres/cluster.ts';
import { dumpFile } from '../../support/store/dump-file.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let cluster: Cluster;
let model: ModelServer;
let made = 0;

beforeAll(async () => {
  cluster = await startCluster({ tcp: { password: 'a pass@word/of its own' } });
  model = await startModelServer();
});
afterAll(async () => {
  await model.close();
  await cluster.close();
});

async function emptyDatabase(): Promise<string> {
  const name = `copied_${(made += 1)}`;
  await cluster.query('postgres', `CREATE DATABASE ${name} OWNER ${ROLE}`);
  return name;
}

const sha256 = (file: string) => createHash('sha256').update(readFileSync(file)).digest('hex');

test('a conversation goes on after its rows moved to SQLite, and to another database', async () => {
  const first = await emptyDatabase();
  const daemon = await startDaemonProcess({ modelServerUrl: model.url, database: cluster.url(first) });
  onTestFinished(() => daemon.close());
  const file = join(daemon.dataDir, 'errand.db');
  const say = (sessionId: string | null) => takeTurn(daemon, { content: 'Say it. [[text=Well.]]', sessionId });
  const { sessionId } = await say(null);

  await daemon.stop();
  const copy = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    runErrand(['store', 'copy', '--data-dir', daemon.dataDir, ...args], { env });
  const there = await copy(['--to', file], { ERRAND_DATABASE: cluster.url(first) });
  expect(there.stdout).toMatch(/^messages\t2\t[0-9a-f]{64}$/m);
  expect(there.stderr).toMatch(/Next: remove database and database_file from .+errand\.yaml, and start the daemon\./);
  await daemon.restart({ env: { ERRAND_DATABASE: '' } });
  expect(await say(sessionId)).toMatchObject({ status: 200, text: 'Well.', sessionId });

  await daemon.stop();
  const second = await emptyDatabase();
  const address = join(daemon.configDir, 'database');
  writeFileSync(address, `${cluster.tcpUrl(second)}\n`, { mode: 0o600 });
  const back = await copy(['--to-file', address, '-o', 'json']);
  const { tables } = JSON.parse(back.stdout) as { tables: { table: string; rows: number }[] };
  expect(tables.find(({ table }) => table === 'messages')?.rows).toBe(4);
  expect(back.stdout + back.stderr).not.toContain('pass');
  expect(back.stderr).toContain('Next: name it as database or database_file');
  await daemon.restart({ env: { ERRAND_DATABASE: '', ERRAND_DATABASE_FILE: address } });
  expect(await say(sessionId)).toMatchObject({ status: 200, text: 'Well.', sessionId });
  expect(await cluster.query(second, 'SELECT count(*)::int AS n FROM messages')).toEqual([{ n: 6 }]);
  await daemon.stop();
  await expect(copy(['--to-file', address], { ERRAND_DATABASE: cluster.url(first) })).rejects.toMatchObject({
    stderr: expect.stringContaining('is not empty: an Errand stores its rows there') as string,
  });
  const third = cluster.url(await emptyDatabase());
  expect((await copy(['--from', file, '--to', third], { ERRAND_DATABASE: third })).stderr).toContain(
    'Next: start the daemon.',
  );
});

/** Rows that take some seconds to copy. */
function addMany(file: string): void {
  const connection = new Connection(file);
  connection.exec(
    "INSERT INTO sessions (id, user_seq, kind, title, status, created_at, updated_at) VALUES ('s', 1, 'api', '', 'pending', 1, 1)",
  );
  const add = connection.prepare(
    "INSERT INTO events (session_seq, type, payload, created_at) VALUES (1, 'session.updated', ?, ?)",
  );
  const text = 'ä'.repeat(400);
  connection.transaction(() => {
    for (let no = 0; no < 30_000; no += 1) add.run(JSON.stringify({ no, text }), no);
  })();
  connection.close();
}

/** Begins a copy, and resolves when it has reached a point that it can't pass while the administrator's connection is there. */
type Point = (admin: Client, begin: () => void) => Promise<unknown>;

/** What the copy notes in the database that it copies to. */
const NOTES = `store_copy_${SCHEMA_VERSION}`;

/** A query is true of the database. The server itself takes the notes away then: the copy may need less time than a look. */
const when: (query: string) => Point = (query) => async (admin, begin) => {
  const held = admin.query(`BEGIN; DO $$ DECLARE is_so BOOLEAN := false; BEGIN
      WHILE NOT is_so LOOP
        PERFORM pg_sleep(0.01);
        IF EXISTS (SELECT FROM pg_class WHERE relname = '${NOTES}') THEN EXECUTE $query$${query}$query$ INTO is_so; END IF;
      END LOOP;
    END $$; LOCK TABLE ${NOTES}, ${NOTES}_rest`);
  begin();
  await held;
};

/** Runs a copy to its end, which it reaches by killing it once at each of these points of a database first. */
async function copyThrough(args: readonly string[], database: string, points: readonly Point[]) {
  for (const reach of points) {
    const admin = new Client({ host: cluster.directory, port: cluster.port!, user: SUPERUSER, database });
    await admin.connect();
    onTestFinished(() => admin.end());
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const reached = reach(admin, begin);
    await begun;
    const child = spawn(BINARY, ['store', 'copy', ...args], { stdio: 'ignore' });
    const ended = once(child, 'exit');
    await Promise.race([reached, ended]);
    child.kill('SIGKILL');
    expect(await ended).toEqual([null, 'SIGKILL']);
    await admin.end();
  }
  return runErrand(['store', 'copy', ...args]);
}

test('killed again and again, it continues, and the rows are the same there and back', async () => {
  const dataDir = join(temporaryDirectory(), 'data');
  await runErrand(['init', '--data-dir', dataDir, '--admin', 'admin']);
  const file = join(dataDir, 'errand.db');
  addMany(file);
  const [before, rows] = [sha256(file), dumpFile(file)];
  const name = await emptyDatabase();
  const eventsThere = async () =>
    (await cluster.query<{ n: number }>(name, 'SELECT count(*)::int AS n FROM events').catch(() => []))[0]?.n ?? 0;
  const more =
    (by: number): Point =>
    async (...copy) =>
      when(`SELECT count(*) >= least(${(await eventsThere()) + by}, 30000) FROM events`)(...copy);
  const indexed = when("SELECT count(*) > 1 FROM pg_indexes WHERE tablename = 'events' AND indexname <> 'events_pkey'");
  await copyThrough(['--data-dir', dataDir, '--to', cluster.url(name)], name, [more(1), more(5_000), indexed]);
  expect(sha256(file)).toBe(before);
  expect(await eventsThere()).toBe(30_000);

  const copied = join(temporaryDirectory(), 'errand.db');
  const unfinished = () => readdirSync(join(copied, '..')).filter((one) => one !== 'errand.db');
  const isBegun: Point = async (admin, begin) => {
    await admin.query('BEGIN; LOCK TABLE events');
    begin();
    await waitFor(() => unfinished().length > 0);
  };
  await copyThrough(['--data-dir', dataDir, '--from', cluster.url(name), '--to', copied], name, [isBegun, isBegun]);
  expect(unfinished()).toEqual([]);
  expect(existsSync(copied)).toBe(true);
  expect(dumpFile(copied)).toEqual(rows);
  expect(await eventsThere()).toBe(30_000);
});
