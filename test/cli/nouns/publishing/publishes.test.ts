// `errand publishes` and `errand shares`: what they ask for, what they print, and how they end.
import { expect, test } from 'vitest';
import type { OwnedPageWire, OwnedVersionWire } from '../../../../src/wire/publishing/page.ts';
import type { ShareWire } from '../../../../src/wire/publishing/share.ts';
import { refuse, run, startFakeDaemon } from '../../outside.ts';

const SESSION = '0190f6a0-0000-7000-8000-000000000009';
const TASK = '0190f6a0-0000-7000-8000-00000000000a';
const KEY = 'Ab3dEf6hIj9lMn0p';
const CODE = 'Zy2xWv4uTs6rQp8oNm0lKj';
const AT = '2026-03-01T11:59:59.500Z';
const BASE = 'https://pages.example';

const PAGE: OwnedPageWire = {
  publish_key: KEY,
  name: 'Tides of March',
  description: null,
  category: 'Reports',
  origin: 'existing_session',
  tags: ['sea', 'moon'],
  public_to_board_enabled: true,
  latest_share_code: CODE,
  latest_entry_path: '/site/index.html',
  latest_published_at: '2026-03-01 19:59:59',
  distraction_free_mode_enabled: false,
  share_type: 'page',
  workspace_file: null,
  publish_center_id: 7,
  owner: { account: 'mara', name: 'Mara', department: '' },
  session_id: SESSION,
  scheduled_task_id: null,
  entry_path: '/site/index.html',
  version_count: 2,
  page_url: `${BASE}/share/p/${KEY}`,
  latest_share_url: `${BASE}/share/${CODE}`,
  created_at: AT,
  updated_at: AT,
};

const VERSION: OwnedVersionWire = {
  version_no: 2,
  share_code: CODE,
  entry_path: '/site/index.html',
  published_at: AT,
  is_latest: true,
  share_type: 'page',
  share_status: 'active',
  share_url: `${BASE}/share/${CODE}`,
  trigger_type: 'manual',
  reason: null,
  file_count: 3,
  total_size: 4_096,
  expires_at: null,
  withdrawn_at: null,
};

const SHARE: ShareWire = { publish_key: KEY, name: PAGE.name, ...VERSION };
const none = () => ({ items: [], total: 0 });

test('a page of a session is created with what its options say, and its addresses are shown', {
  tags: ['K7-publishes'],
}, async () => {
  const { dataDir, received } = await startFakeDaemon({
    'GET /api/v1/ids/sessions/0190f6a0': () => ({ id: SESSION }),
    'POST /api/v1/publishes': () => PAGE,
  });
  const texts = [
    '--description',
    'High and low.',
    '--category',
    'Reports',
    '--tag',
    'sea',
    '--tag',
    'moon',
    '--tag',
    'sea',
  ];
  const args = [
    'publishes',
    'create',
    'Tides of March',
    '--session',
    '0190F6A0',
    '--entry',
    'site/index.html',
    ...texts,
  ];
  const { code, stdout } = await run([...args, '--board', '--distraction-free'], { dataDir });
  expect(code).toBe(0);
  expect(received.at(-1)?.body).toEqual({
    name: 'Tides of March',
    session_id: SESSION,
    entry_path: '/site/index.html',
    description: 'High and low.',
    category: 'Reports',
    tags: ['sea', 'moon'],
    public_to_board_enabled: true,
    distraction_free_mode_enabled: true,
  });
  expect(stdout).toContain(`page_url\t${PAGE.page_url}\nlatest_share_url\t${PAGE.latest_share_url}\n`);
  expect(stdout).toContain('latest_published_at\t2026-03-01T11:59:59.000Z\n');
});

test('a page of a task says when it has its first version', async () => {
  const page = { ...PAGE, origin: 'scheduled_task', latest_share_code: null, latest_published_at: null };
  const { dataDir, received } = await startFakeDaemon({
    'GET /api/v1/scheduled-tasks?name=daily&limit=5': () => ({ items: [{ scheduled_task_id: TASK }], total: 1 }),
    [`GET /api/v1/scheduled-tasks/${TASK}`]: () => ({ scheduled_task_id: TASK }),
    'POST /api/v1/publishes': () => page,
  });
  const args = ['publishes', 'create', 'Daily', '--schedule', 'daily', '--entry', '/report.md', '-o', 'json'];
  const { code, stdout, stderr } = await run(args, { dataDir });
  expect([code, JSON.parse(stdout)]).toEqual([0, page]);
  expect(received.at(-1)?.body).toEqual({ name: 'Daily', scheduled_task_id: TASK, entry_path: '/report.md' });
  expect(stderr).toContain('The first version comes with the next run of the task.');
});

test.each([
  ['neither a session nor a task', ['publishes', 'create', 'Tides', '--entry', '/a.md']],
  ['both', ['publishes', 'create', 'Tides', '--entry', '/a.md', '--session', SESSION, '--schedule', TASK]],
  ['no entry', ['publishes', 'create', 'Tides', '--session', SESSION]],
  ['nothing to change', ['publishes', 'set', KEY]],
  ['no end', ['shares', 'set', CODE]],
  ['an end that is no duration', ['shares', 'set', CODE, '--expires', 'tomorrow']],
])('with %s nothing is asked of the daemon', async (_, args) => {
  const { dataDir, received } = await startFakeDaemon({});
  expect((await run(args, { dataDir })).code).toBe(2);
  expect(received).toEqual([]);
});

test.each([
  ['its key', KEY, { [`GET /api/v1/publishes/${KEY}`]: () => PAGE }],
  ['its address', `${BASE}/share/p/${KEY}`, { [`GET /api/v1/publishes/${KEY}`]: () => PAGE }],
  [
    'its name',
    PAGE.name,
    { 'GET /api/v1/publishes?name=Tides%20of%20March&limit=5': () => ({ items: [PAGE], total: 1 }) },
  ],
  [
    'a name that looks like a key',
    'abcdefghijklmnop',
    { 'GET /api/v1/publishes?name=abcdefghijklmnop&limit=5': () => ({ items: [PAGE], total: 1 }) },
  ],
])('a page is found by %s', async (_, ref, routes) => {
  const { dataDir } = await startFakeDaemon(routes);
  const { code, stdout } = await run(['publishes', 'show', ref, '-o', 'json'], { dataDir });
  expect([code, JSON.parse(stdout)]).toEqual([0, PAGE]);
});

test('a name that several pages have is a conflict, which names their keys; an unknown one is not found', async () => {
  const other = { ...PAGE, publish_key: 'Bb3dEf6hIj9lMn0p', owner: { ...PAGE.owner, account: 'ben' } };
  const { dataDir } = await startFakeDaemon({
    'GET /api/v1/publishes?name=Tides&limit=5': () => ({ items: [PAGE, other], total: 7 }),
    'GET /api/v1/publishes?name=Ebb&limit=5': none,
  });
  const several = await run(['publishes', 'delete', 'Tides', '--yes'], { dataDir });
  expect([several.code, several.stderr]).toEqual([
    6,
    expect.stringContaining(
      `Several pages are named Tides: ${KEY} (mara), Bb3dEf6hIj9lMn0p (ben) and more. Give the key.`,
    ),
  ]);
  expect(await run(['publishes', 'show', 'Ebb'], { dataDir })).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('There is no page Ebb.'),
  });
});

test('a refusal of a key is passed on, and not taken for a name', async () => {
  const { dataDir, received } = await startFakeDaemon({
    [`GET /api/v1/publishes/${KEY}`]: (_, response) => refuse(response, 403, 'It belongs to another user.'),
  });
  expect((await run(['publishes', 'show', KEY], { dataDir })).code).toBe(4);
  expect(received).toHaveLength(1);
});

test('only what is given is changed, and "none" removes', async () => {
  const { dataDir, received } = await startFakeDaemon({
    [`GET /api/v1/publishes/${KEY}`]: () => PAGE,
    [`PATCH /api/v1/publishes/${KEY}`]: () => PAGE,
  });
  const bodyOf = async (...flags: readonly string[]) => {
    expect((await run(['publishes', 'set', KEY, ...flags], { dataDir })).code).toBe(0);
    return received.at(-1)?.body;
  };
  expect(await bodyOf('--no-board')).toEqual({ public_to_board_enabled: false });
  expect(await bodyOf('--no-distraction-free', '--entry', 'b.md')).toEqual({
    distraction_free_mode_enabled: false,
    entry_path: '/b.md',
  });
  expect(await bodyOf('--description', 'none', '--category', 'none', '--tag', 'none')).toEqual({
    description: null,
    category: null,
    tags: [],
  });
});

test('a release makes a version, whose address is shown', async () => {
  const { dataDir, received } = await startFakeDaemon({
    [`GET /api/v1/publishes/${KEY}`]: () => PAGE,
    [`POST /api/v1/publishes/${KEY}/versions`]: () => VERSION,
  });
  const { stdout } = await run(['publishes', 'release', KEY, '--reason', 'Corrected.'], { dataDir });
  expect(received.at(-1)?.body).toEqual({ reason: 'Corrected.' });
  expect(stdout).toContain(`version\t2\nshare_url\t${VERSION.share_url}\nshare_code\t${CODE}\nstatus\tactive\n`);
});

test('lists show the full address first, and leave it out rather than cut it', async () => {
  const { dataDir } = await startFakeDaemon({
    'GET /api/v1/publishes': () => ({ items: [PAGE], total: 3 }),
    'GET /api/v1/shares': () => ({ items: [SHARE], total: 1 }),
  });
  const at = async (columns: number, noun: string) =>
    (await run([noun, 'list'], { dataDir, terminal: { stdout: true }, columns })).stdout;
  expect(await at(80, 'publishes')).toMatch(new RegExp(`${PAGE.page_url}$`, 'm'));
  expect(await at(80, 'shares')).toMatch(new RegExp(`${SHARE.share_url}$`, 'm'));
  expect(await at(140, 'shares')).toContain(CODE);
  expect((await at(58, 'shares')).match(/https:\S+/g)).toEqual([SHARE.share_url]);
  const piped = await run(['publishes', 'list'], { dataDir });
  expect(piped.stdout.split('\t')).toHaveLength(7);
  expect(piped.stderr).toContain('1 of 3 pages.');
});

test('the shares of a page are listed by its name', async () => {
  const { dataDir, received } = await startFakeDaemon({
    'GET /api/v1/publishes?name=Tides&limit=5': () => ({ items: [PAGE], total: 1 }),
    [`GET /api/v1/shares?publish_key=${KEY}&limit=3`]: () => ({ items: [SHARE], total: 1 }),
    [`GET /api/v1/publishes/${KEY}/versions?limit=3&offset=6`]: () => ({ items: [VERSION], total: 1 }),
  });
  expect((await run(['shares', 'list', '--page', 'Tides', '--limit', '3'], { dataDir })).stdout).toContain(CODE);
  expect(
    (await run(['publishes', 'versions', 'Tides', '--limit', '3', '--offset', '6'], { dataDir })).stdout,
  ).toContain(SHARE.share_url);
  expect(received).toHaveLength(4);
});

test.each([
  ['30d', '2026-03-31T12:00:00.000Z'],
  ['never', null],
])('a share that expires in or at %s is given this end: %s', async (when, expires) => {
  const { dataDir, received } = await startFakeDaemon({ [`PATCH /api/v1/shares/${CODE}`]: () => SHARE });
  const { code } = await run(['shares', 'set', SHARE.share_url, '--expires', when], { dataDir });
  expect([code, received.at(-1)?.body]).toEqual([0, { expires_at: expires }]);
});

test('deleting a page and revoking a share ask first', async () => {
  const { dataDir, received } = await startFakeDaemon({
    [`GET /api/v1/publishes/${KEY}`]: () => PAGE,
    [`DELETE /api/v1/publishes/${KEY}`]: () => ({ publish_key: KEY }),
    [`GET /api/v1/shares/${CODE}`]: () => SHARE,
    [`DELETE /api/v1/shares/${CODE}`]: () => ({ ...SHARE, share_status: 'withdrawn', withdrawn_at: AT }),
  });
  const deleted = () => received.filter(({ method }) => method === 'DELETE').length;
  expect((await run(['publishes', 'delete', KEY], { dataDir })).code).toBe(2);
  expect((await run(['shares', 'revoke', CODE], { dataDir })).code).toBe(2);
  expect(deleted()).toBe(0);
  expect((await run(['publishes', 'delete', KEY, '--yes'], { dataDir })).stdout).toBe(`publish_key\t${KEY}\n`);
  expect((await run(['shares', 'revoke', CODE, '--yes'], { dataDir })).stdout).toContain(`withdrawn_at\t${AT}\n`);
  expect(deleted()).toBe(2);
});
