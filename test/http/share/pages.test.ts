// The pages for people, over published pages that a test makes up.
import { expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { ErrandError, notFound } from '../../../src/domain/errors.ts';
import type { Settings } from '../../../src/domain/settings.ts';
import type { PublicPage, PublicPages, PublicVersion } from '../../../src/operations/publishing/public-pages.ts';
import type { Operations } from '../../../src/operations/operations.ts';
import { makeLog } from '../../../src/log/log.ts';
import { makeRenderer } from '../../../src/rendering/renderer.ts';
import { openFixture } from '../../support/http/http-fixture.ts';
import { aPage, aVersion } from '../../support/http/published.ts';

interface Published {
  readonly page?: PublicPage;
  readonly versions?: readonly PublicVersion[];
  readonly files?: readonly string[];
  readonly content?: string;
  readonly settings?: Partial<Settings>;
}

/** A fixture with one page. */
async function publish({ page = aPage(), versions = [], files = [], content = '', settings = {} }: Published = {}) {
  const all = versions.length === 0 && page.latest !== null ? [page.latest] : versions;
  const close = vi.fn(async () => undefined);
  const bytes = Buffer.from(content);
  const publicPages = {
    board: vi.fn(async () => ({ items: [page], total: 1 })),
    categories: async () => [{ name: 'Surveys', count: 1 }],
    page: async (key: string) => {
      if (key !== page.key) throw notFound('Page');
      return page;
    },
    versions: async (_key: string, { no }: { no?: number }) => {
      const items = all.filter((version) => no === undefined || version.no === no);
      return { items, total: items.length };
    },
    share: async (code: string) => {
      const version = all.find(({ shareCode }) => shareCode === code);
      if (version === undefined) throw notFound('Share');
      return { page, version };
    },
    paths: async () => files,
    openEntry: vi.fn(async () => ({
      blob: { size: bytes.length, read: async (to: Uint8Array) => void bytes.copy(to), close },
    })),
  };
  const renderer = makeRenderer({ clock: systemClock, log: makeLog({ level: 'fatal' }) });
  onTestFinished(() => renderer.stop());
  const operations = { publicPages: publicPages as unknown as PublicPages } as Partial<Operations>;
  const fixture = await openFixture({ operations, parts: { renderer }, settings });
  const get = async (path: string) => {
    const response = await fetch(fixture.url + path, { redirect: 'manual' });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  return { get, publicPages, close, url: fixture.url };
}

test('the board is searched by name, category and page, and ignores what other programs append', async () => {
  const { get, publicPages } = await publish();
  const { status, headers, text } = await get('/share?utm_source=x&q=%20quay%20&category=R%26D&page=3&page=4');
  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(headers.get('cache-control')).toBe('no-cache');
  expect(Number(headers.get('content-length'))).toBe(Buffer.byteLength(text));
  expect(publicPages.board).toHaveBeenLastCalledWith({ name: 'quay', category: 'R&D', limit: 18, offset: 36 });
  for (const odd of ['?page=0', '?page=-1', '?page=x', '?q=&category=', '?%', '?q=%ff']) {
    expect((await get(`/share${odd}`)).status).toBe(200);
    expect(publicPages.board).toHaveBeenLastCalledWith(expect.objectContaining({ offset: 0 }));
  }
  await get(`/share?page=999999999&q=${'x'.repeat(1_000)}`);
  expect(publicPages.board).toHaveBeenLastCalledWith({ name: 'x'.repeat(200), limit: 18, offset: 999 * 18 });
});

test('HEAD describes a page without sending it', async () => {
  const { url } = await publish();
  const response = await fetch(`${url}/share`, { method: 'HEAD' });
  expect(response.status).toBe(200);
  expect(Number(response.headers.get('content-length'))).toBeGreaterThan(1_000);
  expect(await response.text()).toBe('');
});

test('a page shows its newest version, and its Markdown with the files that were published with it', async () => {
  const page = aPage({ latest: aVersion('/site/index.md') });
  const content = '# High water\n\n![quay](img/quay.png) ![gone](gone.png) [more](../secret.md)';
  const { get, close } = await publish({ page, content, files: ['/site/index.md', '/site/img/quay.png'] });
  const { status, text } = await get(`/share/p/${page.key}`);
  expect(status).toBe(200);
  expect(text).toContain('<h2 id="doc-high-water"><a class="anchor" href="#doc-high-water">High water</a></h2>');
  expect(text).toContain('src="/api/v1/public/shares/Code000000000000000001/assets/img/quay.png"');
  expect(text).toContain('<span class="missing">gone</span> <a>more</a>');
  expect(close).toHaveBeenCalledTimes(1);
});

test('the same Markdown in another version leads to the files of that one', async () => {
  const versions = [2, 1].map((no) => aVersion('/index.md', { no, isLatest: no === 2 }));
  const page = aPage({ latest: versions[0]!, versionCount: 2 });
  const { get } = await publish({ page, versions, content: '![a](a.png)', files: ['/index.md', '/a.png'] });
  for (const { shareCode } of versions)
    expect((await get(`/share/${shareCode}`)).text).toContain(`src="/api/v1/public/shares/${shareCode}/assets/a.png"`);
});

test('a chosen version leads to its own address', async () => {
  const versions = [2, 1].map((no) => aVersion('/index.html', { no, isLatest: no === 2 }));
  const page = aPage({ latest: versions[0]!, versionCount: 2 });
  const { get } = await publish({ page, versions });
  const { status, headers } = await get(`/share/p/${page.key}?version=1`);
  expect(status).toBe(303);
  expect(headers.get('location')).toBe('/share/Code000000000000000001');
  expect((await get('/share/Code000000000000000001')).text).toContain('This is version 1.');
  for (const odd of ['3', '0', '', 'x', '1e0', '%2e'])
    expect((await get(`/share/p/${page.key}?version=${odd}`)).status).toBe(404);
});

test('source code is highlighted, and what turns out to be binary is a download', async () => {
  const page = aPage({ latest: aVersion('/tide.py') });
  const { get } = await publish({ page, content: 'return 1' });
  expect((await get(`/share/p/${page.key}`)).text).toContain('<span class="hljs-keyword">return</span>');
  const binary = await publish({ page: aPage({ latest: aVersion('/tide.dat') }), content: 'a\0b' });
  expect((await binary.get(`/share/p/${page.key}`)).text).toContain('<p class="filename" dir="auto">tide.dat</p>');
});

test('a text that is too large is a download, and is not even read', async () => {
  const page = aPage({ latest: aVersion('/tide.log.txt', { size: 1024 * 1024 + 1 }) });
  const { get, publicPages } = await publish({ page });
  expect((await get(`/share/p/${page.key}`)).text).toContain('Text · 1.0 MB');
  expect(publicPages.openEntry).not.toHaveBeenCalled();
});

test('of a table, however large, the first megabyte is read, and its text can be shown instead', async () => {
  const content = `id,name\n${'1,x\n'.repeat(400_000)}`;
  const page = aPage({ latest: aVersion('/soundings.csv', { size: content.length }) });
  const { get } = await publish({ page, content });
  const { text } = await get(`/share/p/${page.key}`);
  expect(text).toContain('The first 1,000 rows');
  expect(text).toContain('<td>x</td>');
  expect(text).toMatch(/<a href="\/api\/v1\/public\/shares\/[^"]+\/assets\/soundings.csv">The text behind it<\/a>/);
  const small = await publish({ page: aPage({ latest: aVersion('/soundings.csv') }), content: 'id,name\n1,<b>\n' });
  expect((await small.get(`/share/p/${page.key}`)).text).toContain(
    `<a href="/share/p/${page.key}?as=text">The text behind it</a>`,
  );
  expect((await small.get(`/share/p/${page.key}?as=text`)).text).toContain('<code>id,name\n1,&lt;b&gt;\n</code>');
  expect((await small.get(`/share/p/${page.key}?as=other`)).text).toContain('<td>&lt;b&gt;</td>');
});

test('times are in the zone of the setting, and each says its own moment', async () => {
  const publishing = { maxFiles: 1, maxTotalMb: 1, timeZone: 'America/New_York' };
  const page = aPage({ latest: aVersion('/a.py') });
  const { get } = await publish({ page, settings: { publish: publishing } });
  expect((await get(`/share/p/${page.key}`)).text).toContain('2026-03-01 07:01 America/New York</time>');
  expect((await get('/share')).text).toContain('Times are in <span class="zone">America/New York</span>.');
});

test('a page of which nothing can be read any more, and bytes that are gone, are pages with 404', async () => {
  const none = await publish({ page: aPage({ latest: null, versionCount: 0 }) });
  expect(await none.get('/share/p/KeyOfTides0000001')).toMatchObject({ status: 404 });
  const { get, publicPages } = await publish({ page: aPage({ latest: aVersion('/a.md') }) });
  publicPages.openEntry.mockRejectedValue(new ErrandError('not_found', 'x', { details: { why: 'file' } }));
  const { status, text } = await get('/share/p/KeyOfTides0000001');
  expect(status).toBe(404);
  expect(text).toContain('This file is missing');
});

test('whoever guesses is told to wait after sixty misses, also where something is', async () => {
  const { get } = await publish();
  for (let n = 0; n < 30; n += 1) {
    expect((await get(`/share/Guess${n}`)).status).toBe(404);
    expect((await get(`/share/p/Guess${n}`)).status).toBe(404);
  }
  const { status, headers, text } = await get('/share/Code000000000000000001');
  expect(status).toBe(429);
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  expect(text).toContain('Too many attempts');
  expect((await get('/share')).status).toBe(200);
});

test('a preview names the address that was opened, so that a link to a page keeps showing its newest version', async () => {
  const page = aPage();
  const { get } = await publish({ page });
  for (const path of [`/share/p/${page.key}`, `/share/${page.latest!.shareCode}`])
    expect((await get(path)).text).toMatch(new RegExp(`<meta property="og:url" content="[^"]+${path}">`));
});
