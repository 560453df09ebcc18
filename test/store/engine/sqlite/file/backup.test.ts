import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Connection from 'better-sqlite3';
import { expect, onTestFinished, test, vi } from 'vitest';
import { backUp } from '../../../../../src/store/engine/sqlite/file/backup.ts';
import { type MigrationStep, OLDEST_SCHEMA as OLDEST, SCHEMA_VERSION } from '../../../../../src/store/engine/schema.ts';
import { migrate } from '../../../../../src/store/engine/sqlite/migrate.ts';
import { temporaryDirectory } from '../../../../support/files/temporary-directory.ts';
import { olderDatabase } from '../../../../support/store/older-database.ts';
import { waitFor } from '../../../../support/time/wait-for.ts';

const MAIN = fileURLToPath(new URL('backup-main.ts', import.meta.url));
const BACKUP = `.v${OLDEST}.backup`;

/** A database of the oldest schema that is migrated, with rows in it. */
async function oldDatabase(rows = 200): Promise<string> {
  const file = join(temporaryDirectory(), 'errand.db');
  await olderDatabase(file);
  const connection = new Connection(file);
  // Without a log beside it, so that what is left is easy to see.
  connection.pragma('journal_mode = DELETE');
  const insert = connection.prepare('INSERT INTO teams (id, name, created_at, updated_at) VALUES (?, ?, 0, 0)');
  connection.transaction(() => {
    for (let at = 0; at < rows; at += 1) insert.run(`team ${at}`, 'x'.repeat(5_000) + String(at));
  })();
  connection.close();
  return file;
}

function openFile(file: string, options: Connection.Options = {}): Connection.Database {
  const connection = new Connection(file, options);
  onTestFinished(() => void connection.close());
  return connection;
}

/** The content of a backup; throws when it isn't complete. */
function readBackup(file: string): { version: unknown; teams: unknown; state: unknown } {
  const copy = openFile(`${file}${BACKUP}`, { readonly: true });
  return {
    version: copy.pragma('user_version', { simple: true }),
    teams: copy.prepare('SELECT count(*) FROM teams').pluck().get(),
    state: copy.pragma('integrity_check', { simple: true }),
  };
}

test('a database is copied before its schema changes, and nothing else is left next to it', async () => {
  const file = await oldDatabase();
  const connection = openFile(file);
  migrate(connection, file);
  expect(connection.pragma('user_version', { simple: true })).toBe(SCHEMA_VERSION);
  expect(readBackup(file)).toEqual({ version: OLDEST, teams: 200, state: 'ok' });
  expect(readdirSync(dirname(file)).toSorted()).toEqual(['errand.db', `errand.db${BACKUP}`]);
  expect(statSync(file + BACKUP).mode & 0o777).toBe(0o600);
});

test.each([
  { left: 'an empty file', bytes: Buffer.alloc(0) },
  { left: 'half a copy', bytes: Buffer.alloc(40_000, 1) },
])('$left of a start that was killed is not taken for the backup', async ({ bytes }) => {
  const file = await oldDatabase();
  for (const name of [BACKUP, `${BACKUP}.new`]) writeFileSync(file + name, bytes);
  migrate(openFile(file), file);
  expect(readBackup(file)).toEqual({ version: OLDEST, teams: 200, state: 'ok' });
  expect(existsSync(`${file}${BACKUP}.new`)).toBe(false);
});

test('killed in the middle of the copy, a start leaves a whole backup under its name or none', async () => {
  const file = await oldDatabase(2_000);
  const target = file + BACKUP;
  for (let round = 0; round < 4; round += 1) {
    const child = fork(MAIN, [file, target], { silent: true });
    const ended = once(child, 'exit');
    await waitFor(() => existsSync(`${target}.new`), { everyMs: 1 });
    child.kill('SIGKILL');
    await ended;
    if (existsSync(target)) expect(readBackup(file)).toEqual({ version: OLDEST, teams: 2_000, state: 'ok' });
  }
  migrate(openFile(file), file);
  expect(readBackup(file)).toEqual({ version: OLDEST, teams: 2_000, state: 'ok' });
});

test('a copy that cannot be written changes nothing, and the refusal names the file', async () => {
  const file = await oldDatabase();
  const connection = openFile(file);
  vi.spyOn(connection, 'prepare').mockImplementationOnce(() => {
    throw new Error('database or disk is full');
  });
  expect(() => migrate(connection, file)).toThrow(/errand\.db\.v35\.backup .*disk is full.*Nothing was changed/);
  expect(connection.pragma('user_version', { simple: true })).toBe(OLDEST);
  expect(readdirSync(dirname(file))).toEqual(['errand.db']);
});

test('a copy that is damaged does not get the name', async () => {
  const file = await oldDatabase();
  const connection = openFile(file);
  const { prepare } = connection;
  vi.spyOn(connection, 'prepare').mockImplementation((sql: string) => {
    if (!sql.startsWith('VACUUM INTO')) return prepare.call(connection, sql) as never;
    return { run: (target: string) => writeFileSync(target, 'half of it') } as never;
  });
  expect(() => backUp(connection, `${file}${BACKUP}`)).toThrow(/file is not a database/);
  expect(readdirSync(dirname(file))).toEqual(['errand.db']);
});

test('each step is announced before it begins, with the size of the database; a new file has none', async () => {
  const file = await oldDatabase();
  const { size } = statSync(file);
  const steps: MigrationStep[] = [];
  const existing: boolean[] = [];
  migrate(openFile(file), file, (step) => {
    steps.push(step);
    existing.push(existsSync(file + BACKUP));
  });
  expect(steps.slice(0, 3)).toEqual([
    { kind: 'copy', from: OLDEST, to: SCHEMA_VERSION, bytes: size },
    { kind: 'change', from: OLDEST, to: OLDEST + 1, bytes: size },
    { kind: 'change', from: OLDEST + 1, to: OLDEST + 2, bytes: size },
  ]);
  expect(steps).toHaveLength(SCHEMA_VERSION - OLDEST + 1);
  expect(existing.slice(0, 2)).toEqual([false, true]);

  const empty = join(dirname(file), 'empty.db');
  migrate(openFile(empty), empty, () => expect.unreachable());
});
