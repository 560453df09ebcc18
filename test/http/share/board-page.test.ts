// The board, part by part.
import { expect, test } from 'vitest';
import { type Board, BOARD_PAGE_SIZE, renderBoard } from '../../../src/http/share/board-page.ts';
import { zoneOf } from '../../../src/http/share/zone.ts';
import { aPage, aVersion } from '../../support/http/published.ts';

function shown(over: Partial<Board> = {}): string {
  const items = over.items ?? [aPage()];
  const search = { q: '', category: null, page: 1 };
  const zone = zoneOf('Asia/Shanghai');
  const origin = 'https://errand.example';
  const board = { search, items, total: items.length, categories: [], origin, zone, nonce: 'n' };
  return renderBoard({ ...board, ...over }).toString();
}

test('a card has name, type, category, the beginning of the description, owner, time and versions', () => {
  const page = aPage({
    name: '<b>Tides</b>',
    category: 'Surveys',
    description: 'word '.repeat(100),
    versionCount: 3,
    latest: aVersion('/a.pdf', { no: 3 }),
  });
  const html = shown({ items: [page] });
  expect(html).toContain('<h3 dir="auto"><a href="/share/p/KeyOfTides0000001">&lt;b&gt;Tides&lt;/b&gt;</a></h3>');
  expect(html).toContain('<p class="kicker">PDF document · Surveys</p>');
  const [, summary = ''] = /<p class="summary" dir="auto">([^<]*)<\/p>/.exec(html) ?? [];
  expect(summary).toMatch(/^(word )+word…$/);
  expect(summary.length).toBeLessThanOrEqual(160);
  expect(html).toContain('<span class="owner">Mara Vogt</span> <span class="department">Lab</span>');
  expect(html).toContain(
    '<time class="moment" datetime="2026-03-01T12:03:00.000Z">2026-03-01 20:03</time> <span>3 versions</span>',
  );
  expect(html).toContain('Times are in <span class="zone">Beijing time</span>.');
});

test('a search stays in its form, in the categories and in the title', () => {
  const search = { q: 'a"&', category: 'R&D', page: 1 };
  const categories = [
    { name: 'R&D', count: 12 },
    { name: 'Surveys', count: 3 },
  ];
  const html = shown({ search, categories, total: 1 });
  expect(html).toContain('<label for="q">Search by name</label>');
  expect(html).toContain('name="q" value="a&quot;&amp;"');
  expect(html).toContain('<input type="hidden" name="category" value="R&amp;D">');
  expect(html).toContain(
    '<a href="/share?q=a%22%26&amp;category=R%26D" aria-current="true">R&amp;D <span class="count">12</span></a>',
  );
  expect(html).toContain('<a href="/share?q=a%22%26">All</a>');
  expect(html).toContain('<title>“a&quot;&amp;” · R&amp;D · Shared pages</title>');
  expect(html).toContain('1 page with “a&quot;&amp;” in the name in R&amp;D, newest first');
});

test('categories beyond ten are behind a click, unless one of them is chosen', () => {
  const categories = Array.from({ length: 14 }, (_, n) => ({ name: `c${n}`, count: 1 }));
  expect(shown({ categories })).toMatch(/>c9 <[^]*<details><summary>4 more<\/summary><ul><li><a[^>]*>c10 </);
  const search = { q: '', category: 'c13', page: 1 };
  expect(shown({ categories, search })).toContain('<details open>');
});

test('pages of results lead to each other', () => {
  const at = (page: number) => shown({ total: BOARD_PAGE_SIZE * 2 + 1, search: { q: 'a', category: null, page } });
  expect(at(1)).not.toContain('rel="prev"');
  expect(at(1)).toContain('rel="next" href="/share?q=a&amp;page=2"');
  expect(at(2)).toContain('rel="prev" href="/share?q=a"');
  expect(at(2)).toContain('Page 2 of 3');
  expect(at(3)).toContain('rel="prev" href="/share?q=a&amp;page=2"');
  expect(at(3)).not.toContain('rel="next"');
  expect(shown({ total: BOARD_PAGE_SIZE })).not.toContain('Pages of results');
});

test.each([
  [{ total: 0, search: { q: '', category: null, page: 1 } }, 'Nothing has been published here yet.'],
  [{ total: 0, search: { q: 'x', category: null, page: 1 } }, 'No page matches this search.'],
  [{ total: 3, search: { q: '', category: null, page: 9 } }, 'There are not so many pages.'],
])('a board without results says why: %o', (over, words) => {
  expect(shown({ ...over, items: [] })).toContain(words);
});

test('a full board stays small', () => {
  const items = Array.from({ length: BOARD_PAGE_SIZE }, (_, n) =>
    aPage({
      name: `Low water at the north quay in October ${n}`,
      description: 'x '.repeat(200),
      category: 'Surveys',
      versionCount: 12,
    }),
  );
  const categories = Array.from({ length: 100 }, (_, n) => ({ name: `Category ${n}`, count: n }));
  expect(Buffer.byteLength(shown({ items, categories, total: 500 }))).toBeLessThan(26_000);
});
