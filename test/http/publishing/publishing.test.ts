// Owners manage their pages and shares over HTTP: what is made, what is refused, and what is whose.
import { expect, test } from 'vitest';
import { publishedFixture } from '../../support/http/published-fixture.ts';
import { send } from '../../support/http/http-fixture.ts';

const PAGES = '/api/v1/publishes';
const SHARES = '/api/v1/shares';
const FILES = { '/site/index.html': '<h1>Tides</h1>', '/site/a.css': 'css', '/read me.md': '# Read me' };

async function openFixture() {
  const fixture = await publishedFixture({ publicUrl: 'https://errand.example' });
  const sessionId = await fixture.session(FILES);
  const ask = async (method: string, path: string, body?: object, as = 'token-of-user') => {
    const got = await send(fixture.fixture, { method, path, as, ...(body && { body }) });
    const { data, message } = got.json as { data: Record<string, never>; message: string };
    return { status: got.status, data, message };
  };
  const page = { name: 'Tides', session_id: sessionId, entry_path: '/site/index.html' };
  return { ...fixture, sessionId, page, ask };
}

test('a new page has its first version, and every field', async () => {
  const { ask, page, sessionId, clock } = await openFixture();
  const at = new Date(clock.now()).toISOString();
  const made = await ask('POST', PAGES, {
    ...page,
    description: 'Of the sea',
    category: 'Sea',
    tags: ['moon'],
    public_to_board_enabled: true,
    distraction_free_mode_enabled: true,
  });
  const { publish_key: key, latest_share_code: code } = made.data;
  expect([made.status, key, code]).toEqual([
    201,
    expect.stringMatching(/^[0-9A-Za-z]{16}$/),
    expect.stringMatching(/^[0-9A-Za-z]{22}$/),
  ]);
  expect(made.data).toEqual({
    publish_key: key,
    name: 'Tides',
    description: 'Of the sea',
    category: 'Sea',
    origin: 'existing_session',
    tags: ['moon'],
    public_to_board_enabled: true,
    latest_share_code: code,
    latest_entry_path: '/site/index.html',
    latest_published_at: new Date(clock.now() + 8 * 3_600_000).toISOString().slice(0, 19).replace('T', ' '),
    distraction_free_mode_enabled: true,
    share_type: 'page',
    workspace_file: expect.objectContaining({ path: '/site/index.html' }),
    publish_center_id: 1,
    owner: { account: 'mara', name: expect.any(String), department: expect.any(String) },
    session_id: sessionId,
    scheduled_task_id: null,
    entry_path: '/site/index.html',
    version_count: 1,
    page_url: `https://errand.example/share/p/${key}`,
    latest_share_url: `https://errand.example/share/${code}`,
    created_at: at,
    updated_at: at,
  });
  expect((await ask('GET', `${PAGES}/${key}`)).data).toEqual(made.data);
  expect((await ask('GET', PAGES)).data).toEqual({ items: [made.data], total: 1 });
});

test('without them, a page has no description, no category, no tags, and is on no board', async () => {
  const { ask, page } = await openFixture();
  expect((await ask('POST', PAGES, page)).data).toMatchObject({
    description: null,
    category: null,
    tags: [],
    public_to_board_enabled: false,
    distraction_free_mode_enabled: false,
  });
});

const UUID = '0198c0de-0000-7000-8000-0000000000ff';

/** Bodies that are refused, each with the field at fault. */
const REFUSED: readonly (readonly [change: object, field: string])[] = [
  [{ name: undefined }, 'name'],
  [{ name: '' }, 'name'],
  [{ name: 'a\nb' }, 'name'],
  [{ name: 'x'.repeat(201) }, 'name'],
  [{ name: 7 }, 'name'],
  [{ description: 'x'.repeat(2_001) }, 'description'],
  [{ category: '' }, 'category'],
  [{ category: 'x'.repeat(51) }, 'category'],
  [{ tags: 'moon' }, 'tags'],
  [{ tags: ['a', 'a'] }, 'tags'],
  [{ tags: Array.from({ length: 21 }, (_, i) => `t${i}`) }, 'tags'],
  [{ tags: ['x'.repeat(51)] }, 'tags[0]'],
  [{ entry_path: undefined }, 'entry_path'],
  [{ entry_path: 'site/index.html' }, 'entry_path'],
  [{ entry_path: '/site/index.html\0' }, 'entry_path'],
  [{ entry_path: '/site' }, 'entry_path'],
  [{ entry_path: '/site/' }, 'entry_path'],
  [{ entry_path: '/site/../site/index.html' }, 'entry_path'],
  [{ entry_path: '/missing.html' }, 'entry_path'],
  [{ entry_path: `/${'x'.repeat(1_024)}` }, 'entry_path'],
  [{ session_id: undefined }, 'session_id'],
  [{ session_id: 'one' }, 'session_id'],
  [{ scheduled_task_id: UUID }, 'session_id'],
  [{ public_to_board_enabled: 'true' }, 'public_to_board_enabled'],
  [{ distraction_free_mode_enabled: 1 }, 'distraction_free_mode_enabled'],
];

test('what is wrong with a new page is said by field, and nothing is made of it', async () => {
  const { ask, page, count } = await openFixture();
  for (const [change, field] of REFUSED) {
    const { status, message } = await ask('POST', PAGES, { ...page, ...change });
    expect([change, status, message.split(':')[0]]).toEqual([change, 422, field]);
  }
  expect((await ask('POST', PAGES, { ...page, session_id: UUID })).status).toBe(404);
  expect((await ask('POST', PAGES, { ...page, session_id: null, scheduled_task_id: UUID })).status).toBe(404);
  expect(count('publish_pages')).toBe(0);
});

test('a page changes in what is named alone, and its next version has the new entry', async () => {
  const { ask, page } = await openFixture();
  const { data: made } = await ask('POST', PAGES, { ...page, description: 'Old', tags: ['a'] });
  const path = `${PAGES}/${made['publish_key']}`;
  const change = { name: 'Moon', description: null, public_to_board_enabled: true, entry_path: '/read me.md' };
  const changed = await ask('PATCH', path, change);
  expect(changed.data).toEqual({ ...made, ...change });
  expect((await ask('PATCH', path, {})).status).toBe(422);
  expect((await ask('PATCH', path, { name: null })).status).toBe(422);
  const next = await ask('POST', `${path}/versions`, { reason: 'Corrected' });
  expect([next.status, next.data]).toMatchObject([
    201,
    { version_no: 2, entry_path: '/read me.md', reason: 'Corrected', trigger_type: 'manual', is_latest: true },
  ]);
  expect((await ask('GET', path)).data).toMatchObject({ latest_entry_path: '/read me.md', version_count: 2 });
});

test('the next version needs no body, and one with another entry leaves that of the page', async () => {
  const { ask, page } = await openFixture();
  const { data: made } = await ask('POST', PAGES, page);
  const path = `${PAGES}/${made['publish_key']}`;
  expect((await ask('POST', `${path}/versions`)).data).toMatchObject({ version_no: 2, reason: null });
  expect((await ask('POST', `${path}/versions`, { entry_path: '/read me.md' })).data).toMatchObject({
    version_no: 3,
    entry_path: '/read me.md',
  });
  expect((await ask('POST', `${path}/versions`, { entry_path: '/missing' })).status).toBe(422);
  expect((await ask('POST', `${path}/versions`, { reason: 'x'.repeat(501) })).status).toBe(422);
  expect((await ask('GET', path)).data).toMatchObject({ entry_path: '/site/index.html', version_count: 3 });
  const { data } = await ask('GET', `${path}/versions?limit=2`);
  expect(data).toMatchObject({ items: [{ version_no: 3 }, { version_no: 2 }], total: 3 });
});

test('a share ends when its owner says, or for good', async () => {
  const { ask, page, clock, send: get } = await openFixture();
  const { data: made } = await ask('POST', PAGES, page);
  const [key, code] = [made['publish_key'], made['latest_share_code']];
  const path = `${SHARES}/${code}`;
  const end = new Date(clock.now() + 3_600_000).toISOString();
  const changed = await ask('PATCH', path, { expires_at: end });
  expect(changed.data).toEqual({
    publish_key: key,
    name: 'Tides',
    version_no: 1,
    share_code: code,
    entry_path: '/site/index.html',
    published_at: new Date(clock.now()).toISOString(),
    is_latest: true,
    share_type: 'page',
    share_status: 'active',
    share_url: `https://errand.example/share/${code}`,
    trigger_type: 'manual',
    reason: null,
    file_count: 2,
    total_size: 17,
    expires_at: end,
    withdrawn_at: null,
  });
  clock.advance(3_600_000);
  expect((await ask('GET', path)).data).toMatchObject({ share_status: 'expired', is_latest: false });
  expect((await get(`/api/v1/public/shares/${code}`)).status).toBe(404);
  expect((await ask('PATCH', path, { expires_at: null })).data).toMatchObject({ share_status: 'active' });
  expect((await get(`/api/v1/public/shares/${code}`)).status).toBe(200);
  for (const wrong of [{}, { expires_at: 'never' }, { expires_at: 7 }, { expires_at: '2020-01-01' }])
    expect([wrong, (await ask('PATCH', path, wrong)).status]).toEqual([wrong, 422]);
  const withdrawn = await ask('DELETE', path);
  expect(withdrawn.data).toMatchObject({
    share_status: 'withdrawn',
    withdrawn_at: new Date(clock.now()).toISOString(),
  });
  expect((await ask('DELETE', path)).data).toEqual(withdrawn.data);
  expect((await ask('PATCH', path, { expires_at: null })).status).toBe(409);
  expect((await get(`/api/v1/public/shares/${code}/content`)).status).toBe(404);
});

test('shares are listed, of all pages or of one, and pages by name', async () => {
  const { ask, page } = await openFixture();
  const keys = [];
  for (const name of ['Tides', 'Moon', 'Tides']) keys.push((await ask('POST', PAGES, { ...page, name })).data);
  const { data } = await ask('GET', `${PAGES}?name=Tides`);
  expect(data).toMatchObject({ items: [keys[2], keys[0]], total: 2 });
  expect((await ask('GET', `${PAGES}?name=Tide`)).data).toEqual({ items: [], total: 0 });
  expect((await ask('GET', `${PAGES}?origin=scheduled_task`)).data).toEqual({ items: [], total: 0 });
  expect((await ask('GET', `${PAGES}?origin=other`)).status).toBe(422);
  expect((await ask('GET', SHARES)).data).toMatchObject({ total: 3 });
  expect((await ask('GET', `${SHARES}?publish_key=${keys[1]!['publish_key']}`)).data).toMatchObject({
    items: [{ share_code: keys[1]!['latest_share_code'], name: 'Moon' }],
    total: 1,
  });
  expect((await ask('GET', `${SHARES}?publish_key=${'0'.repeat(16)}`)).status).toBe(404);
});

test('a deleted page is gone with its shares, for its owner and for everybody', async () => {
  const { ask, page, send: get } = await openFixture();
  const { data: made } = await ask('POST', PAGES, page);
  const [key, code] = [made['publish_key'], made['latest_share_code']];
  expect(await ask('DELETE', `${PAGES}/${key}`)).toMatchObject({ status: 200, data: { publish_key: key } });
  for (const path of [`${PAGES}/${key}`, `${PAGES}/${key}/versions`, `${SHARES}/${code}`])
    expect([path, (await ask('GET', path)).status]).toEqual([path, 404]);
  expect((await get(`/api/v1/public/publishes/${key}`)).status).toBe(404);
  expect((await get(`/api/v1/public/shares/${code}/content`)).status).toBe(404);
  expect((await ask('DELETE', `${PAGES}/${key}`)).status).toBe(404);
});

test('pages of others are refused to a user, and open to an administrator', async () => {
  const fixture = await openFixture();
  const { ask, store } = fixture;
  const blank = { fullName: '', department: '', role: 'user', teamId: null, functionalRole: null } as const;
  const otto = await store.users.create({ ...blank, username: 'otto', scenario: null, passwordHash: 'x' });
  const theirs = await fixture.publish(await fixture.workspace(), { userSeq: otto.seq });
  const [path, share] = [`${PAGES}/${theirs.key}`, `${SHARES}/${theirs.shareCode}`];
  for (const [method, target, body] of [
    ['GET', path],
    ['PATCH', path, { name: 'Mine' }],
    ['DELETE', path],
    ['GET', `${path}/versions`],
    ['POST', `${path}/versions`],
    ['GET', `${SHARES}?publish_key=${theirs.key}`],
    ['GET', share],
    ['PATCH', share, { expires_at: null }],
    ['DELETE', share],
  ] as const)
    expect([method, target, (await ask(method, target, body)).status]).toEqual([method, target, 403]);
  expect((await ask('GET', PAGES)).data).toEqual({ items: [], total: 0 });
  expect((await ask('GET', PAGES, undefined, 'token-of-admin')).data).toMatchObject({ total: 1 });
  expect((await ask('PATCH', path, { name: 'Ours' }, 'admin-key')).data).toMatchObject({ name: 'Ours' });
});

test('keys and codes of another form are 404', async () => {
  const { ask } = await openFixture();
  for (const key of ['x', '0'.repeat(15), `${'0'.repeat(15)}-`, '0'.repeat(16)])
    expect([key, (await ask('GET', `${PAGES}/${key}`)).status]).toEqual([key, 404]);
  for (const code of ['x', '0'.repeat(21), '0'.repeat(22)])
    expect([code, (await ask('GET', `${SHARES}/${code}`)).status]).toEqual([code, 404]);
});
