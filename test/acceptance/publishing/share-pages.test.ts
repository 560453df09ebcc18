// The pages for people in a real browser. Without Chromium these tests are skipped, and say so.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { chromium } from '../../support/agent/browser-run.ts';
import { type Gallery, startGallery } from '../../support/publishing/gallery.ts';
import { findings, type Look, look, startBrowser } from '../../support/publishing/look.ts';
import { SAMPLES } from '../../support/publishing/samples.ts';

let fixture: Gallery;
let browser: Browser;
let elsewhere: Awaited<ReturnType<typeof startElsewhere>>;
let survey: { readonly key: string; readonly code: string };
/** The addresses of one page of each kind. */
const addresses = new Map<string, string>();

const hostile = (elsewhere: string) => `<!doctype html><title>Hostile</title><body><script>
globalThis.seen = {};
const attempt = async (name, act) => {
  try { const got = await act(); seen[name] = got === undefined ? 'nothing' : String(got); }
  catch (error) { seen[name] = error.name; }
};
const done = (async () => {
  await attempt('parent', () => parent.document.title);
  if (top !== self) await attempt('top', () => { top.location = 'about:blank'; });
  await attempt('cookie', () => document.cookie);
  await attempt('cookie set', () => { document.cookie = 'a=b'; });
  await attempt('localStorage', () => localStorage.length);
  await attempt('sessionStorage', () => sessionStorage.length);
  await attempt('indexedDB', () => new Promise((resolve, reject) => {
    const request = indexedDB.open('a');
    request.onsuccess = () => resolve('opened');
    request.onerror = () => reject(request.error);
  }));
  await attempt('caches', () => caches.keys());
  await attempt('service worker', () => navigator.serviceWorker.register('worker.js'));
  await attempt('own page', async () => (await fetch('/share')).text());
  await attempt('api', async () => (await fetch('/api/v1/status')).text());
  await attempt('elsewhere', async () => (await fetch('${elsewhere}/fetched')).text());
  await attempt('own file', async () => (await fetch('data.json')).text());
  await attempt('origin', () => self.origin);
  seen.done = 'yes';
})();
</script>
<form id="form" action="/share" method="post"></form>
<a id="leave" href="about:blank" target="_top">leave</a>
<img src="${elsewhere}/pixel.png" alt="">
</body>`;

const LONG = 'x'.repeat(180);
const HEADINGS = `# content\n\n## version\n\n## "><script>document.title = 'ran'</script>\n\n## body\n\n## ${'long '.repeat(3_000)}\n\n## __proto__

<a id="content" name="body" class="contents masthead">x</a> $\\text{</math><script>document.title = 'ran'</script>}$[^1]\n
[^1]: <script>document.title = 'ran'</script> [x](javascript:x)\n`;
const RUNS = "document.documentElement.setAttribute('ran', ''); document.title = 'ran'";

beforeAll(async () => {
  if (!chromium.ok) return;
  [fixture, browser, elsewhere] = await Promise.all([
    startGallery(),
    startBrowser(chromium.executable),
    startElsewhere(),
  ]);
  await fixture.make({
    ...SAMPLES,
    'wide/index.md': `# ${LONG}\n\n${LONG} \`${LONG}\` $${'x+'.repeat(100)}x$\n\n$$\n${'y+'.repeat(100)}y\n$$\n\n|${LONG}|b|\n|-|-|\n|1|${LONG}|\n\n${'> '.repeat(50)}deep\n\n${'- '.repeat(40)}deep\n\n<details><summary>More</summary>Folded.</details>\n`,
    'hostile/index.html': hostile(elsewhere.url),
    'hostile/data.json': '"own"',
    'hostile/worker.js': '',
    'hostile/evil.svg': `<svg xmlns="http://www.w3.org/2000/svg"><script>${RUNS}</script></svg>`,
    'hostile/evil.xml': `<a><script xmlns="http://www.w3.org/1999/xhtml">${RUNS}</script></a>`,
    'hostile/evil.xhtml': `<html xmlns="http://www.w3.org/1999/xhtml"><body><script>${RUNS}</script></body></html>`,
    'hostile/evil.csv': `<img src=x onerror="${RUNS}">,"<script>${RUNS}</script>"\n"=HYPERLINK(""javascript:x"")",${LONG.repeat(60)}\n`,
    'hostile/headings/index.md': HEADINGS,
    'hostile/evil.md':
      '# Hi\n\n<script>document.title = "x"</script><img src=x onerror="document.title = 1">[j](javascript:x)',
  });
  const share = async (kind: string, entry_path: string, more: object = {}) => {
    const page = await fixture.publish({ name: `A page: ${kind}`, entry_path, ...more });
    addresses.set(kind, `${fixture.daemon.url}/share/p/${page.key}`);
    return page;
  };
  const filed = {
    description: 'Soundings of October.',
    category: 'Surveys',
    tags: ['quay'],
    public_to_board_enabled: true,
  };
  survey = await share('Markdown', '/survey/index.md', filed);
  await fixture.release(survey.key);
  addresses.set('an old version', `${fixture.daemon.url}/share/${survey.code}`);
  await share('HTML', '/tides/index.html', { public_to_board_enabled: true });
  await share('a report', '/report/index.md');
  await share('a table', '/soundings.csv');
  addresses.set('the text of a table', `${addresses.get('a table')}?as=text`);
  await share('source code', '/soundings.py');
  await share('a picture', '/quay.png', { public_to_board_enabled: true });
  await share('a drawing', '/chart.svg');
  await share('sound', '/bell.wav');
  await share('film', '/film.webm');
  await share('PDF', '/survey.pdf');
  await share('a download', '/soundings.zip');
  const name = LONG;
  await share('long words', '/wide/index.md', {
    name,
    description: LONG,
    category: 'y'.repeat(50),
    tags: ['z'.repeat(50)],
  });
  await share('Markdown alone', '/survey/index.md', { distraction_free_mode_enabled: true });
  await share('HTML alone', '/tides/index.html', { distraction_free_mode_enabled: true });
  addresses.set('the board', `${fixture.daemon.url}/share`);
  addresses.set('a search', `${fixture.daemon.url}/share?q=page&category=Surveys`);
  addresses.set('a search without results', `${fixture.daemon.url}/share?q=nowhere`);
  addresses.set('an error', `${fixture.daemon.url}/share/nowhere`);
});

afterAll(async () => {
  await browser?.close();
  await fixture?.close();
  elsewhere?.server.close();
});

/** Another site, which counts its visitors. */
async function startElsewhere() {
  const asked: string[] = [];
  const server = createServer((req, res) => {
    asked.push(req.url ?? '');
    res.writeHead(200, { 'access-control-allow-origin': '*' }).end('Hello.');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { asked, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function open(address: string, options: Parameters<typeof look>[2] = {}): Promise<Look> {
  const opened = await look(browser, address, options);
  onTestFinished(() => opened.close());
  return opened;
}

const KINDS = [
  'the board',
  'a search',
  'a search without results',
  'Markdown',
  'an old version',
  'HTML',
  'a report',
  'a table',
  'the text of a table',
  'source code',
  'a picture',
  'a drawing',
  'sound',
  'film',
  'PDF',
  'a download',
  'long words',
  'Markdown alone',
  'HTML alone',
  'an error',
];
const SCREENS = [
  ['light', { colorScheme: 'light', viewport: { width: 1024, height: 800 } }],
  ['dark and wide', { colorScheme: 'dark', viewport: { width: 1600, height: 900 } }],
  ['narrow', { colorScheme: 'light', viewport: { width: 360, height: 740 } }],
] as const;

/** Titles of what is in focus, in the order of the Tab key. */
async function tabs(page: Page, count: number): Promise<string[]> {
  const names: string[] = [];
  for (let n = 0; n < count; n += 1) {
    await page.keyboard.press('Tab');
    names.push(
      await page.evaluate(() => {
        const { activeElement: at } = (globalThis as unknown as { document: { activeElement: Focused } }).document;
        return `${at.tagName.toLowerCase()} ${at.id || at.textContent.trim()}`;
      }),
    );
  }
  return names;
}
interface Focused {
  readonly tagName: string;
  readonly id: string;
  readonly textContent: string;
}

describe.skipIf(!chromium.ok)('in a browser', () => {
  test.each(KINDS)(
    '%s: no complaint, no request elsewhere, nothing for axe-core, on any screen',
    { tags: ['F2-pages'] },
    async (kind) => {
      const [[, first]] = SCREENS;
      const { page, complaints, requests } = await open(addresses.get(kind)!, first);
      for (const [screen, { colorScheme, viewport }] of SCREENS) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        expect([screen, await findings(page)]).toEqual([screen, []]);
        const overflow = await page.evaluate(() => {
          const { document: d, innerWidth } = globalThis as unknown as {
            document: { documentElement: { scrollWidth: number } };
            innerWidth: number;
          };
          return d.documentElement.scrollWidth - innerWidth;
        });
        expect([screen, overflow <= 0]).toEqual([screen, true]);
      }
      expect(complaints).toEqual([]);
      expect(requests.length).toBeGreaterThan(0);
      for (const url of requests) expect(url.startsWith(`${fixture.daemon.url}/`)).toBe(true);
    },
  );

  test('HTML is shown with its own stylesheet and script, and its picture with its Markdown', async () => {
    const { page } = await open(addresses.get('HTML')!);
    const frame = page.frames()[1]!;
    await frame.waitForLoadState('load');
    expect(await frame.locator('#high').textContent()).toBe('3.4 m');
    expect(await frame.evaluate("getComputedStyle(document.querySelector('header')).backgroundColor")).toBe(
      'rgb(23, 63, 95)',
    );
    const survey = await open(addresses.get('Markdown')!);
    await survey.page.locator('article img').scrollIntoViewIfNeeded();
    await survey.page.waitForFunction("document.querySelector('article img').naturalWidth === 900");
    expect(await survey.page.locator('.missing').textContent()).toBe('chart 12');
  });

  test('a page is small, whatever it shows', { tags: ['F2-pages'] }, async () => {
    for (const kind of KINDS) {
      const address = addresses.get(kind)!;
      const text = await (await fetch(address)).text();
      const own = [...text.matchAll(/(?:href|src)="(\/share\/static\/[^"]+)"/g)].map(
        ([, path]) => fixture.daemon.url + path,
      );
      const sizes = own.map(async (url) => (await fetch(url)).headers.get('content-length'));
      const content =
        /<article[^]*<\/article>|<div class="source">[^]*?<\/div>|<div class="data">[^]*<\/table>/.exec(text)?.[0] ??
        '';
      const rest =
        text.length - content.length + (await Promise.all(sizes)).reduce((sum, size) => sum + Number(size), 0);
      expect([kind, rest < 30_000]).toEqual([kind, true]);
    }
  });

  test('the keyboard reaches everything in its order, past the header too', async () => {
    const { page } = await open(addresses.get('Markdown')!);
    expect(await tabs(page, 4)).toEqual(['a Skip to the content', 'a All pages', 'select version', 'button Show']);
    await page.locator('.skip').focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/#content$/);
    expect(await tabs(page, 2)).toEqual(['a What the survey found', 'a harbour office']);
    const board = await open(addresses.get('the board')!);
    expect((await tabs(board.page, 4)).slice(0, 4)).toEqual([
      'a Skip to the content',
      'a Shared pages',
      'input q',
      'button Search',
    ]);
  });

  test('a version is chosen with the mouse, with the keyboard, and without any script', {
    tags: ['F2-pages'],
  }, async () => {
    const oldAddress = addresses.get('an old version')!;
    const mouse = await open(addresses.get('Markdown')!);
    await mouse.page.locator('select').click();
    await mouse.page.locator('select').selectOption('1');
    await mouse.page.waitForURL(oldAddress);
    const keys = await open(oldAddress);
    await keys.page.locator('select').focus();
    await keys.page.keyboard.press('ArrowUp');
    expect(keys.page.url()).toBe(oldAddress);
    await keys.page.keyboard.press('Enter');
    await keys.page.waitForURL((url) => url.href !== oldAddress);
    const plain = await open(addresses.get('Markdown')!, { javaScriptEnabled: false });
    await plain.page.locator('select').selectOption('1');
    await plain.page.getByRole('button', { name: 'Show' }).click();
    await plain.page.waitForURL(oldAddress);
  });

  test('everything but the convenience of the picker is there without a script', { tags: ['F2-pages'] }, async () => {
    const plain = { javaScriptEnabled: false };
    const survey = await open(addresses.get('Markdown')!, plain);
    expect(await survey.page.getByRole('heading', { level: 1 }).textContent()).toBe('A page: Markdown');
    expect(await survey.page.locator('.owner').textContent()).toBe(fixture.daemon.adminName);
    expect(await survey.page.locator('time').first().textContent()).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d Beijing time$/);
    expect(await survey.page.locator('article h2').textContent()).toBe('What the survey found');
    expect(await survey.page.locator('option').count()).toBe(2);
    const tides = await open(addresses.get('HTML')!, plain);
    expect(await tides.page.frames()[1]!.locator('h1').textContent()).toBe('Tides at the north quay');
    const alone = await open(addresses.get('HTML alone')!, plain);
    expect(await alone.page.locator('header, footer, form').count()).toBe(0);
    expect(await alone.page.frames()[1]!.locator('h1').textContent()).toBe('Tides at the north quay');
    const board = await open(addresses.get('the board')!, plain);
    expect(await board.page.locator('.card').count()).toBe(3);
  });

  test('a table is sorted by a column upwards, downwards, and as the file has it', async () => {
    const { page } = await open(addresses.get('a table')!);
    const column = (no: number) => page.locator(`tbody td:nth-child(${no})`);
    const first = (no: number) => column(no).first().textContent();
    expect(await page.locator('tbody tr').count()).toBe(1_000);
    const depth = page.getByRole('button', { name: 'Depth (m)' });
    await depth.click();
    const upwards = (await column(4).allTextContents()).map(Number);
    expect(upwards).toEqual(upwards.toSorted((a, b) => a - b));
    expect(await page.locator('th').nth(3).getAttribute('aria-sort')).toBe('ascending');
    await depth.press('Enter');
    expect(Number(await first(4))).toBe(upwards.at(-1));
    await depth.click();
    expect(await first(1)).toBe('1');
    expect(await page.locator('[aria-sort]').count()).toBe(0);
    await page.getByRole('button', { name: 'Note' }).click();
    expect(await first(6)).not.toBe('');
    expect(await findings(page)).toEqual([]);
    const plain = await open(addresses.get('a table')!, { javaScriptEnabled: false });
    expect(await plain.page.locator('th').nth(3).textContent()).toBe('Depth (m)');
    expect(await plain.page.locator('tbody tr').count()).toBe(1_000);
    await plain.page.getByRole('link', { name: 'The text behind it' }).click();
    expect(await plain.page.locator('.source').textContent()).toContain('No,Station,Sounded (UTC)');
    await plain.page.getByRole('link', { name: 'Show it as a table' }).click();
    await plain.page.waitForURL(addresses.get('a table')!);
    expect(await plain.page.locator('tbody tr').count()).toBe(1_000);
  });

  test('a report has its contents in view, its formulas, its notes and its images side by side', async () => {
    const { page } = await open(addresses.get('a report')!, { viewport: { width: 1600, height: 900 } });
    const box = async (selector: string) => (await page.locator(selector).first().boundingBox())!;
    const [contents, article] = [await box('.contents'), await box('article')];
    expect(contents.x).toBeGreaterThan(article.x + article.width - 1);
    await page.locator('.contents').getByRole('link', { name: 'What it would cost' }).click();
    await page.waitForURL(/#doc-what-it-would-cost$/);
    const beside = await box('.contents details');
    expect(beside.y).toBeGreaterThanOrEqual(0);
    // In one look: images above them may come in between, and move them.
    const [first, second] = await page.evaluate<{ readonly x: number; readonly y: number; readonly width: number }[]>(
      "[...document.querySelectorAll('.images a')].slice(0, 2).map((image) => image.getBoundingClientRect().toJSON())",
    );
    expect(second!.y).toBe(first!.y);
    expect(second!.x).toBeGreaterThan(first!.x + first!.width);
    expect((await box('math[display] mfrac')).height).toBeGreaterThan(20);
    const lines = await page.evaluate(
      "[...document.querySelectorAll('.date')].map((date) => date.getClientRects().length)",
    );
    expect(new Set(lines as number[])).toEqual(new Set([1]));
    await page.locator('sup .note').first().click();
    expect(await page.evaluate("document.querySelector(':target').tagName")).toBe('LI');
    await page.setViewportSize({ width: 360, height: 740 });
    expect((await box('.contents')).y).toBeLessThan((await box('article')).y);
  });

  test('times are those of the reader, where scripts run', { tags: ['F2-pages'] }, async () => {
    const shown = async (timezoneId: string, javaScriptEnabled = true) => {
      const { page } = await open(addresses.get('an old version')!, { timezoneId, javaScriptEnabled });
      const time = page.locator('.masthead time');
      const at = Date.parse((await time.getAttribute('datetime'))!);
      const option = await page.locator('option').first().textContent();
      return { at, text: await time.textContent(), title: await time.getAttribute('title'), option };
    };
    const inZone = (at: number, hours: number) =>
      new Date(at + hours * 3_600_000).toISOString().slice(0, 16).replace('T', ' ');
    const kiritimati = await shown('Pacific/Kiritimati');
    expect(kiritimati.text).toBe(inZone(kiritimati.at, 14));
    expect(kiritimati.title).toBe(`${inZone(kiritimati.at, 8)} Beijing time`);
    expect(kiritimati.option).toMatch(/^2 · \d{4}-\d\d-\d\d \d\d:\d\d \(newest\)/);
    const plain = await shown('Pacific/Kiritimati', false);
    expect(plain.text).toBe(`${inZone(plain.at, 8)} Beijing time`);
    const { page } = await open(addresses.get('the board')!, { timezoneId: 'America/New_York' });
    expect(await page.locator('.zone').textContent()).toBe('your time zone (America/New York)');
  });

  test('the chosen category is seen where backgrounds are not', async () => {
    const { page } = await open(addresses.get('a search')!, { forcedColors: 'active' });
    const colours = await page.evaluate(
      "[...document.querySelectorAll('.categories a')].map((link) => getComputedStyle(link).backgroundColor)",
    );
    expect(new Set(colours as string[]).size).toBe(2);
  });

  test('on paper, ink is dark, and nothing is folded', async () => {
    const colour = "getComputedStyle(document.querySelector('.hljs-keyword')).color";
    const light = await open(addresses.get('source code')!, { colorScheme: 'light' });
    const dark = await open(addresses.get('source code')!, { colorScheme: 'dark' });
    const onScreen = await dark.page.evaluate(colour);
    await dark.page.emulateMedia({ media: 'print' });
    const onPaper = await dark.page.evaluate(colour);
    expect(onPaper).toBe(await light.page.evaluate(colour));
    expect(onPaper).not.toBe(onScreen);
    const { page } = await open(addresses.get('long words')!);
    const height = () => page.evaluate("document.querySelector('details').getBoundingClientRect().height");
    const folded = await height();
    await page.emulateMedia({ media: 'print' });
    expect(await height()).toBeGreaterThan(folded as number);
  });

  test('a name is shown in its own order and within its card', async () => {
    const name = `Z${'\u0301'.repeat(150)}\u202Efdp.exe`;
    await fixture.publish({ name, entry_path: '/quay.png', category: 'Marks', public_to_board_enabled: true });
    const { page } = await open(`${fixture.daemon.url}/share?category=Marks`);
    expect(await page.locator('.card h3').textContent()).toBe(name.replace('\u202E', '\uFFFD'));
    expect(await page.evaluate("getComputedStyle(document.querySelector('.card')).overflow")).toBe('clip');
  });

  test('the board is searched, and leads to a page', { tags: ['F2-pages'] }, async () => {
    const { page } = await open(addresses.get('the board')!);
    await page.getByLabel('Search by name').fill('MARKDOWN');
    await page.keyboard.press('Enter');
    await page.waitForURL(/q=MARKDOWN/);
    expect(await page.locator('.card').count()).toBe(1);
    await page.getByRole('link', { name: /Surveys/ }).click();
    await page.waitForURL(/category=Surveys/);
    await page.locator('.card').click();
    await page.waitForURL(addresses.get('Markdown')!);
  });
});

describe.skipIf(!chromium.ok)('hostile HTML', () => {
  const REFUSED = {
    parent: 'SecurityError',
    cookie: 'SecurityError',
    'cookie set': 'SecurityError',
    localStorage: 'SecurityError',
    sessionStorage: 'SecurityError',
    indexedDB: 'SecurityError',
    caches: 'SecurityError',
    'service worker': 'SecurityError',
    'own page': 'TypeError',
    api: 'TypeError',
    elsewhere: 'TypeError',
    'own file': '"own"',
    origin: 'null',
  };

  test.each(['framed', 'alone', 'without distractions'])(
    'reaches nothing of the daemon, %s',
    { tags: ['F3'] },
    async (way) => {
      const more = { distraction_free_mode_enabled: way === 'without distractions' };
      const { key, code } = await fixture.publish({ name: 'Hostile', entry_path: '/hostile/index.html', ...more });
      const path = way === 'alone' ? `/api/v1/public/shares/${code}/assets/index.html` : `/share/p/${key}`;
      const { page, context } = await open(fixture.daemon.url + path);
      const frame = way === 'alone' ? page.mainFrame() : page.frames()[1]!;
      await frame.waitForFunction('globalThis.seen?.done');
      const seen = await frame.evaluate('seen');
      expect(seen).toMatchObject(way === 'alone' ? { ...REFUSED, parent: expect.any(String) as string } : REFUSED);
      if (way !== 'alone') {
        expect(seen).toMatchObject({ top: 'SecurityError' });
        await frame.evaluate("document.querySelector('#leave').click(); document.querySelector('#form').submit()");
        expect(page.url()).toBe(fixture.daemon.url + path);
      }
      expect(await context.cookies()).toEqual([]);
      expect(elsewhere.asked).toEqual([]);
    },
  );

  test.each(['evil.svg', 'evil.xml', 'evil.xhtml'])(
    '%s runs nothing at its own address',
    { tags: ['F3'] },
    async (name) => {
      const { code } = await fixture.publish({ name, entry_path: `/hostile/${name}` });
      const { page } = await open(`${fixture.daemon.url}/api/v1/public/shares/${code}/content`);
      expect(await page.evaluate("document.documentElement.hasAttribute('ran') || document.title === 'ran'")).toBe(
        false,
      );
      expect(await page.content()).toContain('ran');
    },
  );

  test.each(['evil.csv', 'headings/index.md'])(
    '%s is text, on a page that stays as it was',
    { tags: ['F3'] },
    async (path) => {
      const { key } = await fixture.publish({ name: 'Evil', entry_path: `/hostile/${path}` });
      const { page, complaints } = await open(`${fixture.daemon.url}/share/p/${key}`, {
        viewport: { width: 360, height: 740 },
      });
      expect(await page.title()).toBe('Evil');
      expect(
        await page.locator('main script, main form, main [onerror], main [style], main [href^=java]').count(),
      ).toBe(0);
      expect(await page.evaluate("document.querySelector('#content').tagName")).toBe('MAIN');
      expect(await page.evaluate('document.body.tagName + document.documentElement.scrollWidth')).toBe('BODY360');
      expect(await findings(page)).toEqual([]);
      expect(complaints).toEqual([]);
    },
  );

  test('in Markdown is taken out, and the page stays as it was', { tags: ['F3'] }, async () => {
    const { key } = await fixture.publish({ name: 'Evil', entry_path: '/hostile/evil.md' });
    const { page, complaints } = await open(`${fixture.daemon.url}/share/p/${key}`);
    expect(await page.title()).toBe('Evil');
    expect(await page.locator('article').innerHTML()).not.toMatch(/<script|onerror|href="(?!#doc-hi")/);
    expect(complaints).toEqual([]);
  });
});
