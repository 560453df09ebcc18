// Files and shares of the public interface (§4.7) to the letter, and how they end, asked of a real daemon.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json } from '../../support/publishing/published-fixture.ts';
import {
  HTML,
  ISO,
  OWNER,
  PNG,
  type PublishedSite,
  startPublishedSite,
} from '../../support/publishing/published-site.ts';
import { waitFor } from '../../support/time/wait-for.ts';

let site: PublishedSite;

beforeAll(async () => {
  site = await startPublishedSite();
});
afterAll(async () => {
  await site.fixture.daemon.close();
});

const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');

describe('files', () => {
  const files = (no: string | number, key = site.made['page']!.key) =>
    site.read(`/publishes/${key}/versions/${no}/files`);

  test('files are a tree of the entry’s folder, without dot names and links', {
    tags: ['§4.7-files', 'F11-folder', 'F13-paths'],
  }, async () => {
    const { status, data } = await files(3);
    expect(status).toBe(200);
    const named = (nodes: Json[]): Json =>
      nodes.map(({ path, type, children }) => [path, type, children && named(children)]);
    expect(named(data)).toEqual([
      [
        '/site',
        'folder',
        [
          ['/site/index.html', 'file', null],
          ['/site/moon.png', 'file', null],
          ['/site/style.css', 'file', null],
          [
            '/site/sub',
            'folder',
            [
              ['/site/sub/a b%20#?.txt', 'file', null],
              ['/site/sub/data.json', 'file', null],
              ['/site/sub/é.txt', 'file', null],
            ],
          ],
        ],
      ],
    ]);
  });

  test('files have exactly the fields of a node, and addresses that open', { tags: ['F10'] }, async () => {
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
      oss_status: null,
      oss_meta: null,
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
      oss_status: null,
      oss_meta: null,
    });
    const all = [folder, ...folder.children, ...folder.children.find((node: Json) => node.name === 'sub').children];
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    for (const { url, type } of all.filter((node) => node.type === 'file')) {
      const { pathname, search } = new URL(url);
      expect([url, type, (await site.fixture.read(pathname + search)).status]).toEqual([url, 'file', 200]);
    }
  });

  test.each(['0', '99', '-1', 'abc', '1.0', '01', '99999999999999999999', '%00'])(
    'files of version %s are 404',
    { tags: ['§4.7-files'] },
    async (no) => {
      expect([no, (await files(no)).status]).toEqual([no, 404]);
    },
  );
});

describe('a share', () => {
  test('a share has exactly its fields', { tags: ['§4.7-share', 'F9-fields'] }, async () => {
    const { status, data } = await site.read(site.share('page'));
    expect(status).toBe(200);
    expect(data).toEqual({
      share_code: site.codes[0],
      share_type: 'page',
      publish_key: site.made['page']!.key,
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

  test('a share has exactly the decided metadata', { tags: ['§4.7-share', 'F9-fields'] }, async () => {
    const { data } = await site.read(`/shares/${site.codes[2]}/metadata`);
    expect(data).toEqual({
      share_code: site.codes[2],
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
  ])(
    'a share of %s has the type %s, content of %s, and media: %i',
    { tags: ['§4.7-content', '§4.7-checks', 'F1-codes', 'F9-media'] },
    async (name, type, mimeType, media) => {
      expect((await site.read(site.share(name))).data.share_type).toBe(type);
      const content = await site.read(`${site.share(name)}/content`);
      expect([name, content.status, content.headers['content-type']]).toEqual([
        name,
        200,
        expect.stringMatching(new RegExp(`^${mimeType.replace('+', '\\+')}`)),
      ]);
      expect([name, (await site.read(`${site.share(name)}/media`)).status]).toEqual([name, media]);
      expect([name, (await site.read(`${site.share(name)}/media`, { method: 'HEAD' })).status]).toEqual([name, media]);
    },
  );

  test.each(['a'.repeat(22), 'short', '%00'.repeat(22), `${'a'.repeat(21)}%2f`, 'x'.repeat(5_000)])(
    'a share of code %s is not found, in each of its forms',
    async (code) => {
      for (const form of ['', '/metadata', '/content', '/media', '/assets/index.html'])
        expect([form, (await site.read(`/shares/${code}${form}`)).status]).toEqual([form, 404]);
    },
  );

  test('no credential is read: wrong, doubled and foreign ones change nothing', {
    tags: ['§4.7-no-credential'],
  }, async () => {
    const plain = await site.read(site.share('page'));
    for (const headers of [
      { authorization: 'Bearer errand_wrong' },
      { authorization: `Bearer ${site.fixture.ben.key}` },
      { 'x-api-key': 'nonsense' },
      { authorization: `Bearer ${site.fixture.mara.token}`, 'x-api-key': site.fixture.ben.key },
      { authorization: ['Bearer a', 'Bearer b'] as unknown as string },
      { cookie: 'session=1' },
    ]) {
      const reply = await site.read(site.share('page'), { headers });
      expect([headers, reply.status, reply.text]).toEqual([headers, 200, plain.text]);
    }
  });

  test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('nothing is changed by %s, which is 405', async (method) => {
    for (const path of [
      '/publishes',
      `/publishes/${site.made['page']!.key}`,
      site.share('page'),
      `${site.share('page')}/content`,
    ]) {
      const reply = await site.read(path, { method });
      expect([path, reply.status, reply.headers.allow]).toEqual([path, 405, expect.stringContaining('GET')]);
    }
  });
});

describe('the end of a share', () => {
  test('an expired share is not found in any of its forms, and comes back with a later end', {
    tags: ['§2.13-detail', '§2.13-workspace-file', '§4.7-files', '§4.7-checks', 'F4-shares'],
  }, async () => {
    const { code, key } = await site.publish({
      name: 'Short',
      entry_path: '/photo.png',
      public_to_board_enabled: true,
    });
    // An end that has passed before the request arrives is refused: then a later one is tried.
    await waitFor(async () => {
      const soon = new Date(Date.now() + 4_000).toISOString();
      return (await site.manage('PATCH', `/shares/${code}`, { expires_at: soon })).data?.expires_at === soon;
    });
    await waitFor(async () => (await site.read(`/shares/${code}`)).status === 404);
    for (const form of ['/metadata', '/content', '/media', '/assets/photo.png'])
      expect([form, (await site.read(`/shares/${code}${form}`)).status]).toEqual([form, 404]);
    expect((await site.read(`/publishes/${key}`)).data).toMatchObject({
      latest_share_code: code,
      latest_entry_path: '/photo.png',
      latest_published_at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/),
      share_type: 'media',
      workspace_file: null,
    });
    expect((await site.read(`/publishes/${key}/versions`)).data).toEqual([]);
    expect((await site.read(`/publishes/${key}/versions/1/files`)).status).toBe(404);
    expect((await site.read('/publishes?name=Short')).data).toEqual([]);
    expect((await site.manage('PATCH', `/shares/${code}`, { expires_at: null })).data.share_status).toBe('active');
    expect((await site.read(`/shares/${code}/content`)).status).toBe(200);
  });

  test('a withdrawal is for good, and the version before is the latest', {
    tags: ['§2.13-workspace-file', '§2.13-version', '§4.7-checks', 'F4-shares'],
  }, async () => {
    const { code, key } = await site.publish({ name: 'Withdrawn', entry_path: '/plain.txt' });
    const second = (await site.manage('POST', `/publishes/${key}/versions`, {})).data;
    expect((await site.manage('DELETE', `/shares/${second.share_code}`)).status).toBe(200);
    for (const form of ['', '/metadata', '/content', '/assets/plain.txt'])
      expect([form, (await site.read(`/shares/${second.share_code}${form}`)).status]).toEqual([form, 404]);
    const detail = (await site.read(`/publishes/${key}`)).data;
    expect(detail).toMatchObject({ latest_share_code: code, workspace_file: { path: '/plain.txt' } });
    expect((await site.read(`/publishes/${key}/versions`)).data).toEqual([
      expect.objectContaining({ version_no: 1, is_latest: true }),
    ]);
    expect((await site.manage('PATCH', `/shares/${second.share_code}`, { expires_at: null })).status).toBe(409);
    expect((await site.manage('POST', `/publishes/${key}/versions`, {})).data.version_no).toBe(3);
  });

  test('a page that is hidden from the board is read by its links', {
    tags: ['§4.7-list', '§4.7-board-display', 'F6'],
  }, async () => {
    const { code, key } = await site.publish({
      name: 'Hiding',
      entry_path: '/plain.txt',
      public_to_board_enabled: true,
    });
    expect((await site.read('/publishes?name=Hiding')).data).toHaveLength(1);
    await site.manage('PATCH', `/publishes/${key}`, { public_to_board_enabled: false });
    expect((await site.read('/publishes?name=Hiding')).data).toEqual([]);
    for (const path of [
      `/publishes/${key}`,
      `/publishes/${key}/versions`,
      `/shares/${code}`,
      `/shares/${code}/content`,
    ])
      expect([path, (await site.read(path)).status]).toEqual([path, 200]);
  });

  test('a page is deleted with all its versions', { tags: ['§4.7-list', '§4.7-detail'] }, async () => {
    const { code, key } = await site.publish({
      name: 'Deleted',
      entry_path: '/plain.txt',
      public_to_board_enabled: true,
    });
    expect((await site.manage('DELETE', `/publishes/${key}`)).status).toBe(200);
    for (const path of [`/publishes/${key}`, `/publishes/${key}/versions`, `/publishes/${key}/versions/1/files`])
      expect([path, (await site.read(path)).status]).toEqual([path, 404]);
    expect((await site.read(`/shares/${code}/content`)).status).toBe(404);
    expect((await site.manage('DELETE', `/publishes/${key}`)).status).toBe(404);
  });
});

test('after sixty unknown codes in a minute an address gets 429, and others do not', {
  tags: ['F8-misses'],
}, async () => {
  const headers = { 'x-forwarded-for': '192.0.2.7' };
  const statuses: number[] = [];
  for (let i = 0; i < 61; i += 1) {
    const path = i % 2 === 0 ? `/shares/${String(i).padStart(22, 'z')}` : `/publishes/${String(i).padStart(16, 'z')}`;
    statuses.push((await site.read(path, { headers })).status);
  }
  expect(statuses.slice(0, 60)).toEqual(Array(60).fill(404));
  expect(statuses[60]).toBe(429);
  const limited = await site.read(site.share('page'), { headers });
  expect([limited.status, limited.json.code]).toEqual([429, 429]);
  expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0);
  expect((await site.read(site.share('page'))).status).toBe(200);
});
