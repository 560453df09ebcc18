// What everybody may read of published pages, field by field, over a real store.
import { expect, test } from 'vitest';
import { publishedFixture } from '../../support/http/published-fixture.ts';

const FILES = {
  '/site/index.html': '<h1>Tides</h1>',
  '/site/img/b.png': 'png',
  '/site/a.css': 'css',
  '/notes.txt': 'no',
};
const PUBLIC = '/api/v1/public';

const isBeijing = (at: number) => new Date(at + 8 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ');

test('the list has exactly the fields of the contract, with times of Beijing', {
  tags: ['§2.13-list-item'],
}, async () => {
  const { site, data, clock } = await publishedFixture();
  const at = clock.now();
  const { key } = await site(FILES, { name: 'Tides', description: 'Of the sea', category: 'Sea' });
  const beijing = isBeijing(at);
  expect(await data(`${PUBLIC}/publishes`)).toEqual({
    code: 0,
    message: 'ok',
    data: [
      {
        publish_key: key,
        name: 'Tides',
        description: 'Of the sea',
        category: 'Sea',
        latest_published_at: beijing,
        version_count: 1,
        created_at: beijing,
        updated_at: beijing,
        owner: { account: 'mara', name: expect.any(String), department: expect.any(String) },
      },
    ],
  });
});

test('the list is that of the board, the last published first, and can be filtered', async () => {
  const { site, data, clock } = await publishedFixture();
  const names = async (query: string) =>
    ((await data(`${PUBLIC}/publishes${query}`)).data as { name: string }[]).map(({ name }) => name);
  for (const [name, category, isOnBoard] of [
    ['Tides', 'Sea', true],
    ['100% Écume', 'Sea', true],
    ['Hidden', 'Sea', false],
    ['Stars', 'Sky', true],
  ] as const) {
    clock.advance(60_000);
    await site(FILES, { name, category, isOnBoard });
  }
  expect(await names('')).toEqual(['Stars', '100% Écume', 'Tides']);
  expect(await names('?category=Sea')).toEqual(['100% Écume', 'Tides']);
  expect(await names('?category=sea')).toEqual([]);
  expect(await names('?account=mara')).toHaveLength(3);
  expect(await names('?account=MARA')).toEqual([]);
  expect(await names('?account=mar')).toEqual([]);
  expect(await names('?name=%C3%89CUME')).toEqual(['100% Écume']);
  expect(await names('?name=0%25')).toEqual(['100% Écume']);
  expect(await names('?name=_')).toEqual([]);
  expect(await names('?name=%25')).toEqual(['100% Écume']);
  expect(await names('?limit=1&offset=1')).toEqual(['100% Écume']);
});

test('a page off the board has its detail all the same', async () => {
  const { site, data, clock } = await publishedFixture({ publicUrl: 'https://errand.example' });
  const { key, shareCode, base } = await site(FILES, { isOnBoard: false, tags: ['moon', 'sea'] });
  expect((await data(`${PUBLIC}/publishes/${key}`)).data).toEqual({
    publish_key: key,
    name: 'Tides',
    description: null,
    category: null,
    origin: 'existing_session',
    tags: ['moon', 'sea'],
    public_to_board_enabled: false,
    latest_share_code: shareCode,
    latest_entry_path: '/site/index.html',
    latest_published_at: isBeijing(clock.now()),
    distraction_free_mode_enabled: false,
    share_type: 'page',
    workspace_file: {
      name: 'index.html',
      path: '/site/index.html',
      mimeType: 'text/html',
      url: `https://errand.example${base}/assets/index.html`,
      downloadUrl: `https://errand.example${base}/assets/index.html?download=1`,
    },
  });
});

test('a page whose versions have all ended keeps what was last known of them but the file, and is not on the board', {
  tags: ['§2.13-detail'],
}, async () => {
  const { site, data, store } = await publishedFixture();
  const { key, shareCode } = await site(FILES);
  const { workspace_file: file, ...before } = (await data(`${PUBLIC}/publishes/${key}`)).data as Record<
    string,
    unknown
  >;
  expect([before['latest_share_code'], file]).toEqual([
    shareCode,
    expect.objectContaining({ path: '/site/index.html' }),
  ]);
  await store.shares.withdraw(shareCode);
  expect((await data(`${PUBLIC}/publishes/${key}`)).data).toEqual({ ...before, workspace_file: null });
  expect((await data(`${PUBLIC}/publishes`)).data).toEqual([]);
  expect((await data(`${PUBLIC}/publishes/${key}/versions`)).data).toEqual([]);
});

test('a share and its metadata', async () => {
  const { site, data, clock } = await publishedFixture({ shareOrigin: '', publicUrl: 'https://errand.example' });
  const { key, shareCode, base } = await site(FILES, { tags: ['sea'], isDistractionFree: true });
  const published = new Date(clock.now()).toISOString();
  expect((await data(base)).data).toEqual({
    share_code: shareCode,
    share_type: 'page',
    publish_key: key,
    name: 'Tides',
    description: null,
    category: null,
    tags: ['sea'],
    owner: { account: 'mara', name: expect.any(String), department: expect.any(String) },
    version_no: 1,
    is_latest: true,
    entry_path: '/site/index.html',
    published_at: published,
    expires_at: null,
    distraction_free_mode_enabled: true,
    workspace_file: expect.objectContaining({ path: '/site/index.html', mimeType: 'text/html' }),
  });
  expect((await data(`${base}/metadata`)).data).toEqual({
    share_code: shareCode,
    share_type: 'page',
    title: 'Tides',
    description: null,
    mime_type: 'text/html',
    size: 14,
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    entry_path: '/site/index.html',
    version_no: 1,
    file_count: 3,
    total_size: 20,
    published_at: published,
    expires_at: null,
  });
});

test('the files of a version are a tree with the paths of the workspace and addresses that lead to the files', async () => {
  const { site, data, send } = await publishedFixture({ publicUrl: 'https://errand.example' });
  const { key, base } = await site({ ...FILES, '/site/a b?#%.txt': 'odd' });
  const { data: tree } = await data(`${PUBLIC}/publishes/${key}/versions/1/files`);
  const file = (path: string, size: number, mimeType: string, address: string) => ({
    id: expect.stringMatching(/^[0-9a-f]{32}$/),
    name: path.slice(path.lastIndexOf('/') + 1),
    type: 'file',
    path,
    size,
    mimeType,
    url: `https://errand.example${base}/assets/${address}`,
    downloadUrl: `https://errand.example${base}/assets/${address}?download=1`,
    children: null,
    oss_status: null,
    oss_meta: null,
  });
  const folder = (path: string, children: object[]) => ({
    ...file(path, 0, '', ''),
    type: 'folder',
    size: null,
    mimeType: null,
    url: null,
    downloadUrl: null,
    children,
  });
  expect(tree).toEqual([
    folder('/site', [
      file('/site/a b?#%.txt', 3, 'text/plain', 'a%20b%3F%23%25.txt'),
      file('/site/a.css', 3, 'text/css', 'a.css'),
      folder('/site/img', [file('/site/img/b.png', 3, 'image/png', 'img/b.png')]),
      file('/site/index.html', 14, 'text/html', 'index.html'),
    ]),
  ]);
  expect((await send(`${base}/assets/a%20b%3F%23%25.txt`)).text).toBe('odd');
  for (const no of ['2', '0', '-1', '1.0', 'x', '9'.repeat(20)])
    expect([no, (await send(`${PUBLIC}/publishes/${key}/versions/${no}/files`)).status]).toEqual([no, 404]);
});

test('with a host of their own, addresses of shares begin with it', async () => {
  const { site, send } = await publishedFixture({ shareOrigin: 'https://shares.example' });
  const { base } = await site(FILES);
  expect((await send(base)).status).toBe(404);
  const got = await send(base, { headers: { host: 'shares.example' } });
  expect(got.json).toMatchObject({
    data: { workspace_file: { url: `https://shares.example${base}/assets/index.html` } },
  });
});

async function withVersions() {
  const fixture = await publishedFixture();
  const { clock } = fixture;
  const first = await fixture.site(FILES);
  const moments = [clock.now()];
  // Across the end of summer time in Berlin, on 25 October 2026 at 01:00 UTC.
  for (const at of ['2026-10-24T21:59:59Z', '2026-10-24T22:00:00Z', '2026-10-25T22:59:59Z', '2026-10-25T23:00:00Z']) {
    clock.advance(Date.parse(at) - clock.now());
    await fixture.release(first.id, first.run);
    moments.push(clock.now());
  }
  const versions = async (query = '') => {
    const got = await fixture.send(`${PUBLIC}/publishes/${first.key}/versions${query}`);
    if (got.status !== 200) return got.status;
    return (got.json as { data: { version_no: number }[] }).data.map(({ version_no: no }) => no);
  };
  return { ...fixture, ...first, moments, versions };
}

test('versions come newest first, each with exactly its fields', async () => {
  const { data, key, moments, versions } = await withVersions();
  expect(await versions()).toEqual([5, 4, 3, 2, 1]);
  expect(await versions('?limit=2&offset=1')).toEqual([4, 3]);
  const all = (await data(`${PUBLIC}/publishes/${key}/versions`)).data as object[];
  expect(all.at(-1)).toEqual({
    version_no: 1,
    share_code: expect.stringMatching(/^[0-9A-Za-z]{22}$/),
    entry_path: '/site/index.html',
    published_at: new Date(moments[0]!).toISOString(),
    is_latest: false,
  });
  expect(all[0]).toMatchObject({ is_latest: true });
});

/** What each query of versions finds, or the status of its refusal. */
const QUERIES: readonly (readonly [query: string, found: readonly number[] | number])[] = [
  ['?version_no=3', [3]],
  ['?version_no=9', []],
  ['?date=2026-10-25&tz=Europe/Berlin', [4, 3]],
  ['?date=2026-10-24&tz=Europe/Berlin', [2]],
  ['?date=2026-10-24', [3, 2]],
  ['?date=2026-10-25&tz=Asia/Shanghai', [3, 2]],
  ['?date_from=2026-10-25&tz=Europe/Berlin', [5, 4, 3]],
  ['?date_to=2026-10-25&date_from=2026-10-24&tz=Europe/Berlin', [4, 3, 2]],
  ['?date_from=2026-10-25&date_to=2026-10-25&tz=Europe/Berlin', [4, 3]],
  ['?date_from=0001-01-01&date_to=9999-12-31', [5, 4, 3, 2, 1]],
  ['?date_to=0001-01-01', []],
  ['?date_from=2026-10-26&date_to=2026-10-25', 400],
  ['?date=2026-10-25&date_from=2026-10-25', 400],
  ['?date=2026-10-25&date_to=2026-10-25', 400],
  ['?date=2026-10-25&date_to=soon', 422],
  ['?date=2026-02-30', 422],
  ['?date=2026-2-3', 422],
  ['?date=26-10-25', 422],
  ['?date=2026-10-25T00:00:00Z', 422],
  ['?date=', 422],
  ['?tz=%2B08:00', 422],
  ['?tz=', 422],
  ['?tz=Mars/Olympus', 422],
  ['?tz=Europe/Berlin&tz=UTC', 422],
  ['?limit=0', 422],
  ['?limit=200', [5, 4, 3, 2, 1]],
  ['?limit=201', 422],
  ['?limit=1.5', 422],
  ['?offset=-1', 422],
  ['?offset=5', []],
  ['?version_no=0', 422],
  ['?version_no=-1', 422],
  ['?version_no=one', 422],
];

test('versions are found by number and by days of a zone, and nothing is guessed of a query', {
  tags: ['§4.7-dates'],
}, async () => {
  const { versions } = await withVersions();
  for (const [query, found] of QUERIES) expect([query, await versions(query)]).toEqual([query, found]);
});

test('no credential is read, whatever it is', async () => {
  const { site, send } = await publishedFixture();
  const { base, key } = await site(FILES);
  const headers = [
    { authorization: 'Bearer nonsense' },
    { authorization: 'nonsense', 'x-api-key': 'other' },
    { authorization: 'Bearer disabled-key' },
    { cookie: 'session=1' },
  ];
  for (const given of headers)
    for (const path of [`${PUBLIC}/publishes`, `${PUBLIC}/publishes/${key}`, base, `${base}/content`]) {
      const got = await send(path, { headers: given });
      expect([path, got.status, got.headers['set-cookie']]).toEqual([path, 200, undefined]);
    }
});

test('HEAD answers as GET does', async () => {
  const { site, send } = await publishedFixture();
  const { base, key } = await site(FILES);
  for (const path of [`${PUBLIC}/publishes`, `${PUBLIC}/publishes/${key}/versions`, base, `${base}/metadata`]) {
    const got = await send(path, { method: 'HEAD' });
    expect([path, got.status, got.text]).toEqual([path, 200, '']);
  }
});

test('keys and codes of another form, and unknown ones, are 404', async () => {
  const { send, site } = await publishedFixture();
  const { key, shareCode } = await site(FILES);
  const wrong = (good: string) => [
    'x',
    `${good}0`,
    good.slice(1),
    good.toLowerCase() + '-',
    '0'.repeat(good.length),
    '%00',
  ];
  for (const bad of wrong(key)) expect([bad, (await send(`${PUBLIC}/publishes/${bad}`)).status]).toEqual([bad, 404]);
  for (const bad of wrong(shareCode))
    for (const path of ['', '/metadata', '/content', '/media', '/assets/a'])
      expect([bad, (await send(`${PUBLIC}/shares/${bad}${path}`)).status]).toEqual([bad, 404]);
});
