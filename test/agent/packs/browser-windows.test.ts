// Windows that a click opens, in a real Chromium: what the click shows. Without Chromium they are skipped, and say so.
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser } from '../../../src/agent/browser/open-browser.ts';
import { aSite, browserRun, chromium, type Handler, refOf } from '../../support/agent/browser-run.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const SECOND = '<title>Second</title><p>here';

/** A page that a test answers when it wants to. */
function heldPage() {
  const asked = Promise.withResolvers<ServerResponse>();
  const page: Handler = (_, res) => asked.resolve(res);
  const answer = async () => void (await asked.promise).setHeader('content-type', 'text/html').end(SECOND);
  return { page, asked: asked.promise, answer };
}

const OPENING = {
  'a link': '<a href="/second" target="_blank">Go</a>',
  'a link that lets it know its opener': '<a href="/second" target="_blank" rel="opener">Go</a>',
  'a link that does not': '<a href="/second" target="_blank" rel="noopener noreferrer">Go</a>',
  'a form': '<form action="/second" target="result"><button>Go</button></form>',
  'a script': `<button onclick="window.open('/second')">Go</button>`,
  'a script that gives it a size': `<button onclick="window.open('/second', '', 'width=300')">Go</button>`,
  'a script that keeps no hold of it': `<button onclick="window.open('/second', '', 'noopener')">Go</button>`,
  'a script a moment later': `<button onclick="setTimeout(() => window.open('/second'), 100)">Go</button>`,
  'a frame': `<iframe srcdoc="<button onclick=&quot;window.open('/second')&quot;>Go</button>"></iframe>`,
};
const OPENING_NONE = {
  'none was opened': '<button>Go</button>',
  'none may be opened': `<iframe sandbox="allow-scripts" srcdoc="<button onclick='open()'>Go</button>"></iframe>`,
  'it was closed at once': `<button onclick="window.open('/second').close()">Go</button>`,
  'it was for a download': '<a href="/file" target="_blank">Go</a>',
};

describe.skipIf(!chromium.ok)('a click', () => {
  const ends: (() => void | Promise<void>)[] = [];
  const of = { onTestFinished: (end: () => void | Promise<void>) => void ends.unshift(end) };
  let site: Awaited<ReturnType<typeof aSite>>;
  let run: Awaited<ReturnType<typeof browserRun>>;

  beforeAll(async () => {
    const elements: Readonly<Record<string, string>> = { ...OPENING, ...OPENING_NONE };
    site = await aSite(of, {
      '/first': (req, res) => {
        const element = elements[new URL(req.url!, 'http://x').searchParams.get('with')!];
        res.setHeader('content-type', 'text/html').end(`<title>First</title>${element}`);
      },
      '/second': SECOND,
      '/file': (_, res) => res.setHeader('content-type', 'application/octet-stream').end('bytes'),
      '/numbered': (req, res) => {
        const number = Number(new URL(req.url!, 'http://x').searchParams.get('number'));
        const link = `<a href="?number=${number + 1}" target="_blank">Go</a>`;
        res.setHeader('content-type', 'text/html').end(`<title>Window ${number}</title>${link}`);
      },
    });
    run = await browserRun(of, [site.port], { grant: { timeoutMs: 30_000 } });
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });

  async function clickOn(kind: string) {
    const first = await run.call('browser_open', { url: `${site.url}/first?with=${encodeURIComponent(kind)}` });
    return run.call('browser_click', { ref: refOf(first.output, /(?:link|button) "Go"/) });
  }

  test.for(Object.keys(OPENING))('shows the window that %s opens', async (kind) => {
    expect(await clickOn(kind)).toMatchObject({ ok: true, output: expect.stringMatching(/^Page: Second\n/) });
  });

  test.for(Object.keys(OPENING_NONE))('shows the page it was on when %s', async (kind) => {
    expect(await clickOn(kind)).toMatchObject({ ok: true, output: expect.stringMatching(/^Page: First\n/) });
  });

  test('shows the window that it opens, however many others are open', async () => {
    let shown = await run.call('browser_open', { url: `${site.url}/numbered?number=0` });
    for (let number = 1; number <= 7; number += 1) {
      shown = await run.call('browser_click', { ref: refOf(shown.output, /link "Go"/) });
      expect(shown).toMatchObject({ ok: true, output: expect.stringMatching(`^Page: Window ${number}\n`) });
    }
  });

  test('says that a window is coming whose server has not answered in time; it is in front once it has', async (of) => {
    const held = heldPage();
    const site = await aSite(of, {
      '/': '<title>First</title><a href="/late" target="_blank">Go</a>',
      '/late': held.page,
    });
    const run = await browserRun(of, [site.port], { grant: { timeoutMs: 5_000 } });
    const first = await waitFor(async () => {
      const view = await run.call('browser_open', { url: site.url });
      return view.ok && view;
    });
    const clicked = await waitFor(async () => {
      const view = await run.call('browser_click', { ref: refOf(first.output, /link "Go"/) });
      return view.ok && view;
    });
    expect(clicked.output).toMatch(/^A new window was opened, but .* not replied yet\..*\n\nPage: First\n/);
    await held.answer();
    await waitFor(async () => (await run.call('browser_read')).output.includes('Page: Second'));
  });
});

test.skipIf(!chromium.ok)('a window arrives when its server answers, however long that takes', async (of) => {
  const held = heldPage();
  const site = await aSite(of, { '/': '<a href="/late" target="_blank">Go</a>', '/late': held.page });
  const { brief } = await browserRun(of, [site.port], { grant: { timeoutMs: 30_000 } });
  const browser = await openBrowser(brief.equipment.browser!, brief);
  of.onTestFinished(browser.close);
  const page = await browser.newPage();
  await page.goto(site.url);
  const windows = browser.openedFromNow();
  expect(await windows.arrive()).toBe(true);
  await page.click('a');
  const arrived = windows.arrive();
  await held.asked;
  expect(browser.front()).toBe(page);
  await held.answer();
  expect(await arrived).toBe(true);
  expect(browser.front()?.url()).toBe(`${site.url}/late`);
});
