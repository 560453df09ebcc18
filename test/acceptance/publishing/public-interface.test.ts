// The public interface of §4.7 to the letter, asked of a real daemon: its fields, filters, times, bytes and refusals.
import { createHash } from 'node:crypto';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Json,
  type PublishedHouse,
  type Reply,
  startPublishedHouse,
} from '../../support/publishing/published-house.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const PUBLIC = '/api/v1/public';
const BEIJING = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const KEY = /^[0-9A-Za-z]{16}$/;
const CODE = /^[0-9A-Za-z]{22}$/;
const HTML = '<!doctype html><title>Tides</title><link rel="stylesheet" href="style.css"><h1>Tides</h1>';
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const OWNER = { account: 'mara', name: 'mara Doe', department: 'Tides' };

interface Made {
  readonly key: string;
  readonly code: string;
}

let house: PublishedHouse;
let session: string;
/** Pages by the name of their entry. */
const made: Record<string, Made> = {};
/** Codes of the versions of the page, from the first. */
const codes: string[] = [];

const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');
const read = (path: string, ask = {}) => house.read(PUBLIC + path, ask);
const manage = (method: string, path: string, body?: unknown) => house.manage(house.mara, method, path, body);
const share = (name: string) => `/shares/${made[name]!.code}`;

async function publish(fields: Readonly<Record<string, unknown>>): Promise<Made> {
  const created = await manage('POST', '/publishes', { session_id: session, ...fields });
  expect([fields, created.status, created.text]).toEqual([fields, 201, expect.any(String)]);
  return { key: created.data.publish_key, code: created.data.latest_share_code };
}

/** What the agent can't write with the offline engine's lines, put into the workspace between two turns. */
function addFiles(workspace: string): void {
  mkdirSync(join(workspace, 'site/sub'), { recursive: true });
  writeFileSync(join(workspace, 'site/moon.png'), PNG);
  writeFileSync(join(workspace, 'site/sub/a b%20#?.txt'), 'odd');
  writeFileSync(join(workspace, 'site/sub/é.txt'.normalize('NFC')), 'composed');
  writeFileSync(join(workspace, 'site/.secret'), 'hidden');
  symlinkSync('style.css', join(workspace, 'site/link.css'));
  writeFileSync(join(workspace, 'photo.png'), PNG);
  writeFileSync(join(workspace, 'sound.mp3'), Buffer.concat([Buffer.from('ID3'), Buffer.alloc(2_000, 7)]));
  writeFileSync(join(workspace, 'paper.pdf'), '%PDF-1.4\n%%EOF\n');
}

beforeAll(async () => {
  house = await startPublishedHouse();
  const page = { '/site/index.html': HTML, '/site/style.css': 'h1 { color: teal }', '/site/sub/data.json': '{"a":1}' };
  session = await house.write(house.mara, page);
  addFiles(join(house.daemon.dataDir, 'workspaces', session));
  await house.write(
    house.mara,
    {
      '/notes.md': '# Notes',
      '/notes/index.md': '# In a folder',
      '/plain.txt': 'plain',
      '/chart.svg': '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
      '/feed.xml': '<?xml version="1.0"?><x/>',
      '/data.bin': 'binary',
    },
    session,
  );
  made['page'] = await publish({
    name: 'Tides 100%_\\É of "März"',
    description: 'High and low.',
    category: 'Reports',
    tags: ['sea', 'moon'],
    entry_path: '/site/index.html',
    public_to_board_enabled: true,
  });
  made['markdown'] = await publish({ name: 'Notes', entry_path: '/notes/index.md', public_to_board_enabled: true });
  made['image'] = await publish({ name: 'Photo', entry_path: '/photo.png' });
  made['audio'] = await publish({ name: 'Sound', entry_path: '/sound.mp3' });
  made['text'] = await publish({ name: 'Plain', entry_path: '/plain.txt' });
  made['svg'] = await publish({ name: 'Chart', entry_path: '/chart.svg' });
  made['xml'] = await publish({ name: 'Feed', entry_path: '/feed.xml' });
  made['pdf'] = await publish({ name: 'Paper', entry_path: '/paper.pdf' });
  made['binary'] = await publish({ name: 'Data', entry_path: '/data.bin' });
  codes.push(made['page'].code);
  for (const reason of ['Second', 'Third']) {
    const released = await manage('POST', `/publishes/${made['page'].key}/versions`, { reason });
    expect(released.status).toBe(201);
    codes.push(released.data.share_code);
  }
});
afterAll(async () => {
  await house.daemon.close();
});

describe('the list', () => {
  test('has exactly the fields of an item, with times in Beijing time', async () => {
    const { status, json } = await read('/publishes');
    expect([status, json.code, json.message]).toEqual([200, 0, 'ok']);
    expect(json.data.map((item: { publish_key: string }) => item.publish_key)).toEqual([
      made['page']!.key,
      made['markdown']!.key,
    ]);
    expect(json.data[0]).toEqual({
      publish_key: expect.stringMatching(KEY),
      name: 'Tides 100%_\\É of "März"',
      description: 'High and low.',
      category: 'Reports',
      latest_published_at: expect.stringMatching(BEIJING),
      version_count: 3,
      created_at: expect.stringMatching(BEIJING),
      updated_at: expect.stringMatching(BEIJING),
      owner: OWNER,
    });
    const at = Date.parse(`${json.data[0].latest_published_at.replace(' ', 'T')}+08:00`);
    expect(Math.abs(at - Date.now())).toBeLessThan(10 * 60_000);
  });

  test.each([
    ['account=mara', 2],
    ['account=Mara', 0],
    ['account=mar', 0],
    ['account=ben', 0],
    ['category=Reports', 1],
    ['category=reports', 0],
    ['category=Rep%25', 0],
    ['name=tides', 1],
    ['name=TIDES', 1],
    ['name=100%25_', 1],
    ['name=%25', 1],
    ['name=_', 1],
    ['name=%5C', 1],
    ['name=%22m%C3%A4rz', 1],
    ['name=%C3%A9', 1],
    ['name=M%C3%84RZ', 1],
    ['name=e', 2],
    ['name=nothing', 0],
    ['name=', 2],
    ['account=', 0],
    ['category=', 0],
    ["name='%20OR%201=1--", 0],
    ['name=t&account=mara&category=Reports', 1],
    ['name=notes&category=Reports', 0],
    ['unknown=1', 2],
  ])('the board with %s has %i', async (query, count) => {
    const { status, data } = await read(`/publishes?${query}`);
    expect([query, status, data?.length]).toEqual([query, 200, count]);
  });

  test.each(['name=a&name=b', 'account=a&account=b', 'category=a&category=b'])(
    'the board refuses %s',
    async (query) => {
      expect(await read(`/publishes?${query}`)).toMatchObject({ status: 422, json: { code: 422, data: null } });
    },
  );
});

describe('the detail', () => {
  test('a detail has exactly its fields, and the entry of its latest version', async () => {
    const { status, data } = await read(`/publishes/${made['page']!.key}`);
    expect(status).toBe(200);
    expect(data).toEqual({
      publish_key: made['page']!.key,
      name: 'Tides 100%_\\É of "März"',
      description: 'High and low.',
      category: 'Reports',
      origin: 'existing_session',
      tags: ['sea', 'moon'],
      public_to_board_enabled: true,
      latest_share_code: codes[2],
      latest_entry_path: '/site/index.html',
      latest_published_at: expect.stringMatching(BEIJING),
      distraction_free_mode_enabled: false,
      share_type: 'page',
      workspace_file: {
        name: 'index.html',
        path: '/site/index.html',
        mimeType: expect.stringMatching(/^text\/html/),
        url: expect.stringMatching(/^http/),
        downloadUrl: expect.stringMatching(/^http/),
      },
    });
    const { pathname, search } = new URL(data.workspace_file.url);
    expect((await house.read(pathname + search)).text.trim()).toBe(HTML);
    const download = new URL(data.workspace_file.downloadUrl);
    const { headers } = await house.read(download.pathname + download.search);
    expect(headers['content-disposition']).toMatch(/^attachment/);
  });

  test('the detail of a page without description and category, and not on the board', async () => {
    expect(await read(`/publishes/${made['image']!.key}`)).toMatchObject({
      status: 200,
      data: { description: null, category: null, tags: [], public_to_board_enabled: false, share_type: 'media' },
    });
  });

  test.each(['aaaaaaaaaaaaaaaa', 'short', 'aaaaaaaaaaaaaaa%00', 'a'.repeat(500), '%E0%A4%A', '..', '%2e%2e'])(
    'the detail of %s is not found, in the shape of the envelope',
    async (key) => {
      const { status, json } = await read(`/publishes/${key}`);
      expect([key, status, json?.data]).toEqual([key, 404, null]);
    },
  );
});

describe('versions', () => {
  const versions = (query = '') => read(`/publishes/${made['page']!.key}/versions${query}`);
  const numbers = (reply: Reply) => reply.data?.map((version: { version_no: number }) => version.version_no);
  /** The day of a moment in a zone. */
  const dayOf = (at: string, tz: string) =>
    new Intl.DateTimeFormat('sv-SE', { timeZone: tz, dateStyle: 'short' }).format(Date.parse(at));
  const beside = (day: string, days: number) =>
    new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);

  test('versions have exactly their fields, the newest first', async () => {
    const { status, data } = await versions();
    expect(status).toBe(200);
    expect(data).toEqual(
      [3, 2, 1].map((no) => ({
        version_no: no,
        share_code: codes[no - 1],
        entry_path: '/site/index.html',
        published_at: expect.stringMatching(ISO),
        is_latest: no === 3,
      })),
    );
    for (const { share_code: code } of data) expect(code).toMatch(CODE);
  });

  test.each([
    ['?limit=1', [3]],
    ['?limit=2&offset=1', [2, 1]],
    ['?offset=3', []],
    ['?offset=9007199254740991', []],
    ['?limit=200', [3, 2, 1]],
    ['?version_no=2', [2]],
    ['?version_no=99', []],
    ['?tz=Asia/Shanghai', [3, 2, 1]],
    ['?date_from=2000-01-01', [3, 2, 1]],
    ['?date_to=2000-01-01', []],
    ['?date_to=9999-12-31', [3, 2, 1]],
    ['?date=2000-02-29', []],
  ])('versions with %s are those that it selects', async (query, expected) => {
    const reply = await versions(query);
    expect([query, reply.status, numbers(reply)]).toEqual([query, 200, expected]);
  });

  test.each(['UTC', 'Asia/Shanghai', 'Pacific/Kiritimati', 'Pacific/Pago_Pago', 'America/New_York'])(
    'versions of today, and of no other day, in %s',
    async (tz) => {
      const all = (await versions()).data as { version_no: number; published_at: string }[];
      // They may have been published around a midnight of this zone.
      const published = all.map(({ version_no: no, published_at: at }) => ({ no, day: dayOf(at, tz) }));
      const today = published[0]!.day;
      const [before, after] = [beside(today, -1), beside(today, 1)];
      for (const [query, first, last] of [
        [`date=${today}`, today, today],
        [`date=${before}`, before, before],
        [`date=${after}`, after, after],
        [`date_from=${today}&date_to=${today}`, today, today],
        [`date_from=${before}&date_to=${today}`, before, today],
        [`date_to=${before}`, '', before],
        [`date_from=${after}`, after, '9'],
      ] as const) {
        const expected = published.filter(({ day }) => day >= first && day <= last).map(({ no }) => no);
        const reply = await versions(`?${query}&tz=${encodeURIComponent(tz)}`);
        expect([tz, query, reply.status, numbers(reply)]).toEqual([tz, query, 200, expected]);
      }
    },
  );

  test.each([
    ['?limit=0', 422],
    ['?limit=201', 422],
    ['?limit=-1', 422],
    ['?limit=1.5', 422],
    ['?limit=abc', 422],
    ['?limit=', 422],
    ['?limit=1&limit=2', 422],
    ['?offset=-1', 422],
    ['?offset=x', 422],
    ['?version_no=0', 422],
    ['?version_no=-1', 422],
    ['?version_no=1e1', 422],
    ['?version_no=one', 422],
    ['?date=2026-02-30', 422],
    ['?date=2026-1-1', 422],
    ['?date=today', 422],
    ['?date=20260101', 422],
    ['?date=2026-01-01T00:00:00Z', 422],
    ['?date_from=', 422],
    ['?date_to=31.12.2026', 422],
    ['?tz=', 422],
    ['?tz=Mars/Olympus', 422],
    ['?tz=%2B08:00', 422],
    ['?tz=GMT%2B8', 422],
    ['?date=2026-01-01&date_from=2026-01-01', 400],
    ['?date=2026-01-01&date_to=2026-01-01', 400],
    ['?date=2026-01-01&date_from=2026-01-01&date_to=2026-01-02', 400],
    ['?date_from=2026-01-02&date_to=2026-01-01', 400],
    ['?date_from=2026-01-02&date_to=2026-01-01&tz=Asia/Shanghai', 400],
  ])('versions with %s are %i', async (query, status) => {
    const reply = await versions(query);
    expect([query, reply.status, reply.json]).toEqual([
      query,
      status,
      { code: status, message: expect.any(String), data: null },
    ]);
  });

  test('versions of a page that is none are not found', async () => {
    expect((await read('/publishes/aaaaaaaaaaaaaaaa/versions')).status).toBe(404);
  });
});

describe('files', () => {
  const files = (no: string | number, key = made['page']!.key) => read(`/publishes/${key}/versions/${no}/files`);

  test('files are a tree of the entry’s folder, without dot names and links', async () => {
    const { status, data } = await files(3);
    expect(status).toBe(200);
    const named = (nodes: Json[]): Json =>
      nodes.map(({ path, type, children }) => [path, type, children && named(children)]);
    expect(named(data)).toEqual([
      [
        '/site',
        'folder',
        [
          [
            '/site/sub',
            'folder',
            [
              ['/site/sub/a b%20#?.txt', 'file', null],
              ['/site/sub/data.json', 'file', null],
              ['/site/sub/é.txt', 'file', null],
            ],
          ],
          ['/site/index.html', 'file', null],
          ['/site/moon.png', 'file', null],
          ['/site/style.css', 'file', null],
        ],
      ],
    ]);
  });

  test('files have exactly the fields of a node, and addresses that open', async () => {
    const [folder] = (await files(3)).data;
    const file = folder.children.find(({ name }: { name: string }) => name === 'moon.png');
    expect(file).toEqual({
      id: expect.any(String),
      name: 'moon.png',
      type: 'file',
      path: '/site/moon.png',
      size: PNG.length,
      mimeType: 'image/png',
      url: expect.any(String),
      downloadUrl: expect.any(String),
      children: null,
    });
    expect(folder).toEqual({
      id: expect.any(String),
      name: 'site',
      type: 'folder',
      path: '/site',
      size: null,
      mimeType: null,
      url: null,
      downloadUrl: null,
      children: expect.any(Array),
    });
    const all = [folder, ...folder.children, ...folder.children.find((node: Json) => node.name === 'sub').children];
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    for (const { url, type } of all.filter((node) => node.type === 'file')) {
      const { pathname, search } = new URL(url);
      expect([url, type, (await house.read(pathname + search)).status]).toEqual([url, 'file', 200]);
    }
  });

  test.each(['0', '99', '-1', 'abc', '1.0', '01', '99999999999999999999', '%00'])(
    'files of version %s are 404',
    async (no) => {
      expect([no, (await files(no)).status]).toEqual([no, 404]);
    },
  );
});

describe('a share', () => {
  test('a share has exactly its fields', async () => {
    const { status, data } = await read(share('page'));
    expect(status).toBe(200);
    expect(data).toEqual({
      share_code: codes[0],
      share_type: 'page',
      publish_key: made['page']!.key,
      name: 'Tides 100%_\\É of "März"',
      description: 'High and low.',
      category: 'Reports',
      tags: ['sea', 'moon'],
      owner: OWNER,
      version_no: 1,
      is_latest: false,
      entry_path: '/site/index.html',
      published_at: expect.stringMatching(ISO),
      expires_at: null,
      distraction_free_mode_enabled: false,
      workspace_file: expect.objectContaining({ name: 'index.html', path: '/site/index.html' }),
    });
  });

  test('a share has exactly the decided metadata', async () => {
    const { data } = await read(`/shares/${codes[2]}/metadata`);
    expect(data).toEqual({
      share_code: codes[2],
      share_type: 'page',
      title: 'Tides 100%_\\É of "März"',
      description: 'High and low.',
      mime_type: expect.stringMatching(/^text\/html/),
      size: HTML.length + 1,
      sha256: sha256(`${HTML}\n`),
      entry_path: '/site/index.html',
      version_no: 3,
      file_count: 6,
      total_size: expect.any(Number),
      published_at: expect.stringMatching(ISO),
      expires_at: null,
    });
  });

  test.each([
    ['page', 'page', 'text/html', 404],
    ['markdown', 'page', 'text/plain', 404],
    ['image', 'media', 'image/png', 200],
    ['audio', 'media', 'audio/mpeg', 200],
    ['svg', 'media', 'image/svg+xml', 200],
    ['text', 'file', 'text/plain', 404],
    ['xml', 'file', 'text/plain', 404],
    ['pdf', 'file', 'application/pdf', 404],
    ['binary', 'file', 'application/octet-stream', 404],
  ])('a share of %s has the type %s, content of %s, and media: %i', async (name, type, mimeType, media) => {
    expect((await read(share(name))).data.share_type).toBe(type);
    const content = await read(`${share(name)}/content`);
    expect([name, content.status, content.headers['content-type']]).toEqual([
      name,
      200,
      expect.stringMatching(new RegExp(`^${mimeType.replace('+', '\\+')}`)),
    ]);
    expect([name, (await read(`${share(name)}/media`)).status]).toEqual([name, media]);
    expect([name, (await read(`${share(name)}/media`, { method: 'HEAD' })).status]).toEqual([name, media]);
  });

  test.each(['a'.repeat(22), 'short', '%00'.repeat(22), `${'a'.repeat(21)}%2f`, 'x'.repeat(5_000)])(
    'a share of code %s is not found, in each of its forms',
    async (code) => {
      for (const form of ['', '/metadata', '/content', '/media', '/assets/index.html'])
        expect([form, (await read(`/shares/${code}${form}`)).status]).toEqual([form, 404]);
    },
  );

  test('no credential is read: wrong, doubled and foreign ones change nothing', async () => {
    const plain = await read(share('page'));
    for (const headers of [
      { authorization: 'Bearer errand_wrong' },
      { authorization: `Bearer ${house.ben.key}` },
      { 'x-api-key': 'nonsense' },
      { authorization: `Bearer ${house.mara.token}`, 'x-api-key': house.ben.key },
      { authorization: ['Bearer a', 'Bearer b'] as unknown as string },
      { cookie: 'session=1' },
    ]) {
      const reply = await read(share('page'), { headers });
      expect([headers, reply.status, reply.text]).toEqual([headers, 200, plain.text]);
    }
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('nothing is changed by %s, which is 405', async (method) => {
    for (const path of ['/publishes', `/publishes/${made['page']!.key}`, share('page'), `${share('page')}/content`]) {
      const reply = await read(path, { method });
      expect([path, reply.status, reply.headers.allow]).toEqual([path, 405, expect.stringContaining('GET')]);
    }
  });
});

describe('bytes', () => {
  const content = () => `${share('image')}/content`;

  test('bytes come with GET, and their headers with HEAD', async () => {
    for (const path of [content(), `${share('image')}/media`, `${share('image')}/assets/photo.png`]) {
      const got = await read(path);
      expect([path, got.status, got.bytes.equals(PNG)]).toEqual([path, 200, true]);
      const head = await read(path, { method: 'HEAD' });
      expect([path, head.status, head.bytes.length]).toEqual([path, 200, 0]);
      for (const name of [
        'content-type',
        'content-length',
        'etag',
        'accept-ranges',
        'content-security-policy',
        'last-modified',
      ])
        expect([path, name, head.headers[name]]).toEqual([path, name, got.headers[name]]);
      expect(got.headers).toMatchObject({
        'content-length': String(PNG.length),
        'accept-ranges': 'bytes',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'x-request-id': expect.any(String),
      });
      expect(got.headers['content-security-policy']).toMatch(/(^|; *)sandbox/);
      expect(got.headers['content-security-policy']).not.toContain('allow-same-origin');
      expect(got.headers['set-cookie']).toBeUndefined();
    }
  });

  test.each([
    ['bytes=0-3', 206, 'bytes 0-3/70', 4],
    ['bytes=66-', 206, 'bytes 66-69/70', 4],
    ['bytes=-4', 206, 'bytes 66-69/70', 4],
    ['bytes=0-999', 206, 'bytes 0-69/70', 70],
    ['bytes=70-', 416, 'bytes */70', null],
    ['bytes=5-2', 416, 'bytes */70', null],
    ['lines=1-2', 200, undefined, 70],
  ])('bytes of a range %s are %i', async (range, status, contentRange, length) => {
    expect(PNG.length).toBe(70);
    const got = await read(content(), { headers: { range } });
    expect([range, got.status, got.headers['content-range']]).toEqual([range, status, contentRange]);
    if (length !== null) expect(got.bytes.length).toBe(length);
  });

  test('bytes are not sent again to a reader that has them', async () => {
    const { headers } = await read(content());
    expect(headers.etag).toMatch(/^"/);
    for (const condition of [
      { 'if-none-match': headers.etag },
      { 'if-none-match': `"other", ${headers.etag}` },
      { 'if-none-match': '*' },
      { 'if-modified-since': headers['last-modified'] },
    ]) {
      const again = await read(content(), { headers: condition });
      expect([condition, again.status, again.bytes.length]).toEqual([condition, 304, 0]);
    }
    for (const condition of [{ 'if-none-match': '"other"' }, { 'if-modified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' }])
      expect([condition, (await read(content(), { headers: condition })).status]).toEqual([condition, 200]);
    const ranged = { range: 'bytes=0-3', 'if-range': '"other"' };
    expect((await read(content(), { headers: ranged })).status).toBe(200);
    expect((await read(content(), { headers: { ...ranged, 'if-range': headers.etag } })).status).toBe(206);
  });

  test.each([
    ['index.html', 200],
    ['style.css', 200],
    ['moon.png', 200],
    ['sub/data.json', 200],
    ['sub/a%20b%2520%23%3F.txt', 200],
    ['sub/%C3%A9.txt', 200],
    ['sub/e%CC%81.txt', 404],
    ['Style.css', 404],
    ['style.CSS', 404],
    ['.secret', 404],
    ['link.css', 404],
    ['sub', 404],
    ['sub/', 404],
    ['', 404],
    ['../plain.txt', 404],
    ['%2e%2e/plain.txt', 404],
    ['sub/../style.css', 404],
    ['./style.css', 404],
    ['/style.css', 404],
    ['%2Fetc%2Fpasswd', 404],
    ['sub%2Fdata.json', 404],
    ['style.css%00', 404],
    ['style.css%00.png', 404],
    ['sub%5Cdata.json', 404],
    ['site/style.css', 404],
    ['style.css?download=1', 200],
    ['%FF', 404],
    ['missing.css', 404],
    ['x'.repeat(4_000), 404],
  ])('bytes of the asset %s are %i', async (path, status) => {
    const reply = await read(`${share('page')}/assets/${path}`);
    expect([path, reply.status]).toEqual([path, status]);
    if (status === 404 && reply.json !== undefined) expect(reply.json).toMatchObject({ code: 404, data: null });
  });

  test('bytes of an asset are those of its name', async () => {
    expect((await read(`${share('page')}/assets/sub/a%20b%2520%23%3F.txt`)).text).toBe('odd');
    expect((await read(`${share('page')}/assets/style.css`)).headers['content-type']).toMatch(/^text\/css/);
    const { headers } = await read(`${share('page')}/assets/style.css?download=1`);
    expect(headers['content-disposition']).toMatch(/^attachment/);
  });

  test('HTML, SVG and XML run nothing with the daemon’s origin', async () => {
    const html = await read(`${share('page')}/content`);
    expect(html.headers['content-security-policy']).toMatch(/^sandbox /);
    expect(html.headers['content-security-policy']).toContain("form-action 'none'");
    const svg = await read(`${share('svg')}/content`);
    expect(svg.headers['content-security-policy']).toMatch(/sandbox(;|$)/);
    expect(svg.headers['content-security-policy']).not.toContain('allow-scripts');
    expect((await read(`${share('xml')}/content`)).headers['content-type']).toMatch(/^text\/plain/);
  });
});

describe('the end of a share', () => {
  test('an expired share is not found in any of its forms, and comes back with a later end', async () => {
    const { code, key } = await publish({ name: 'Short', entry_path: '/photo.png', public_to_board_enabled: true });
    const soon = new Date(Date.now() + 4_000).toISOString();
    expect((await manage('PATCH', `/shares/${code}`, { expires_at: soon })).data.expires_at).toBe(soon);
    await waitFor(async () => (await read(`/shares/${code}`)).status === 404);
    for (const form of ['/metadata', '/content', '/media', '/assets/photo.png'])
      expect([form, (await read(`/shares/${code}${form}`)).status]).toEqual([form, 404]);
    expect((await read(`/publishes/${key}`)).data).toMatchObject({
      latest_share_code: null,
      latest_entry_path: null,
      latest_published_at: null,
      share_type: null,
      workspace_file: null,
    });
    expect((await read(`/publishes/${key}/versions`)).data).toEqual([]);
    expect((await read(`/publishes/${key}/versions/1/files`)).status).toBe(404);
    expect((await read('/publishes?name=Short')).data).toEqual([]);
    expect((await manage('PATCH', `/shares/${code}`, { expires_at: null })).data.share_status).toBe('active');
    expect((await read(`/shares/${code}/content`)).status).toBe(200);
  });

  test('a withdrawal is for good, and the version before is the latest', async () => {
    const { code, key } = await publish({ name: 'Withdrawn', entry_path: '/plain.txt' });
    const second = (await manage('POST', `/publishes/${key}/versions`, {})).data;
    expect((await manage('DELETE', `/shares/${second.share_code}`)).status).toBe(200);
    for (const form of ['', '/metadata', '/content', '/assets/plain.txt'])
      expect([form, (await read(`/shares/${second.share_code}${form}`)).status]).toEqual([form, 404]);
    const detail = (await read(`/publishes/${key}`)).data;
    expect(detail).toMatchObject({ latest_share_code: code, workspace_file: { path: '/plain.txt' } });
    expect((await read(`/publishes/${key}/versions`)).data).toEqual([
      expect.objectContaining({ version_no: 1, is_latest: true }),
    ]);
    expect((await manage('PATCH', `/shares/${second.share_code}`, { expires_at: null })).status).toBe(409);
    expect((await manage('POST', `/publishes/${key}/versions`, {})).data.version_no).toBe(3);
  });

  test('a page that is hidden from the board is read by its links', async () => {
    const { code, key } = await publish({ name: 'Hiding', entry_path: '/plain.txt', public_to_board_enabled: true });
    expect((await read('/publishes?name=Hiding')).data).toHaveLength(1);
    await manage('PATCH', `/publishes/${key}`, { public_to_board_enabled: false });
    expect((await read('/publishes?name=Hiding')).data).toEqual([]);
    for (const path of [
      `/publishes/${key}`,
      `/publishes/${key}/versions`,
      `/shares/${code}`,
      `/shares/${code}/content`,
    ])
      expect([path, (await read(path)).status]).toEqual([path, 200]);
  });

  test('a page is deleted with all its versions', async () => {
    const { code, key } = await publish({ name: 'Deleted', entry_path: '/plain.txt', public_to_board_enabled: true });
    expect((await manage('DELETE', `/publishes/${key}`)).status).toBe(200);
    for (const path of [`/publishes/${key}`, `/publishes/${key}/versions`, `/publishes/${key}/versions/1/files`])
      expect([path, (await read(path)).status]).toEqual([path, 404]);
    expect((await read(`/shares/${code}/content`)).status).toBe(404);
    expect((await manage('DELETE', `/publishes/${key}`)).status).toBe(404);
  });
});

test('after sixty codes that are none in a minute an address gets 429, and others do not', async () => {
  const headers = { 'x-forwarded-for': '192.0.2.7' };
  const statuses: number[] = [];
  for (let i = 0; i < 61; i += 1) {
    const path = i % 2 === 0 ? `/shares/${String(i).padStart(22, 'z')}` : `/publishes/${String(i).padStart(16, 'z')}`;
    statuses.push((await read(path, { headers })).status);
  }
  expect(statuses.slice(0, 60)).toEqual(Array(60).fill(404));
  expect(statuses[60]).toBe(429);
  const limited = await read(share('page'), { headers });
  expect([limited.status, limited.json.code]).toEqual([429, 429]);
  expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0);
  expect((await read(share('page'))).status).toBe(200);
});
