// Pages and shares as their owners manage them (F7), asked of a real daemon with every kind of credential.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Json,
  type Person,
  type PublishedFixture,
  startPublishedFixture,
} from '../../support/publishing/published-fixture.ts';

const UNKNOWN = '0190f6a0-0000-7000-8000-000000000009';

let fixture: PublishedFixture;
let session: string;
let sessionOfBen: string;
let key: string;
let code: string;

const asMara = (method: string, path: string, body?: unknown) => fixture.manage(fixture.mara, method, path, body);
const page = (over: object = {}) => ({ name: 'Tides', session_id: session, entry_path: '/site/index.html', ...over });
const dayFromNow = () => new Date(Date.now() + 86_400_000).toISOString();

beforeAll(async () => {
  fixture = await startPublishedFixture();
  session = await fixture.write(fixture.mara, { '/site/index.html': '<h1>Tides</h1>', '/top.md': '# Top' });
  sessionOfBen = await fixture.write(fixture.ben, { '/site/index.html': '<h1>Ebb</h1>' });
  const workspace = join(fixture.daemon.dataDir, 'workspaces', session);
  mkdirSync(join(workspace, 'site/folder.html'));
  mkdirSync(join(workspace, 'uploads'), { recursive: true });
  writeFileSync(join(workspace, 'uploads/sent.txt'), 'sent');
  writeFileSync(join(workspace, '.hidden.html'), 'hidden');
  symlinkSync('index.html', join(workspace, 'site/link.html'));
  await fixture.write(fixture.mara, { '/site/more.txt': 'more' }, session);
  const { data } = await asMara('POST', '/publishes', page());
  [key, code] = [data.publish_key, data.latest_share_code];
});
afterAll(async () => {
  await fixture.daemon.close();
});

test('a page is created with its defaults, and returned as its detail', {
  tags: ['F1-source', 'F7-create', 'F8-keys'],
}, async () => {
  const { status, json } = await asMara('POST', '/publishes', page({ name: 'Defaults' }));
  expect([status, json.code]).toEqual([201, 0]);
  expect(json.data).toMatchObject({
    publish_key: expect.stringMatching(/^[0-9A-Za-z]{16}$/),
    name: 'Defaults',
    description: null,
    category: null,
    origin: 'existing_session',
    tags: [],
    public_to_board_enabled: false,
    latest_share_code: expect.stringMatching(/^[0-9A-Za-z]{22}$/),
    latest_entry_path: '/site/index.html',
    latest_published_at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
    distraction_free_mode_enabled: false,
    share_type: 'page',
    workspace_file: { name: 'index.html', path: '/site/index.html' },
    publish_center_id: expect.any(Number),
    session_id: session,
    scheduled_task_id: null,
    version_count: 1,
  });
  expect(json.data.page_url).toBe(`${fixture.daemon.url}/share/p/${json.data.publish_key}`);
  expect(json.data.latest_share_url).toBe(`${fixture.daemon.url}/share/${json.data.latest_share_code}`);
});

test.each([
  ['a missing entry', { entry_path: '/site/none.html' }],
  ['a folder', { entry_path: '/site' }],
  ['a folder named as a file', { entry_path: '/site/folder.html' }],
  ['a link', { entry_path: '/site/link.html' }],
  ['a hidden file', { entry_path: '/.hidden.html' }],
  ['an entry in another case', { entry_path: '/Site/index.html' }],
  ['an entry outside', { entry_path: '/../site/index.html' }],
  ['an entry with dots', { entry_path: '/site/./index.html' }],
  ['an entry with two slashes', { entry_path: '//site/index.html' }],
  ['an entry with an end that is a slash', { entry_path: '/site/index.html/' }],
  ['an entry without its slash', { entry_path: 'site/index.html' }],
  ['an entry with a backslash', { entry_path: '/site\\index.html' }],
  ['an entry with NUL', { entry_path: '/site/index.html\0' }],
  ['an empty entry', { entry_path: '' }],
  ['an entry that is too long', { entry_path: `/${'x'.repeat(1_100)}` }],
  ['no entry', { entry_path: undefined }],
  ['no name', { name: undefined }],
  ['an empty name', { name: '' }],
  ['a name that is too long', { name: 'x'.repeat(201) }],
  ['a name of two lines', { name: 'a\nb' }],
  ['a name that is a number', { name: 5 }],
  ['no source', { session_id: undefined }],
  ['two sources', { scheduled_task_id: UNKNOWN }],
  ['a session that is no UUID', { session_id: 'abc' }],
  ['tags that are a text', { tags: 'sea' }],
  ['a tag twice', { tags: ['sea', 'sea'] }],
  ['an empty tag', { tags: [''] }],
  ['21 tags', { tags: Array.from({ length: 21 }, (_, i) => `t${i}`) }],
  ['a tag that is too long', { tags: ['x'.repeat(51)] }],
  ['a category that is too long', { category: 'x'.repeat(51) }],
  ['a description that is too long', { description: 'x'.repeat(2_001) }],
  ['a board that is a word', { public_to_board_enabled: 'true' }],
  ['a mode that is a number', { distraction_free_mode_enabled: 1 }],
])('with %s no page is created', { tags: ['F7-create', 'F7-entry'] }, async (_, over) => {
  const before = (await asMara('GET', '/publishes')).data.total;
  const { status, json } = await asMara('POST', '/publishes', page(over));
  expect([status, json]).toEqual([422, { code: 422, message: expect.any(String), data: null }]);
  expect((await asMara('GET', '/publishes')).data.total).toBe(before);
});

test.each([
  ['an unknown session', () => ({ session_id: UNKNOWN }), 404],
  ['an unknown task', () => ({ session_id: undefined, scheduled_task_id: UNKNOWN }), 404],
  ['a session of another user', () => ({ session_id: sessionOfBen }), 403],
] as const)('of %s no page is created', { tags: ['F7-create'] }, async (_, over, status) => {
  expect((await asMara('POST', '/publishes', page(over()))).status).toBe(status);
});

test('fields that nobody knows are ignored, and the longest are taken', { tags: ['§9-unknown-fields'] }, async () => {
  const longest = {
    name: 'é'.repeat(200),
    description: 'x'.repeat(2_000),
    category: 'x'.repeat(50),
    tags: Array.from({ length: 20 }, (_, i) => `${i}`.padStart(50, 'x')),
    unknown: { a: 1 },
  };
  expect((await asMara('POST', '/publishes', page(longest))).status).toBe(201);
});

test('an entry in uploads is taken, and so is one at the root, which has the rest of the workspace', {
  tags: ['F11-folder'],
}, async () => {
  const upload = await asMara('POST', '/publishes', page({ entry_path: '/uploads/sent.txt' }));
  expect([upload.status, upload.data.share_type]).toEqual([201, 'file']);
  const { data } = await asMara('POST', '/publishes', page({ entry_path: '/top.md' }));
  const tree = await fixture.read(`/api/v1/public/publishes/${data.publish_key}/versions/1/files`);
  expect(tree.data.map(({ path }: { path: string }) => path)).toEqual(['/site', '/top.md']);
});

describe('who may', () => {
  const endpoints = [
    { method: 'GET', path: () => `/publishes/${key}` },
    { method: 'PATCH', path: () => `/publishes/${key}`, body: { description: 'Changed' } },
    { method: 'GET', path: () => `/publishes/${key}/versions` },
    { method: 'POST', path: () => `/publishes/${key}/versions`, body: {} },
    { method: 'GET', path: () => `/shares/${code}` },
    { method: 'PATCH', path: () => `/shares/${code}`, body: { expires_at: null } },
  ];

  test.each(endpoints)(
    'one may $method one’s own, an administrator everybody’s, others 403',
    { tags: ['F7-access'] },
    async ({ method, path, body }) => {
      const { daemon, mara, ben } = fixture;
      const asked = async (authorization: string | undefined) =>
        (
          await fixture.read(`/api/v1${path()}`, {
            method,
            body,
            headers: authorization === undefined ? {} : { authorization },
          })
        ).status;
      const fine = method === 'POST' ? 201 : 200;
      expect(await asked(`Bearer ${mara.token}`)).toBe(fine);
      expect(await asked(`Bearer ${daemon.apiKey}`)).toBe(fine);
      expect(await asked(`Bearer ${ben.token}`)).toBe(403);
      expect(await asked(`Bearer ${mara.key}`)).toBe(403);
      expect(await asked('Bearer nonsense')).toBe(401);
      expect(await asked(undefined)).toBe(401);
    },
  );

  test('lists have one’s own only, an administrator’s those of all', { tags: ['F7-access'] }, async () => {
    await fixture.manage(fixture.ben, 'POST', '/publishes', page({ session_id: sessionOfBen, name: 'Ebb' }));
    const accounts = async (who: Person) =>
      new Set(
        (await fixture.manage(who, 'GET', '/publishes?limit=500')).data.items.map((one: Json) => one.owner.account),
      );
    expect(await accounts(fixture.ben)).toEqual(new Set(['ben']));
    expect(await accounts(fixture.mara)).toEqual(new Set(['mara']));
    const all = (await fixture.daemon.admin('GET', '/api/v1/publishes?limit=500')) as { items: Json[]; total: number };
    expect(new Set(all.items.map(({ owner }) => owner.account))).toEqual(new Set(['mara', 'ben']));
    expect(all.total).toBe(all.items.length);
    const shares = (await fixture.manage(fixture.ben, 'GET', '/shares')).data;
    expect([shares.total, shares.items[0].name]).toEqual([1, 'Ebb']);
    expect((await fixture.manage(fixture.ben, 'GET', `/shares?publish_key=${key}`)).status).toBe(403);
  });

  test.each([
    ['GET', '/publishes/aaaaaaaaaaaaaaaa'],
    ['PATCH', '/publishes/aaaaaaaaaaaaaaaa'],
    ['DELETE', '/publishes/aaaaaaaaaaaaaaaa'],
    ['GET', '/publishes/aaaaaaaaaaaaaaaa/versions'],
    ['POST', '/publishes/aaaaaaaaaaaaaaaa/versions'],
    ['GET', '/publishes/x'],
    ['GET', `/shares/${'a'.repeat(22)}`],
    ['PATCH', `/shares/${'a'.repeat(22)}`],
    ['DELETE', `/shares/${'a'.repeat(22)}`],
    ['GET', '/shares/x'],
  ])('%s %s of the management interface is not found', { tags: ['F7-access'] }, async (method, path) => {
    const body = method === 'PATCH' ? (path.startsWith('/shares') ? { expires_at: null } : { name: 'x' }) : undefined;
    const reply = await asMara(method, path, method === 'POST' ? {} : body);
    expect([reply.status, reply.json?.data]).toEqual([404, null]);
  });
});

test('a change counts at once, and leaves what is not named', async () => {
  const { data } = await asMara('POST', '/publishes', page({ name: 'Before', category: 'A', tags: ['x'] }));
  const path = `/publishes/${data.publish_key}`;
  const changed = await asMara('PATCH', path, { name: 'After', distraction_free_mode_enabled: true });
  expect(changed.data).toMatchObject({
    name: 'After',
    category: 'A',
    tags: ['x'],
    distraction_free_mode_enabled: true,
  });
  expect((await asMara('PATCH', path, { category: null, tags: [], description: 'New' })).data).toMatchObject({
    category: null,
    tags: [],
    description: 'New',
  });
  const shared = await fixture.read(`/api/v1/public/shares/${data.latest_share_code}`);
  expect(shared.data).toMatchObject({ name: 'After', description: 'New', distraction_free_mode_enabled: true });
});

test.each([
  [{}],
  [{ name: '' }],
  [{ name: null }],
  [{ tags: null }],
  [{ entry_path: 'no-slash.md' }],
  [{ public_to_board_enabled: null }],
  [{ public_to_board_enabled: 'yes' }],
  [[]],
  ['text'],
])('a change to %j is 422', async (body) => {
  expect((await asMara('PATCH', `/publishes/${key}`, body)).status).toBe(422);
});

test('versions are numbered without gaps when many are released at once', { tags: ['F7-versions'] }, async () => {
  const { data } = await asMara('POST', '/publishes', page({ name: 'Many' }));
  const path = `/publishes/${data.publish_key}/versions`;
  const released = await Promise.all(Array.from({ length: 8 }, () => asMara('POST', path, { reason: 'At once' })));
  expect(released.map(({ status }) => status)).toEqual(Array(8).fill(201));
  const numbers = released.map((reply) => reply.data.version_no as number).toSorted((a, b) => a - b);
  expect(numbers).toEqual(Array.from({ length: 8 }, (_, i) => i + 2));
  const listed = (await asMara('GET', `${path}?limit=5&offset=1`)).data;
  expect([listed.total, listed.items.map((one: Json) => one.version_no)]).toEqual([9, [8, 7, 6, 5, 4]]);
  expect(new Set(released.map((reply) => reply.data.share_code)).size).toBe(8);
});

test('a release can begin with another file; one that is missing leaves all as it was', {
  tags: ['F7-versions'],
}, async () => {
  const { data } = await asMara('POST', '/publishes', page({ name: 'Entries' }));
  const path = `/publishes/${data.publish_key}/versions`;
  expect((await asMara('POST', path, { entry_path: '/site/none.md' })).status).toBe(422);
  expect((await asMara('GET', path)).data.total).toBe(1);
  const other = await asMara('POST', path, { entry_path: '/site/more.txt', reason: 'Another' });
  expect(other.data).toMatchObject({
    version_no: 2,
    entry_path: '/site/more.txt',
    share_type: 'file',
    reason: 'Another',
  });
  expect((await asMara('POST', path, { reason: 'x'.repeat(501) })).status).toBe(422);
});

test('a share has its fields, and its end is changed', { tags: ['F7-shares'] }, async () => {
  const { data } = await asMara('GET', `/shares/${code}`);
  expect(data).toMatchObject({
    publish_key: key,
    share_code: code,
    version_no: 1,
    share_status: 'active',
    share_url: `${fixture.daemon.url}/share/${code}`,
    trigger_type: 'manual',
    expires_at: null,
    withdrawn_at: null,
  });
  const end = dayFromNow();
  expect((await asMara('PATCH', `/shares/${code}`, { expires_at: end })).data.expires_at).toBe(end);
  expect((await fixture.read(`/api/v1/public/shares/${code}`)).data.expires_at).toBe(end);
  expect((await asMara('PATCH', `/shares/${code}`, { expires_at: null })).data.expires_at).toBeNull();
});

test.each([
  [{}],
  [{ expires_at: '' }],
  [{ expires_at: 'tomorrow' }],
  [{ expires_at: 5 }],
  [{ expires_at: '2020-01-01T00:00:00Z' }],
  [{ expires_at: '2026-02-30T00:00:00Z' }],
])('an end of %j is 422', { tags: ['F7-shares'] }, async (body) => {
  expect((await asMara('PATCH', `/shares/${code}`, body)).status).toBe(422);
});

test('a version outlives its session, which gets no further ones', { tags: ['F1-copy'] }, async () => {
  const own = await fixture.write(fixture.mara, { '/last.txt': 'last' });
  const { data } = await asMara('POST', '/publishes', page({ session_id: own, entry_path: '/last.txt' }));
  await fixture.daemon.admin('DELETE', `/api/v1/sessions/${own}`);
  const content = await fixture.read(`/api/v1/public/shares/${data.latest_share_code}/content`);
  expect([content.status, content.text.trim()]).toEqual([200, 'last']);
  expect((await asMara('POST', `/publishes/${data.publish_key}/versions`, {})).status).toBe(409);
  expect((await asMara('POST', '/publishes', page({ session_id: own, entry_path: '/last.txt' }))).status).toBe(404);
});

test('a version stays as it was when a later run changes and removes its files', { tags: ['F1-copy'] }, async () => {
  const own = await fixture.write(fixture.mara, { '/a/index.html': 'first', '/a/b.txt': 'first' });
  const { data } = await asMara('POST', '/publishes', page({ session_id: own, entry_path: '/a/index.html' }));
  await fixture.write(fixture.mara, { '/a/index.html': 'second', '/a/c.txt': 'new' }, own);
  const first = `/api/v1/public/shares/${data.latest_share_code}`;
  expect((await fixture.read(`${first}/content`)).text.trim()).toBe('first');
  expect((await fixture.read(`${first}/assets/c.txt`)).status).toBe(404);
  const second = (await asMara('POST', `/publishes/${data.publish_key}/versions`, {})).data;
  const later = `/api/v1/public/shares/${second.share_code}`;
  expect((await fixture.read(`${later}/content`)).text.trim()).toBe('second');
  expect((await fixture.read(`${later}/assets/c.txt`)).text.trim()).toBe('new');
});

test.each(['limit=0', 'limit=501', 'offset=-1', 'origin=elsewhere', 'limit=1&limit=2'])(
  'a list with %s is 422',
  async (query) => {
    expect((await asMara('GET', `/publishes?${query}`)).status).toBe(422);
  },
);
