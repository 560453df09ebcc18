// `errand users import` against the real daemon.
import { readFileSync, existsSync, statSync, writeFileSync } from 'node:fs';
import { request, type ServerResponse } from 'node:http';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { KeyWire } from '../../../src/wire/people/key.ts';
import type { UserWire } from '../../../src/wire/people/user.ts';
import { type DaemonProcess, runErrand, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { startWebServer } from '../../support/http/web-server.ts';

let daemon: DaemonProcess;

beforeAll(async () => {
  daemon = await startDaemonProcess();
  await errand('teams', 'create', 'Research');
});
afterAll(() => daemon.close());

async function errand<T>(...args: readonly string[]): Promise<T> {
  const { stdout } = await runErrand([...args, '--data-dir', daemon.dataDir, '-o', 'json']);
  return JSON.parse(stdout) as T;
}

interface Imported {
  readonly dry_run: boolean;
  readonly users: readonly { username: string; result: string; fields: string[]; key: string | null; line: number }[];
}

/** Imports a file with this text. */
async function imported(text: string | Buffer, ...args: readonly string[]): Promise<Imported> {
  return errand('users', 'import', fileWith(text), ...args);
}

function fileWith(text: string | Buffer): string {
  const file = path.join(temporaryDirectory(), 'people.csv');
  writeFileSync(file, text);
  return file;
}

async function refused(text: string | Buffer, ...args: readonly string[]): Promise<{ code: number; stderr: string }> {
  const before = await usernames();
  const ended = await runErrand(['users', 'import', fileWith(text), ...args, '--data-dir', daemon.dataDir]).then(
    () => ({ code: 0, stderr: '' }),
    (error: { code: number; stderr: string }) => error,
  );
  expect(await usernames()).toEqual(before);
  return ended;
}

const usernames = async () =>
  (await errand<{ items: UserWire[] }>('users', 'list')).items.map(({ username }) => username);

const results = ({ users }: Imported) => new Set(users.map(({ result }) => result));

test('two hundred users are created with passwords and keys that work, and the same file changes nothing more', async () => {
  const rows = Array.from({ length: 200 }, (_, n) => `user${n},"User ${n}, the great",Mill,${n % 2 ? 'Research' : ''}`);
  const text = `username,Full Name,department,team\n${rows.join('\n')}\n`;
  const planned = await imported(text, '--dry-run', '--keys', 'global');
  expect(planned).toMatchObject({ dry_run: true });
  expect(results(planned)).toEqual(new Set(['created']));
  expect(await usernames()).toHaveLength(1);

  const credentials = path.join(temporaryDirectory(), 'credentials.csv');
  const done = await imported(text, '--keys', 'global', '--credentials', credentials);
  expect(done.users).toHaveLength(200);
  expect(statSync(credentials).mode & 0o777).toBe(0o600);
  const lines = readFileSync(credentials, 'utf8').trim().split('\n');
  expect(lines[0]).toBe('username,password,key');
  expect(lines).toHaveLength(201);
  const [username, password, key] = lines[8]!.split(',');
  expect(username).toBe('user7');
  expect(await errand('users', 'show', 'user7')).toMatchObject({ full_name: 'User 7, the great', team: 'Research' });
  const logIn = (body: object, headers: object = {}) =>
    fetch(`${daemon.url}/openapi/v1/auth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  expect((await logIn({ grant_type: 'password', username, password })).status).toBe(200);
  expect((await logIn({ grant_type: 'api_key' }, { authorization: `Bearer ${key}` })).status).toBe(200);

  const again = path.join(temporaryDirectory(), 'again.csv');
  const second = await imported(text, '--keys', 'global', '--credentials', again);
  expect(results(second)).toEqual(new Set(['unchanged']));
  expect(second.users.every((one) => one.key === null)).toBe(true);
  expect(existsSync(again)).toBe(false);
});

test('a row changes what differs, an empty cell leaves its field, and none clears', async () => {
  await imported('username;full_name;team\nmara;Mara Stone;Research\n');
  const changed = await imported('\uFEFFusername;full_name;team;department\r\nmara;;none;Mill\r\n');
  expect(changed.users).toMatchObject([{ line: 2, result: 'changed', fields: ['department', 'team'] }]);
  expect(await errand('users', 'show', 'mara')).toMatchObject({
    full_name: 'Mara Stone',
    team: null,
    department: 'Mill',
  });
});

test('every wrong line is named with its column, and nothing is done', async () => {
  const { code, stderr } = await refused(
    'username,role,team,scenario\nnils,user,,\n"bad name",user,,\nolga,king,,\nOlaf,user,,\n',
  );
  expect(code).toBe(2);
  expect(stderr).toMatch(/people\.csv:3: username: /);
  expect(stderr).toMatch(/people\.csv:4: role: /);
  const second = await refused(
    `username,role,team,scenario\nnils,,,\nNILS,,,\nMARA,,,\n${daemon.adminName},user,,\npia,,Nowhere,\nrolf,,,nothing\n`,
  );
  expect(second.code).toBe(2);
  for (const words of [
    /:3: username: .*before/,
    /:4: username: looks like mara/,
    /:5: role: /,
    /:6: team: /,
    /:7: scenario: /,
  ])
    expect(second.stderr).toMatch(words);
});

test.each([
  ['a file that is not UTF-8', Buffer.from('username,full_name\nx,J\xf6rg\n', 'latin1'), /not UTF-8/],
  ['a column that nobody knows', 'username,shoe size\nx,9\n', /no column shoe_size/],
  ['no usernames', 'full_name\nx\n', /column username/],
  ['a quote that never ends', 'username,full_name\nx,"y\n', /:\d+: .*[Qq]uote/],
  ['a line with a cell too many', 'username,full_name\nx,y,z\n', /:2: /],
  ['too many rows', `username\n${Array.from({ length: 1_001 }, (_, n) => `m${n}`).join('\n')}\n`, /at most 1000/],
  ['a file that is too large', `username\n${' '.repeat(1_100_000)}`, /larger than/],
])('%s is refused', async (_, text, words) => {
  const { code, stderr } = await refused(text);
  expect(code).toBe(2);
  expect(stderr).toMatch(words);
});

test('keys need a file, and never replace one', async () => {
  expect(await refused('username\nzoe\n', '--keys', 'global')).toMatchObject({ code: 2 });
  const there = fileWith('mine');
  expect(await refused('username\nzoe\n', '--credentials', there)).toMatchObject({ code: 6 });
  expect(readFileSync(there, 'utf8')).toBe('mine');
});

test('a key is for the user of the row, also where the username is the id of another', async () => {
  const { user_id: username } = await errand<UserWire>('users', 'create', 'wanda');
  const credentials = path.join(temporaryDirectory(), 'credentials.csv');
  const { users } = await imported(`username\n${username}\n`, '--keys', 'global', '--credentials', credentials);
  const { items } = await errand<{ items: KeyWire[] }>('keys', 'list');
  expect(items.find(({ id: made }) => made === users[0]!.key)).toMatchObject({ username });
});

/** An address that leads to the daemon, but keeps the reply to the fifth user that is created. `stuck`: once the daemon has given it. */
async function startHolder() {
  const { promise: stuck, resolve } = Promise.withResolvers<ServerResponse>();
  let creations = 0;
  const { url } = await startWebServer((req, res) => {
    const { method, url: asked = '', headers } = req;
    if (method === 'POST' && asked === '/api/v1/users') creations += 1;
    const passed = request(daemon.url + asked, { method, headers, agent: false }, (reply) => {
      if (creations === 5) return resolve(res);
      res.writeHead(reply.statusCode!, reply.headers);
      reply.pipe(res);
    });
    req.pipe(passed.on('error', () => res.destroy()));
  });
  return { url, stuck };
}

test('an import that breaks off says how it continues, and does', async () => {
  const rows = Array.from({ length: 100 }, (_, n) => `late${n}`);
  const file = fileWith(`username\n${rows.join('\n')}\n`);
  const [first, second] = ['one.csv', 'two.csv'].map((name) => path.join(temporaryDirectory(), name));
  const importing = (credentials: string, ...place: readonly string[]) =>
    runErrand(['users', 'import', file, '--credentials', credentials, ...place]);
  const { url, stuck } = await startHolder();
  const token = path.join(temporaryDirectory({ token: daemon.apiKey }), 'token');
  const broken = importing(first!, '--url', url, '--token-file', token).catch((error: { stderr: string }) => error);
  const reply = await stuck;
  await daemon.kill();
  reply.destroy();
  expect((await broken).stderr).toContain('The same command with another file for --credentials continues.');
  await daemon.restart();
  await importing(second!, '--data-dir', daemon.dataDir);
  const linesOf = (of: string) => readFileSync(of, 'utf8').trim().split('\n');
  expect(linesOf(first!)).toHaveLength(5);
  const names = new Set([...linesOf(first!), ...linesOf(second!)].map((line) => line.split(',')[0]));
  // The one in progress was created without an answer.
  expect(names.size).toBeGreaterThanOrEqual(100);
  expect(await usernames()).toEqual(expect.arrayContaining(rows));
});
