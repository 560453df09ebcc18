// Office Mode for browsers, of a real daemon: links of the command, cookies across a restart, pages that mean harm, and a browser without
// JavaScript. Without Chromium those of a browser are skipped, and say so.
import type { Browser, BrowserContext, Frame } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { chromium } from '../../support/agent/browser-run.ts';
import { rowsOf } from '../../support/daemon/daemon-look.ts';
import { runErrand, startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { freePort } from '../../support/http/free-port.ts';
import { startPathProxy } from '../../support/http/path-proxy.ts';
import { takeTurn } from '../../support/daemon/turn.ts';
import { type Gallery, startGallery } from '../../support/publishing/gallery.ts';
import { findings, look, newContext, startBrowser } from '../../support/publishing/look.ts';

let gallery: Gallery;
let browser: Browser | undefined;

/** Tries everything that a page can to read Office Mode, and says what came of it. */
const HOSTILE = `<!doctype html><title>Hostile</title><body><script>
globalThis.seen = {};
const attempt = async (name, act) => {
  try { seen[name] = String(await act()); } catch (error) { seen[name] = error.name; }
};
const loaded = (element) => new Promise((resolve) => {
  element.onload = () => resolve('loaded');
  element.onerror = () => resolve('failed');
  document.body.append(element);
});
const framed = (address) => async () => {
  const frame = document.createElement('iframe');
  frame.src = address;
  await loaded(frame);
  return frame.contentDocument === null ? 'nothing' : frame.contentDocument.body.textContent;
};
const PLACES = ['/office', '/office/plain', '/office/api/snapshot', '/office/api/stream'];
(async () => {
  for (const place of PLACES) {
    await attempt('fetch ' + place, async () => (await fetch(place, { credentials: 'include' })).text());
    await attempt('opaque ' + place, async () => (await (await fetch(place, { credentials: 'include', mode: 'no-cors' })).text()) || 'nothing');
    await attempt('frame ' + place, framed(place));
  }
  await attempt('script', () => loaded(Object.assign(document.createElement('script'), { src: '/office/api/snapshot' })));
  await attempt('log in', async () => (await fetch('/office/login', { method: 'POST', credentials: 'include', headers: { 'content-type': 'application/json' }, body: '{"code":"x"}' })).status);
  await attempt('log out', async () => (await fetch('/office/logout', { method: 'POST', credentials: 'include', mode: 'no-cors' })).status);
  await attempt('cookie', () => document.cookie);
  seen.done = 'yes';
})();
</script>
<form id="out" action="/office/logout" method="post" target="_blank"></form>
<button id="open" onclick="globalThis.opened = window.open('/office/plain')">open</button>
</body>`;

beforeAll(async () => {
  gallery = await startGallery();
  await gallery.make({ 'hostile/index.html': HOSTILE });
  if (chromium.ok) browser = await startBrowser(chromium.executable);
});

afterAll(async () => {
  await browser?.close();
  await gallery?.close();
});

async function link(env: Readonly<Record<string, string>> = {}): Promise<string> {
  const { daemon } = gallery;
  const { stdout } = await runErrand(['office', '--web', '--data-dir', daemon.dataDir], { env });
  return stdout.trimEnd();
}

const codeOf = (address: string) => /#code=([\w-]{43})$/.exec(address)![1]!;

async function logIn(code: string) {
  const reply = await fetch(`${gallery.daemon.url}/office/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  });
  const cookie = reply.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  return { status: reply.status, text: await reply.text(), cookie };
}

const read = (path: string, headers: Readonly<Record<string, string>>) =>
  fetch(`${gallery.daemon.url}${path}`, { headers, redirect: 'manual' });

test('the command prints a link that logs one browser in, of the operator and of a key', async () => {
  const { daemon } = gallery;
  const ofKey = (
    await runErrand(['office', '--web', '-o', 'json', '--url', daemon.url], { env: { ERRAND_API_KEY: daemon.apiKey } })
  ).stdout;
  const links = [await link(), (JSON.parse(ofKey) as { url: string }).url];
  for (const address of links) {
    expect(address).toMatch(new RegExp(`^${daemon.url}/office#code=`));
    const { status, cookie } = await logIn(codeOf(address));
    expect(status).toBe(204);
    expect((await read('/office/api/snapshot?tz=UTC', { cookie })).status).toBe(200);
    const again = await logIn(codeOf(address));
    expect([again.status, again.cookie]).toEqual([401, '']);
    expect(again.text).toContain('used already');
  }
  for (const address of links) expect(daemon.stderr()).not.toContain(codeOf(address));
  const made = rowsOf(daemon, "SELECT via FROM audit_entries WHERE action = 'office_login.create' ORDER BY id");
  expect(made).toEqual([{ via: 'key' }, { via: 'socket' }]);
});

test('a cookie is good after a restart, and nowhere else; a stream resumes where it was', async () => {
  const { daemon } = gallery;
  const { cookie } = await logIn(codeOf(await link()));
  const unused = codeOf(await link());
  await daemon.restart();
  expect((await read('/office/api/snapshot', { cookie })).status).toBe(200);
  expect((await logIn(unused)).status).toBe(204);
  for (const path of [
    '/api/v1/office-mode/snapshot',
    '/api/v1/status',
    '/openapi/v1/models',
    '/v1/models',
    '/api/v1/sessions',
  ])
    expect([path, (await read(path, { cookie })).status]).toEqual([path, 401]);
  const [{ id }] = rowsOf<{ id: string }>(daemon, 'SELECT id FROM sessions') as [{ id: string }];
  const stream = await read(`/office/api/sessions/${id}/stream`, { cookie, 'last-event-id': '1' });
  const { value } = await stream.body!.pipeThrough(new TextDecoderStream()).getReader().read();
  expect([stream.status, value]).toEqual([200, expect.stringContaining('retry: 2000')]);
  await stream.body!.cancel().catch(() => undefined);
});

/** A browser that has logged in as the operator. */
async function loggedIn(options: Parameters<Browser['newContext']>[0] = {}): Promise<BrowserContext> {
  const context = await newContext(browser!, options);
  onTestFinished(() => context.close());
  const reply = await context.request.post(`${gallery.daemon.url}/office/login`, {
    data: { code: codeOf(await link()) },
  });
  expect(reply.status()).toBe(204);
  return context;
}

const readsOf = () =>
  rowsOf(
    gallery.daemon,
    "SELECT action FROM audit_entries WHERE action IN ('house.read', 'house.follow', 'session.read')",
  ).length;

describe.skipIf(!chromium.ok)('in a real browser', () => {
  test.each(['framed', 'alone'])('a published page gets nothing, %s', { tags: ['F3'] }, async (way) => {
    const { key, code } = await gallery.publish({ name: 'Hostile', entry_path: '/hostile/index.html' });
    const context = await loggedIn();
    const statuses: [string, number][] = [];
    context.on('response', (response) => {
      const { pathname } = new URL(response.url());
      if (pathname.startsWith('/office')) statuses.push([pathname, response.status()]);
    });
    const before = readsOf();
    const page = await context.newPage();
    await page.goto(
      gallery.daemon.url + (way === 'alone' ? `/api/v1/public/shares/${code}/assets/index.html` : `/share/p/${key}`),
    );
    const frame: Frame = way === 'alone' ? page.mainFrame() : page.frames()[1]!;
    await frame.waitForFunction('globalThis.seen?.done');
    const seen = await frame.evaluate<Record<string, string>>('seen');
    for (const [name, got] of Object.entries(seen))
      expect([name, got]).toEqual([
        name,
        expect.stringMatching(/^(TypeError|SecurityError|nothing|failed|yes)$|^opaque$/),
      ]);
    // Those who open it see that they are not logged in, and the page that opened it sees nothing.
    const [popup] = await Promise.all([context.waitForEvent('page'), frame.click('#open')]);
    await popup.waitForLoadState();
    expect(
      await frame.evaluate('(() => { try { return opened.document.title } catch (error) { return error.name } })()'),
    ).toBe('SecurityError');
    await frame.evaluate("document.querySelector('#out').submit()");
    expect(statuses.filter(([path, status]) => path !== '/office' && status < 400)).toEqual([]);
    expect(readsOf()).toBe(before);
    // The cookie was there all the time, and still is.
    await page.goto(`${gallery.daemon.url}/office`);
    expect(await page.evaluate("fetch('/office/api/snapshot').then(({ status }) => status)")).toBe(200);
    expect(await page.evaluate('document.cookie')).toBe('');
  });

  test('a page of another site can’t frame it, and a click on a link there leads to it', async () => {
    const context = await loggedIn();
    const page = await context.newPage();
    await page.route('http://other.example/', (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: `<iframe src="${gallery.daemon.url}/office"></iframe><a href="${gallery.daemon.url}/office">go</a>`,
      }),
    );
    await page.goto('http://other.example/');
    expect(page.frames()[1]!.url()).toMatch(/^chrome-error:/);
    await page.click('a');
    await page.waitForURL(`${gallery.daemon.url}/office`);
    expect(await page.evaluate("fetch('/office/api/snapshot').then(({ status }) => status)")).toBe(200);
  });

  test('without JavaScript there is a table, whatever the titles are', async () => {
    const title = "</table><script>document.title = 'ran'</script><b>Tides";
    expect(await takeTurn(gallery.daemon, { content: title, sessionId: null })).toMatchObject({ status: 200 });
    const context = await loggedIn({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${gallery.daemon.url}/office`);
    await page.waitForURL(/\/office\/plain$/);
    expect(await page.getByRole('table', { name: /^Runs/ }).locator('tbody tr').count()).toBe(2);
    expect(await page.getByRole('cell', { name: title, exact: true }).count()).toBe(1);
    expect(await page.title()).toBe('Office Mode');
    await context.clearCookies();
    await page.reload();
    expect(await page.locator('body').textContent()).toContain('errand office --web');
  });

  test.each(['light', 'dark'] as const)('the table has no finding of axe, %s', async (colorScheme) => {
    const page = await (await loggedIn({ colorScheme, viewport: { width: 390, height: 844 } })).newPage();
    await page.goto(`${gallery.daemon.url}/office/plain`);
    expect(await findings(page)).toEqual([]);
  });

  test('below a path of public_url, all of it is below that path, the cookie too', async () => {
    const port = await freePort();
    const address = `http://127.0.0.1:${port}/errand`;
    const daemon = await startDaemonProcess({ errandYaml: `public_url: ${address}\n` });
    onTestFinished(() => daemon.close());
    const proxy = await startPathProxy(port, '/errand', daemon.url);
    onTestFinished(() => proxy.close());
    const { stdout } = await runErrand(['office', '--web', '--data-dir', daemon.dataDir]);
    expect(stdout).toContain(`${address}/office#code=`);
    const { page, context, requests, complaints, close } = await look(browser!, stdout.trimEnd());
    onTestFinished(close);
    await page.getByText('live', { exact: true }).waitFor();
    expect(requests.filter((asked) => !asked.startsWith(`${address}/office`))).toEqual([]);
    expect(complaints).toEqual([]);
    expect(await context.cookies()).toMatchObject([
      { name: expect.stringMatching(/^errand_office_[0-9a-f]{8}$/), path: '/errand/office' },
    ]);
    await page.reload();
    await page.getByText('live', { exact: true }).waitFor();
  });

  test('the page itself complains of nothing but what its script asks for without a log-in', async () => {
    const { complaints, requests, close } = await look(browser!, `${gallery.daemon.url}/office`);
    onTestFinished(close);
    expect(requests.every((address) => address.startsWith(`${gallery.daemon.url}/office`))).toBe(true);
    expect(complaints.filter((line) => !line.includes('status of 401'))).toEqual([]);
  });
});
