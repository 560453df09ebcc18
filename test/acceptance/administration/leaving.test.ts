// A user leaves: what is theirs is shown, handed over or deleted, with the real daemon and its commands.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { HoldingsWire, LeaveProgressWire } from '../../../src/wire/people/leaving.ts';
import type { UserWire } from '../../../src/wire/people/user.ts';
import { rowsOf } from '../../support/daemon/daemon-look.ts';
import { runErrand } from '../../support/daemon/daemon-process.ts';
import { type PublishedFixture, startPublishedFixture } from '../../support/publishing/published-fixture.ts';

let fixture: PublishedFixture;

beforeAll(async () => {
  fixture = await startPublishedFixture();
});
afterAll(() => fixture.daemon.close());

async function errand<T>(...args: readonly string[]): Promise<T> {
  const { stdout } = await runErrand([...args, '--data-dir', fixture.daemon.dataDir, '-o', 'json']);
  return JSON.parse(stdout) as T;
}

const failing = (...args: readonly string[]) =>
  errand(...args).then(
    () => ({ code: 0, stderr: '' }),
    (error: { code: number; stderr: string }) => error,
  );

const counts = ({ holdings }: HoldingsWire) => Object.fromEntries(holdings.map(({ kind, count }) => [kind, count]));
const NOTHING = {
  key: 0,
  connection: 0,
  webhook: 0,
  scheduled_task: 0,
  page: 0,
  session: 0,
  unfinished_run: 0,
};

/** A user with one thing of each kind, and a page that everybody can read. */
async function employee(username: string) {
  const { key } = await errand<{ key: string }>('users', 'create', username).then(() =>
    errand<{ key: string }>('keys', 'create', '--user', username, '--scope', 'global', '--name', 'laptop'),
  );
  const grant = { grant_type: 'api_key' };
  const headers = { authorization: `Bearer ${key}` };
  const { json } = await fixture.read('/openapi/v1/auth/token', { method: 'POST', body: grant, headers });
  const person = { username, key, token: json.access_token as string };
  const session = await fixture.write(person, { '/site/index.html': '<h1>Tides</h1>', '/secret.txt': 'mine' });
  const page = { session_id: session, name: 'Tides', entry_path: '/site/index.html', public_to_board_enabled: true };
  const { data } = await fixture.manage(person, 'POST', '/publishes', page);
  const task = { name: 'News', cron: '0 7 * * *', timezone: 'UTC', prompt: 'Say it.' };
  await fixture.manage(person, 'POST', '/scheduled-tasks', task);
  const webhook = { name: 'Ledger', url: 'https://1.1.1.1/hook', events: ['session.completed'] };
  expect((await fixture.manage(person, 'POST', '/webhooks', webhook)).status).toBe(201);
  return { person, session, pageKey: data.publish_key as string, code: data.latest_share_code as string };
}

const statusOf = async (path: string) => (await fixture.read(path)).status;
const board = async () => (await fixture.read('/api/v1/public/publishes')).text;

test('pages of a disabled user are not public, and are again once the user is enabled', async () => {
  const { person, pageKey, code } = await employee('nils');
  const locations = [
    `/api/v1/public/publishes/${pageKey}`,
    `/api/v1/public/publishes/${pageKey}/versions`,
    `/api/v1/public/shares/${code}/metadata`,
    `/api/v1/public/shares/${code}/content`,
    `/share/p/${pageKey}`,
    `/share/${code}`,
  ];
  const statuses = () => Promise.all(locations.map(statusOf));
  const before = await statuses();
  expect(before.every((status) => status < 400)).toBe(true);
  expect(await board()).toContain(pageKey);
  await errand('users', 'disable', person.username, '--yes');
  expect(new Set(await statuses())).toEqual(new Set([404]));
  expect(await board()).not.toContain(pageKey);
  await errand('users', 'enable', person.username);
  expect(await statuses()).toEqual(before);
});

test('what a user has is shown without changing anything', async () => {
  const { person } = await employee('alice');
  const shown = await errand<HoldingsWire>('users', 'leave', 'alice');
  expect(counts(shown)).toEqual({ ...NOTHING, key: 1, webhook: 1, scheduled_task: 1, page: 1, session: 1 });
  expect(shown.holdings.find(({ kind }) => kind === 'page')).toMatchObject({ names: ['Tides'] });
  expect(shown.disabled).toBe(false);
  expect((await fixture.manage(person, 'GET', '/publishes')).status).toBe(200);
});

test('tasks and pages are handed over, access ends, and sessions stay until they are deleted', async () => {
  const { person, session, pageKey, code } = await employee('carl');
  const heir = fixture.ben;
  const done = await errand<LeaveProgressWire>('users', 'leave', 'carl', '--hand-over-to', 'ben', '--yes');
  expect(done).toMatchObject({ done: true, disabled: true, settled: 4 });
  expect(counts(done)).toEqual({ ...NOTHING, session: 1 });
  expect((await fixture.manage(person, 'GET', '/publishes')).status).toBe(403);

  expect(await statusOf(`/share/${code}`)).toBe(200);
  expect((await fixture.read('/api/v1/public/publishes?account=ben')).text).toContain(pageKey);
  expect((await fixture.read('/api/v1/public/publishes?account=carl')).text).not.toContain(pageKey);
  const pages = (await fixture.manage(heir, 'GET', '/publishes')).data.items as { publish_key: string }[];
  expect(pages.map(({ publish_key: key }) => key)).toEqual([pageKey]);
  expect((await fixture.manage(heir, 'GET', `/shares/${code}`)).status).toBe(200);
  const tasks = (await fixture.manage(heir, 'GET', '/scheduled-tasks')).data.items as { enabled: boolean }[];
  expect(tasks).toMatchObject([{ name: 'News', enabled: true, next_fires_at: expect.anything() }]);
  // The other files of the session are not the heir's.
  expect((await fixture.manage(heir, 'GET', `/sessions/${session}`)).status).toBeGreaterThanOrEqual(400);
  const release = { entry_path: '/secret.txt' };
  expect((await fixture.manage(heir, 'POST', `/publishes/${pageKey}/versions`, release)).status).toBe(409);
  expect((await fixture.manage(heir, 'DELETE', `/publishes/${pageKey}`)).status).toBeLessThan(300);
  expect(await statusOf(`/share/${code}`)).toBe(404);

  const rest = await errand<LeaveProgressWire>('users', 'leave', 'carl', '--delete', '--yes');
  expect(counts(rest)).toEqual(NOTHING);
  const { items } = await errand<{ items: { action: string }[] }>('audit', 'list', '--limit', '50');
  const actions = items.map(({ action }) => action);
  const expected = [
    'user.leave',
    'key.revoke',
    'webhook.delete',
    'scheduled_task.change',
    'page.change',
    'session.delete',
  ];
  expect(actions).toEqual(expect.arrayContaining(expected));
  expect(await errand<UserWire>('users', 'show', 'carl')).toMatchObject({ disabled: true, team: null });
});

test('more than one request settles everything, also after a crash between two', async () => {
  const { person, session } = await employee('dora');
  for (let n = 0; n < 3; n += 1) await fixture.write(person, { '/a.txt': 'a' });
  const keys = Array.from({ length: 110 }, () => ({ user: 'dora', scope: 'conversation' }));
  for (const key of keys) await fixture.daemon.admin('POST', '/api/v1/keys', key);
  const ask = () => fixture.daemon.admin('POST', '/api/v1/users/dora/leave', { delete: true });
  expect(await ask()).toMatchObject({ settled: 100, done: false });
  await fixture.daemon.kill();
  await fixture.daemon.restart();
  const done = await errand<LeaveProgressWire>('users', 'leave', 'dora', '--delete', '--yes');
  expect(done).toMatchObject({ done: true, settled: 18 });
  expect(counts(done)).toEqual(NOTHING);
  expect(rowsOf(fixture.daemon, `SELECT deleted_at IS NOT NULL AS gone FROM sessions WHERE id = '${session}'`)).toEqual(
    [{ gone: 1 }],
  );
  expect(await ask()).toMatchObject({ settled: 0, done: true });
});

test('what an heir has got is not settled again by a request that came at the same time', async () => {
  const { pageKey } = await employee('emil');
  const leave = (body: object) =>
    fixture.daemon.admin('POST', '/api/v1/users/emil/leave', body) as Promise<LeaveProgressWire>;
  const [given, deleted] = await Promise.all([leave({ hand_over_to: 'ben' }), leave({ delete: true })]);
  expect(given.settled + deleted.settled).toBe(5);
  const pages = (await fixture.manage(fixture.ben, 'GET', '/publishes')).data.items as { publish_key: string }[];
  expect(pages.some(({ publish_key: key }) => key === pageKey)).toBe(given.settled > 0);
});

test('nobody settles themselves, the last administrator, or for somebody who can not have it', async () => {
  const leave = (body: object, who = 'mara') => fixture.daemon.admin('POST', `/api/v1/users/${who}/leave`, body);
  await expect(leave({})).rejects.toThrow('400');
  await expect(leave({ hand_over_to: 'mara' })).rejects.toThrow('409');
  await expect(leave({ hand_over_to: 'carl' })).rejects.toThrow('409');
  await expect(leave({ hand_over_to: 'nobody' })).rejects.toThrow('404');
  await expect(leave({ delete: true }, fixture.daemon.adminName)).rejects.toThrow('409');
  expect(await failing('users', 'leave', fixture.daemon.adminName, '--delete', '--yes')).toMatchObject({ code: 6 });
  expect(await failing('users', 'leave', 'mara', '--delete')).toMatchObject({ code: 2 });
  expect(await errand<UserWire>('users', 'show', 'mara')).toMatchObject({ disabled: false });
});
