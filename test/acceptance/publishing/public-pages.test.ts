// The list, pages and versions of the public interface (§4.7) to the letter, asked of a real daemon.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Reply } from '../../support/publishing/published-fixture.ts';
import {
  BEIJING,
  CODE,
  HTML,
  ISO,
  KEY,
  OWNER,
  type PublishedSite,
  startPublishedSite,
} from '../../support/publishing/published-site.ts';

let site: PublishedSite;

beforeAll(async () => {
  site = await startPublishedSite();
});
afterAll(async () => {
  await site.fixture.daemon.close();
});

describe('the list', () => {
  test('has exactly the fields of an item, with times in Beijing time', {
    tags: ['§2.13-envelope', '§2.13-list-item'],
  }, async () => {
    const { status, json } = await site.read('/publishes');
    expect([status, json.code, json.message]).toEqual([200, 0, 'ok']);
    expect(json.data.map((item: { publish_key: string }) => item.publish_key)).toEqual([
      site.made['page']!.key,
      site.made['markdown']!.key,
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
  ])('the board with %s has %i', { tags: ['§4.7-list', 'F5-name'] }, async (query, count) => {
    const { status, data } = await site.read(`/publishes?${query}`);
    expect([query, status, data?.length]).toEqual([query, 200, count]);
  });

  test.each(['name=a&name=b', 'account=a&account=b', 'category=a&category=b'])(
    'the board refuses %s',
    { tags: ['§4.7-list'] },
    async (query) => {
      expect(await site.read(`/publishes?${query}`)).toMatchObject({ status: 422, json: { code: 422, data: null } });
    },
  );
});

describe('the detail', () => {
  test('a detail has exactly its fields, and the entry of its latest version', {
    tags: ['§2.13-detail', '§2.13-workspace-file'],
  }, async () => {
    const { status, data } = await site.read(`/publishes/${site.made['page']!.key}`);
    expect(status).toBe(200);
    expect(data).toEqual({
      publish_key: site.made['page']!.key,
      name: 'Tides 100%_\\É of "März"',
      description: 'High and low.',
      category: 'Reports',
      origin: 'existing_session',
      tags: ['sea', 'moon'],
      public_to_board_enabled: true,
      latest_share_code: site.codes[2],
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
    expect((await site.fixture.read(pathname + search)).text.trim()).toBe(HTML);
    const download = new URL(data.workspace_file.downloadUrl);
    const { headers } = await site.fixture.read(download.pathname + download.search);
    expect(headers['content-disposition']).toMatch(/^attachment/);
  });

  test('the detail of a page without description and category, and not on the board', {
    tags: ['§2.13-detail', '§4.7-detail'],
  }, async () => {
    expect(await site.read(`/publishes/${site.made['image']!.key}`)).toMatchObject({
      status: 200,
      data: { description: null, category: null, tags: [], public_to_board_enabled: false, share_type: 'media' },
    });
  });

  test.each(['aaaaaaaaaaaaaaaa', 'short', 'aaaaaaaaaaaaaaa%00', 'a'.repeat(500), '%E0%A4%A', '..', '%2e%2e'])(
    'the detail of %s is not found, in the shape of the envelope',
    { tags: ['§2.13-envelope', '§4.7-detail'] },
    async (key) => {
      const { status, json } = await site.read(`/publishes/${key}`);
      expect([key, status, json?.data]).toEqual([key, 404, null]);
    },
  );
});

describe('versions', () => {
  const versions = (query = '') => site.read(`/publishes/${site.made['page']!.key}/versions${query}`);
  const numbers = (reply: Reply) => reply.data?.map((version: { version_no: number }) => version.version_no);
  /** The day of a moment in a zone. */
  const dayOf = (at: string, tz: string) =>
    new Intl.DateTimeFormat('sv-SE', { timeZone: tz, dateStyle: 'short' }).format(Date.parse(at));
  const beside = (day: string, days: number) =>
    new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10);

  test('versions have exactly their fields, the newest first', {
    tags: ['§2.13-version', 'F1-codes', 'F13-order'],
  }, async () => {
    const { status, data } = await versions();
    expect(status).toBe(200);
    expect(data).toEqual(
      [3, 2, 1].map((no) => ({
        version_no: no,
        share_code: site.codes[no - 1],
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
  ])(
    'versions with %s are those that it selects',
    { tags: ['§4.7-versions', '§8-public-versions', 'F13-order'] },
    async (query, expected) => {
      const reply = await versions(query);
      expect([query, reply.status, numbers(reply)]).toEqual([query, 200, expected]);
    },
  );

  test.each(['UTC', 'Asia/Shanghai', 'Pacific/Kiritimati', 'Pacific/Pago_Pago', 'America/New_York'])(
    'versions of today, and of no other day, in %s',
    { tags: ['§4.7-dates', '§4.7-date-with-a-range'] },
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
  ])(
    'versions with %s are %i',
    { tags: ['§4.7-versions', '§4.7-date-with-a-range', '§7-reversed-range', '§8-public-versions', 'F5-dates'] },
    async (query, status) => {
      const reply = await versions(query);
      expect([query, reply.status, reply.json]).toEqual([
        query,
        status,
        { code: status, message: expect.any(String), data: null },
      ]);
    },
  );

  test('versions of an unknown page are not found', async () => {
    expect((await site.read('/publishes/aaaaaaaaaaaaaaaa/versions')).status).toBe(404);
  });
});
