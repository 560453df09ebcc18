// The page of Office Mode, its files and its table for browsers without a script (0054).
import { gunzipSync } from 'node:zlib';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { makeAssets } from '../../../../src/http/office/web/assets.ts';
import { makeShell } from '../../../../src/http/office/web/shell.ts';
import { temporaryDirectory } from '../../../support/files/temporary-directory.ts';
import { openFixture, send } from '../../../support/http/http-fixture.ts';
import { openForBrowsers } from '../../../support/http/office-browser.ts';

const ADDRESSES = ['/office', '/office/', '/office/sessions/0198c0de-0000-7000-8000-0000000000ff', '/office/a/b/c?d=e'];

test.each(ADDRESSES)('%s is the page, with or without a credential', async (path) => {
  const fixture = await openFixture();
  for (const headers of [
    {},
    { cookie: `errand_office_00000000=${'x'.repeat(43)}` },
    { authorization: 'Bearer nonsense' },
  ]) {
    const got = await send(fixture, { path, headers });
    expect([got.status, got.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(got.text).toContain('<div id="office"></div>');
    expect(got.text).toContain('<html lang="en" data-root="/office"');
    expect(got.headers['set-cookie']).toBeUndefined();
  }
});

test('its policy admits what carries the nonce of this reply, and nothing around it', async () => {
  const fixture = await openFixture();
  const [one, two] = [await send(fixture, { path: '/office' }), await send(fixture, { path: '/office' })];
  const policy = String(one.headers['content-security-policy']);
  const nonce = /script-src 'nonce-([^']+)'/.exec(policy)![1]!;
  expect(policy.split('; ')).toEqual([
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ]);
  expect(two.text).not.toContain(nonce);
  expect(one.text.match(/nonce="[^"]+"/g)).toEqual([`nonce="${nonce}"`, `nonce="${nonce}"`]);
  expect(one.text).not.toMatch(/<style|style=| on\w+=|<script(?! type="module" src=)/);
});

test('every reply below it keeps others out', async () => {
  const fixture = await openFixture();
  for (const path of ['/office', '/office/api/snapshot', '/office/api/none', '/office/assets/none', '/office/plain']) {
    const { headers } = await send(fixture, { path });
    expect(headers).toMatchObject({
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'content-security-policy': expect.stringContaining("frame-ancestors 'none'") as string,
    });
    expect(headers['access-control-allow-origin']).toBeUndefined();
  }
  expect((await send(fixture, { path: '/office' })).headers['cross-origin-opener-policy']).toBe('same-origin');
});

test('what is no place is not the page', async () => {
  const fixture = await openFixture();
  for (const path of [
    '/office/api',
    '/office/api/',
    '/office/api/none',
    '/office/assets',
    '/office/assets/a/b',
    '/office/login',
    '/office/logout',
    '/office/plain/x',
    '/officer',
  ])
    expect([path, (await send(fixture, { path })).status]).toEqual([path, 404]);
  expect((await send(fixture, { method: 'POST', path: '/office' })).status).toBe(405);
});

test('everything on it is below the path of public_url, escaped', async () => {
  const fixture = await openFixture({ settings: { publicUrl: 'https://errand.example/a&b' } });
  const { text } = await send(fixture, { path: '/office/sessions/1' });
  expect(text).toContain('data-root="/a&amp;b/office"');
  expect(text.match(/(?:href|src|url)="?=?\/[^"]*/g)?.every((address) => address.includes('/a&amp;b/office/'))).toBe(
    true,
  );
});

function built(files: Readonly<Record<string, string>>) {
  const assets = makeAssets(pathToFileURL(`${temporaryDirectory(files)}/`));
  return { assets, shell: makeShell(assets) };
}

test('its files have the hash of what they contain in their addresses', () => {
  const bases = { own: 'http://127.0.0.1', shares: '' };
  const { shell } = built({ 'office.js': 'one', 'office.css': 'two' });
  const page = String(shell.officeFront({ bases }).body);
  expect(page).toMatch(/src="\/office\/assets\/office\.js\?v=[0-9a-f]{12}"/);
  expect(page).toMatch(/href="\/office\/assets\/office\.css\?v=[0-9a-f]{12}"/);
  const other = String(built({ 'office.js': 'three', 'office.css': 'two' }).shell.officeFront({ bases }).body);
  const scriptOf = (text: string) => /office\.js\?v=\w+/.exec(text)?.[0];
  expect(scriptOf(other)).not.toBe(scriptOf(page));
});

/** Asks for a file as a request does. */
async function fetched(assets: ReturnType<typeof makeAssets>, name: string, query = '', headers = {}) {
  const chunks: Buffer[] = [];
  const head: Record<string, unknown> = {};
  const res = {
    setHeader: (field: string, value: unknown) => void (head[field] = value),
    writeHead: (status: number) => void (head['status'] = status),
    end: (chunk?: Buffer) => void (chunk !== undefined && chunks.push(chunk)),
  };
  await assets.send({ req: { url: `/office/assets/${name}${query}`, headers }, res, params: { name } } as never);
  return { head, bytes: Buffer.concat(chunks) };
}

test('a file is kept for good under its own hash, asked for again without, and not sent to who has it', async () => {
  const { assets } = built({ 'office.js': 'alert()' });
  const query = assets.addressOf('office.js').slice('assets/office.js'.length);
  const kept = await fetched(assets, 'office.js', query);
  expect(kept.head).toMatchObject({
    status: 200,
    'Content-Type': 'text/javascript; charset=utf-8',
    'Cache-Control': 'public, max-age=31536000, immutable',
    Vary: 'Accept-Encoding',
  });
  expect(kept.bytes.toString()).toBe('alert()');
  const zipped = await fetched(assets, 'office.js', '?v=of-another-version', { 'accept-encoding': 'gzip, br' });
  expect(zipped.head).toMatchObject({ 'Content-Encoding': 'gzip', 'Cache-Control': 'no-cache' });
  expect(gunzipSync(zipped.bytes).toString()).toBe('alert()');
  const known = await fetched(assets, 'office.js', '', { 'if-none-match': kept.head['ETag'] });
  expect([known.head['status'], known.bytes.length]).toEqual([304, 0]);
});

test('a file that was not built is not found, in words that say so; another name is no file', async () => {
  const { assets } = built({ 'other.js': '' });
  await expect(fetched(assets, 'office.js')).rejects.toMatchObject({
    reason: 'not_found',
    message: expect.stringContaining('npm run build') as string,
  });
  for (const name of ['other.js', '../office.js', '__proto__', ''])
    await expect(fetched(assets, name)).rejects.toMatchObject({ reason: 'not_found', message: 'File not found.' });
});

test('the table has the floor, whatever its titles are', async () => {
  const { fixture, browser, accept } = await openForBrowsers();
  await accept({
    title: 'Its session has another one',
    preview: `</td></table><script>alert(1)</script><img src=x onerror=alert(1)>\u202E"'&${'x'.repeat(10_000)}`,
  });
  const got = await send(fixture, { path: '/office/plain', headers: await browser() });
  expect([got.status, got.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  expect(got.text).toContain('<caption>Runs');
  expect(got.text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  expect(got.text).not.toMatch(/<script|<img|\u202E|Its session/);
  expect(got.headers['cache-control']).toBe('no-store');
  expect(got.headers['content-security-policy']).toContain("default-src 'none'");
});

test('without a log-in it is a page that says how to get in, and has nothing', async () => {
  const { fixture } = await openForBrowsers();
  const got = await send(fixture, { path: '/office/plain' });
  expect([got.status, got.headers['content-type']]).toEqual([401, 'text/html; charset=utf-8']);
  expect(got.text).toContain('errand office --web');
  expect(got.text).not.toContain('<table');
});
