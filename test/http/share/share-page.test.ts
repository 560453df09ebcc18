// The page of one version, part by part.
import { expect, test } from 'vitest';
import type { PublicPage, PublicVersion } from '../../../src/operations/publishing/public-pages.ts';
import type { EntryText } from '../../../src/http/share/content.ts';
import { entryOf } from '../../../src/http/share/entry.ts';
import { renderSharePage } from '../../../src/http/share/share-page.ts';
import { zoneOf } from '../../../src/http/share/zone.ts';
import { type Contents, NO_CONTENTS } from '../../../src/rendering/rendering.ts';
import { aPage, aVersion, assetOf } from '../../support/http/published.ts';

interface Shown {
  readonly page?: Partial<PublicPage>;
  readonly version?: PublicVersion;
  readonly versions?: readonly PublicVersion[];
  readonly text?: EntryText;
  readonly asText?: boolean;
}

function shown({
  page,
  version = aVersion('/site/index.html'),
  versions = [],
  text = { kind: 'none' },
  asText = false,
}: Shown): string {
  const whole = { page: aPage({ latest: version, ...page }), version, versions, text };
  return renderSharePage({
    ...whole,
    entry: entryOf(version, asText),
    zone: zoneOf('Asia/Shanghai'),
    path: '/share/p/Key',
    origin: 'https://errand.example',
    nonce: 'n0nce',
  }).toString();
}

const made = (text: string, contents: Contents = NO_CONTENTS): EntryText => ({
  kind: 'html',
  html: Buffer.from(text),
  contents,
});

test('who published it and when, in Beijing time, and what it is filed under', { tags: ['F2-pages'] }, () => {
  const html = shown({
    page: { name: 'Tides & winds', description: 'Of <October>', category: 'Surveys', tags: ['quay', '"a"'] },
  });
  expect(html).toContain('<h1 dir="auto">Tides &amp; winds</h1>');
  expect(html).toContain('<span class="owner">Mara Vogt</span> <span class="department">Lab</span>');
  expect(html).toContain(
    '<time class="moment" datetime="2026-03-01T12:01:00.000Z">2026-03-01 20:01 Beijing time</time>',
  );
  expect(html).toContain('Of &lt;October&gt;</p>');
  expect(html).toContain('<li class="category">Surveys</li><li>quay</li><li>&quot;a&quot;</li>');
  expect(html).toContain('<a href="/share">All pages</a>');
});

test('an owner without a name has the account, and what is empty leaves nothing', () => {
  const html = shown({ page: { owner: { account: 'mara', name: '', department: '' }, isOnBoard: false } });
  expect(html).toContain('<span class="owner">mara</span> <time');
  for (const part of ['department', 'description"', 'labels', 'All pages', 'picker'])
    expect(html).not.toContain(`class="${part}`);
});

test('messengers get a title, a sentence, the full address, and a picture where it is one', () => {
  const html = shown({ page: { name: 'Tides', description: `High\nand  low ${'x'.repeat(300)}` } });
  expect(html).toContain('<title>Tides</title>');
  const [, description = ''] = /<meta name="description" content="([^"]*)">/.exec(html) ?? [];
  expect(description).toMatch(/^High and low x+…$/);
  expect(description).toHaveLength(200);
  expect(html).toContain(`<meta property="og:description" content="${description}">`);
  expect(html).toContain('<meta property="og:url" content="https://errand.example/share/p/Key">');
  expect(html).toContain('<meta name="twitter:card" content="summary">');
  expect(html).not.toContain('og:image');
  const picture = shown({ version: aVersion('/pictures/quay 1.png') });
  expect(picture).toContain('<meta name="description" content="PNG image by Mara Vogt">');
  expect(picture).toContain(
    '<meta property="og:image" content="https://errand.example/api/v1/public/shares/Code000000000000000001/assets/quay%201.png">',
  );
  expect(picture).toContain('content="summary_large_image"');
});

test('HTML is framed at its own address in a sandbox that is not of this origin', { tags: ['F2-pages'] }, () => {
  const version = aVersion('/site/index.html');
  const html = shown({ version, page: { name: 'A "b"' } });
  const [frame = ''] = /<iframe[^>]*>/.exec(html) ?? [];
  expect(frame).toContain(`src="${assetOf(version, '/site/index.html')}"`);
  expect(frame).toContain('title="A &quot;b&quot;"');
  expect(frame).toContain('referrerpolicy="no-referrer"');
  const [, sandbox = ''] = / sandbox="([^"]+)"/.exec(frame) ?? [];
  expect(sandbox).toContain('allow-scripts');
  expect(sandbox).not.toMatch(/allow-same-origin|allow-top-navigation/);
  expect(html).toContain('<body class="framed">');
});

test.each([
  ['quay.png', '<img src="ADDRESS" alt="Tides">'],
  ['quay.SVG', '<img src="ADDRESS" alt="Tides">'],
  ['bell.mp3', '<audio controls preload="metadata" src="ADDRESS" aria-label="Tides"></audio>'],
  ['tide.webm', '<video controls preload="metadata" playsinline src="ADDRESS" aria-label="Tides"></video>'],
  ['survey.pdf', '<iframe src="ADDRESS" title="Tides" referrerpolicy="no-referrer" ></iframe>'],
])('%s is shown in its own way', (name, part) => {
  const version = aVersion(`/${name}`);
  expect(shown({ version })).toContain(part.replace('ADDRESS', assetOf(version, `/${name}`)));
});

test('Markdown and source code are parts of the page, as they were rendered', () => {
  const rendered = made('<p>High <b>water</b></p>');
  expect(shown({ version: aVersion('/a.md'), text: rendered })).toContain(
    '<article class="prose"><p>High <b>water</b></p></article>',
  );
  expect(shown({ version: aVersion('/a.py'), text: rendered })).toContain(
    '<div class="source"><p>High <b>water</b></p></div>',
  );
});

test('a heading that repeats the name of the page is left to the page', () => {
  const page = { name: '“Tides” & Ann\'s "winds"' };
  const version = aVersion('/a.md');
  const same = made('<h2 id="doc-a">“Tides” &amp; Ann\'s "winds"</h2>\n<p>High</p>');
  expect(shown({ version, page, text: same })).toContain('<article class="prose titled">');
  for (const other of ['<h2>Tides</h2>', '<p>x</p><h2>“Tides” &amp; Ann\'s "winds"</h2>', '<h3>x</h3>'])
    expect(shown({ version, page, text: made(other) })).toContain('<article class="prose">');
});

test('a heading that leads to itself is the name of the page all the same', () => {
  const text = made('<h2 id="doc-tides"><a class="anchor" href="#doc-tides">Tides</a></h2>');
  expect(shown({ version: aVersion('/a.md'), text })).toContain('<article class="prose titled">');
});

test('the contents of a document stand before it, with how many more there are', () => {
  const headings = [
    { level: 1, id: 'doc-a', text: 'A <b>"' },
    { level: 2, id: 'doc-"', text: 'B' },
  ];
  const html = shown({ version: aVersion('/a.md'), text: made('<p>x</p>', { headings, more: 4_800 }) });
  const [nav = ''] = /<nav class="contents"[^]*?<\/nav>/.exec(html) ?? [];
  expect(nav).toContain('<li class="level-1"><a href="#doc-a">A &lt;b&gt;&quot;</a></li>');
  expect(nav).toContain('<li class="level-2"><a href="#doc-&quot;">B</a></li>');
  expect(nav).toContain('and 4,800 more');
  expect(html.indexOf(nav)).toBeLessThan(html.indexOf('<article'));
  expect(shown({ version: aVersion('/a.md'), text: made('<p>x</p>') })).not.toContain('contents"');
});

test('a table leads to the text behind it, and that text back to the table', () => {
  const version = aVersion('/soundings.csv');
  const table = shown({ version, text: made('<table></table>') });
  expect(table).toContain('<a href="/share/p/Key?as=text">The text behind it</a>');
  expect(table).toContain('<script src="/share/static/table.');
  const text = shown({ version, text: made('<pre>a,b</pre>'), asText: true });
  expect(text).toContain('<a href="/share/p/Key">Show it as a table</a>');
  expect(text).toContain('<div class="source"><pre>a,b</pre></div>');
  expect(text).not.toContain('/share/static/table.');
  const large = aVersion('/soundings.csv', { size: 300_000_000 });
  expect(shown({ version: large, text: made('<table></table>') })).toContain(
    `<a href="${assetOf(large, '/soundings.csv')}">The text behind it</a>`,
  );
  expect(shown({ version: aVersion('/a.py'), text: made('x'), asText: true })).not.toContain('as a table');
});

test('a page without distractions runs no script for its times', () => {
  const page = { isDistractionFree: true };
  expect(shown({ version: aVersion('/a.md'), page, text: made('x') })).not.toContain('<script');
  expect(shown({ version: aVersion('/a.csv'), page, text: made('x') }).match(/<script/g)).toHaveLength(1);
});

test('what cannot be rendered is framed as its source, which may do nothing', () => {
  const version = aVersion('/a.md');
  const html = shown({ version, text: { kind: 'source' } });
  expect(html).toContain(
    `<iframe src="${assetOf(version, '/a.md')}" title="Tides" referrerpolicy="no-referrer" sandbox=""></iframe>`,
  );
  expect(html).toContain('<body class="framed">');
});

test.each(['soundings.zip', 'data.xyz', 'notes.md'])(
  '%s is a download with name, type and size, offered once',
  (name) => {
    const version = aVersion(`/data/${name}`, { size: 3_449_000 });
    const html = shown({ version });
    expect(html).toContain(`<p class="filename" dir="auto">${name}</p>`);
    expect(html).toMatch(/<p class="facts">(ZIP archive|XYZ file|Document) · 3.4 MB<\/p>/);
    expect(html.match(/ download>/g)).toHaveLength(1);
    expect(html).toContain(`href="${assetOf(version, `/data/${name}`)}?download=1" download>`);
  },
);

test('other versions are chosen in a form that needs no script', () => {
  const versions = [3, 2, 1].map((no) => aVersion('/a.md', { no, isLatest: no === 3 }));
  const html = shown({ version: versions[1]!, versions, page: { versionCount: 3, latest: versions[0]! } });
  const [form = ''] = /<form class="picker"[^]*?<\/form>/.exec(html) ?? [];
  expect(form).toContain('action="/share/p/KeyOfTides0000001" method="get"');
  expect(form).toContain('<label for="version">Version</label>');
  expect(form).toContain('<option value="3" data-at="2026-03-01T12:03:00.000Z">3 · 2026-03-01 20:03 (newest)</option>');
  expect(form).toContain('<option value="2" data-at="2026-03-01T12:02:00.000Z" selected>2 · 2026-03-01 20:02</option>');
  expect(form).toContain('<button class="button" type="submit">Show</button>');
  expect(html).toContain('This is version 2. <a href="/share/p/KeyOfTides0000001">Show the newest, version 3</a>');
  expect(html).toContain('<title>Tides (version 2)</title>');
  expect(html.match(/<script/g)).toHaveLength(2);
  expect(html).toMatch(/<script src="\/share\/static\/picker\.[0-9a-f]{12}\.js" nonce="n0nce" defer>/);
});

test('a version that is older than those offered is offered, too', () => {
  const versions = [9, 8].map((no) => aVersion('/a.md', { no, isLatest: no === 9 }));
  const html = shown({
    version: aVersion('/a.md', { no: 1, isLatest: false }),
    versions,
    page: { latest: versions[0]! },
  });
  expect(html.match(/<option value="\d+"|selected/g)).toEqual([
    '<option value="9"',
    '<option value="8"',
    '<option value="1"',
    'selected',
  ]);
});

test('the end of a share, its files and its size are at the foot', () => {
  const html = shown({
    version: aVersion('/a.png', { fileCount: 12, size: 999, expiresAt: Date.parse('2026-04-01T00:00:00Z') }),
  });
  expect(html).toContain(
    'Version 1 · 12 files · 999 bytes · Available until <time class="moment" datetime="2026-04-01T00:00:00.000Z">2026-04-01 08:00 Beijing time</time>',
  );
});

test('without distractions, there is the content and nothing else', { tags: ['F2-pages'] }, () => {
  const versions = [2, 1].map((no) => aVersion('/site/index.html', { no, isLatest: no === 2 }));
  const html = shown({
    page: { isDistractionFree: true, versionCount: 2, description: 'x' },
    version: versions[0]!,
    versions,
  });
  expect(html).toContain('<body class="bare framed">');
  const [, body = ''] = /<body[^>]*>([^]*)<\/body>/.exec(html) ?? [];
  expect(body.trim()).toMatch(/^<main id="content"><h1 class="unseen">Tides<\/h1><iframe [^>]*><\/iframe><\/main>$/);
  expect(html).not.toContain('<script');
  expect(shown({ page: { isDistractionFree: true }, version: aVersion('/a.md'), text: made('<p>x</p>') })).toContain(
    '<body class="bare">',
  );
});
