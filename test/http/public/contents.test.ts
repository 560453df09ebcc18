// Published bytes over real connections: which of them there are, and what they may do in a browser.
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { waitFor } from '../../support/time/wait-for.ts';
import { publishedFixture } from '../../support/http/published-fixture.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const PAGE = '<!doctype html><script src="app.js"></script>';
const SITE = {
  '/site/index.html': PAGE,
  '/site/app.js': 'hello()',
  '/site/img/moon.svg': '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
  '/site/feed.xml': '<?xml version="1.0"?><x:script xmlns:x="http://www.w3.org/1999/xhtml">alert(1)</x:script>',
  '/secret.txt': 'not published',
};

const HTML_POLICY =
  'sandbox allow-scripts allow-forms allow-modals allow-popups allow-popups-to-escape-sandbox allow-downloads; ' +
  "default-src 'self' data: blob: 'unsafe-inline' 'unsafe-eval'; form-action 'none'; base-uri 'none'";
const PASSIVE_POLICY =
  "default-src 'none'; script-src 'none'; img-src 'self' data:; media-src 'self'; style-src 'unsafe-inline'; sandbox";

test('an entry is its bytes, with every header that keeps it from acting as the daemon', {
  tags: ['§4.7-content', 'F3'],
}, async () => {
  const { site, send, clock } = await publishedFixture();
  const { base } = await site(SITE);
  for (const path of [`${base}/content`, `${base}/assets/index.html`]) {
    const got = await send(path, { headers: { cookie: 'a=b', authorization: 'Bearer nonsense' } });
    expect([got.status, got.text]).toEqual([200, PAGE]);
    expect(got.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-disposition': 'inline; filename=index.html',
      'content-length': String(PAGE.length),
      'content-security-policy': HTML_POLICY,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'cross-origin',
      'access-control-allow-origin': '*',
      'accept-ranges': 'bytes',
      'cache-control': 'no-cache',
      etag: `"${sha256(PAGE)}"`,
      'last-modified': new Date(clock.now()).toUTCString(),
    });
    expect(got.headers['set-cookie']).toBeUndefined();
    expect(got.headers['content-security-policy']).not.toContain('allow-same-origin');
  }
});

/** The type and the policy of each kind of file. */
const KINDS: readonly (readonly [name: string, type: string, policy: string])[] = [
  ['a.htm', 'text/html; charset=utf-8', HTML_POLICY],
  ['a.xhtml', 'text/plain; charset=utf-8', PASSIVE_POLICY],
  ['a.svg', 'image/svg+xml', PASSIVE_POLICY],
  ['a.xml', 'text/plain; charset=utf-8', PASSIVE_POLICY],
  ['a.md', 'text/plain; charset=utf-8', PASSIVE_POLICY],
  ['a.js', 'text/javascript; charset=utf-8', PASSIVE_POLICY],
  ['a.css', 'text/css; charset=utf-8', PASSIVE_POLICY],
  ['a.json', 'application/json; charset=utf-8', PASSIVE_POLICY],
  ['a.png', 'image/png', PASSIVE_POLICY],
  ['a.mp4', 'video/mp4', PASSIVE_POLICY],
  ['a.pdf', 'application/pdf', PASSIVE_POLICY.replace('sandbox', "object-src 'self'")],
  ['a.bin', 'application/octet-stream', PASSIVE_POLICY],
  ['noname', 'application/octet-stream', PASSIVE_POLICY],
];

test.each(KINDS)('%s is sent as %s, under a policy of its kind', { tags: ['F3'] }, async (name, type, policy) => {
  const { site, send } = await publishedFixture();
  const { base } = await site({ '/index.md': '# Index', [`/${name}`]: '1' });
  const shown = await send(`${base}/assets/${name}`);
  expect(shown.headers).toMatchObject({ 'content-type': type, 'content-security-policy': policy });
  const saved = await send(`${base}/assets/${name}?download=1`);
  expect(saved.headers['content-disposition']).toBe(`attachment; filename=${name}`);
  // What is saved may not act when a browser shows it all the same.
  expect(saved.headers['content-security-policy']).not.toContain('allow-scripts');
});

test('only what a page adds itself is passed over in a query', async () => {
  const { site, send } = await publishedFixture();
  const { base } = await site(SITE);
  for (const query of ['?v=3', '?download=0', '?download', '?', '?../../secret.txt'])
    expect((await send(`${base}/assets/app.js${query}`)).headers['content-disposition']).toBe(
      'inline; filename=app.js',
    );
});

test('HEAD, ranges and conditions work for content, assets and media alike', {
  tags: ['§4.7-content', 'F4-shares'],
}, async () => {
  const { site, send, clock } = await publishedFixture();
  const { base } = await site({ '/song.mp3': '0123456789' });
  for (const path of [`${base}/content`, `${base}/assets/song.mp3`, `${base}/media`]) {
    const whole = await send(path);
    const head = await send(path, { method: 'HEAD' });
    const { 'x-request-id': _one, date: _two, ...headers } = head.headers;
    expect([head.status, head.text]).toEqual([200, '']);
    expect(whole.headers).toMatchObject(headers);
    const part = await send(path, { headers: { range: 'bytes=2-4' } });
    expect([part.status, part.text, part.headers['content-range']]).toEqual([206, '234', 'bytes 2-4/10']);
    const beyond = await send(path, { headers: { range: 'bytes=10-' } });
    expect([beyond.status, beyond.headers['content-range']]).toEqual([416, 'bytes */10']);
    expect(beyond.json).toEqual({ code: 416, message: 'The range lies outside the file.', data: null });
    const { etag, 'last-modified': modified } = whole.headers;
    const conditional = async (given: Record<string, string>) => (await send(path, { headers: given })).status;
    expect(await conditional({ 'if-none-match': etag! })).toBe(304);
    expect(await conditional({ 'if-none-match': '"other"' })).toBe(200);
    expect(await conditional({ 'if-modified-since': modified! })).toBe(304);
    expect(await conditional({ 'if-modified-since': new Date(clock.now() - 1_000).toUTCString() })).toBe(200);
    expect(await conditional({ range: 'bytes=0-0', 'if-range': modified! })).toBe(206);
    expect(await conditional({ range: 'bytes=0-0', 'if-range': '"other"' })).toBe(200);
  }
});

test('a known content is sent again for nobody, with the policy that it has now', async () => {
  const { site, send } = await publishedFixture();
  const { base } = await site(SITE);
  const got = await send(`${base}/content`, { headers: { 'if-none-match': `W/"${sha256(PAGE)}"` } });
  expect([got.status, got.text]).toEqual([304, '']);
  expect(got.headers['content-security-policy']).toBe(HTML_POLICY);
});

test('only images, audio and video are media', { tags: ['F9-media'] }, async () => {
  const { site, send } = await publishedFixture();
  for (const [name, status] of [
    ['a.png', 200],
    ['a.mp3', 200],
    ['a.webm', 200],
    ['a.html', 404],
    ['a.md', 404],
    ['a.zip', 404],
  ] as const) {
    const { base } = await site({ [`/${name}`]: 'x' });
    expect([name, (await send(`${base}/media`)).status, (await send(`${base}/content`)).status]).toEqual([
      name,
      status,
      200,
    ]);
  }
});

/** Names that agents may give their files, all of which are reached by their own address and by no other. */
const ODD_NAMES = [
  'a b.txt',
  'ä.txt',
  'a\u0308.txt',
  '\u{1F30A}.txt',
  '%2e%2e.txt',
  '%00.txt',
  'a%2fb.txt',
  'a?b#c.txt',
  'a\\b.txt',
  'a..txt',
  'a;b=c.txt',
  'a\'b"c.txt',
  'a+b&c.txt',
  'new\nline.txt',
  'UPPER.TXT',
  'upper.txt',
  'con:aux.txt',
];

test('odd names are found by their own address', { tags: ['F4-assets'] }, async () => {
  const { site, send } = await publishedFixture();
  const files = Object.fromEntries(ODD_NAMES.map((name) => [`/site/${name}`, `I am ${name}`]));
  const { base } = await site({ '/site/index.html': PAGE, ...files });
  for (const name of ODD_NAMES) {
    const got = await send(`${base}/assets/${encodeURIComponent(name)}`);
    expect([name, got.status, got.text]).toEqual([name, 200, `I am ${name}`]);
  }
});

/** Addresses that name nothing of the share, after `assets/`. */
const HOSTILE = [
  '',
  '/',
  '.',
  '..',
  './index.html',
  '../secret.txt',
  '..%2fsecret.txt',
  '%2e%2e/secret.txt',
  '%2e%2e%2fsecret.txt',
  '%252e%252e%252fsecret.txt',
  '..%5csecret.txt',
  'img/../index.html',
  'img/../../secret.txt',
  'img%2fmoon.svg',
  'img%252fmoon.svg',
  'img//moon.svg',
  '/index.html',
  '//index.html',
  '/site/index.html',
  'site/index.html',
  'img',
  'img/',
  'index.html/',
  'index.html/app.js',
  'INDEX.HTML',
  'index.html%00',
  'index.html%00.png',
  '%00',
  'index.html%20',
  'index.html.',
  'index%2ehtm',
  'indexx.html',
  '%',
  '%zz',
  '%c0%ae%c0%ae/secret.txt',
  '%ed%a0%80',
  'index.html;x=1',
  'a'.repeat(5_000),
  '/etc/passwd',
  'file:///etc/passwd',
  'https://example.com/',
  'c:%5cwindows',
  'caf%C3%A9.txt',
  'cafe%CC%81.txt',
];

test('whatever else is asked for is not there', async () => {
  const { site, fixture } = await publishedFixture();
  const { base } = await site({ ...SITE, '/site/caf\u00e9': 'x' });
  for (const path of HOSTILE) {
    const got = await rawGet(fixture.port, `${base}/assets/${path}`);
    expect([path, got.status]).toEqual([path, 404]);
    expect(got.text).not.toContain('not published');
  }
});

test('a name in one normal form is not the same name in another', { tags: ['F4-assets'] }, async () => {
  const { site, send } = await publishedFixture();
  const { base } = await site({ '/index.html': PAGE, '/caf\u00e9.txt': 'composed' });
  expect((await send(`${base}/assets/caf%C3%A9.txt`)).text).toBe('composed');
  expect((await send(`${base}/assets/cafe%CC%81.txt`)).status).toBe(404);
});

/** Sends a target as it is: clients would clean it. */
async function rawGet(port: number, target: string): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () =>
      socket.write(`GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`),
    );
    let text = '';
    socket.on('data', (bytes) => (text += bytes.toString('latin1')));
    socket.on('end', () => resolve({ status: Number(/^HTTP\/1.1 (\d+)/.exec(text)?.[1]), text })).on('error', reject);
  });
}

test('of a share that has ended, was withdrawn or whose page is deleted, nothing is left', async () => {
  const fixture = await publishedFixture();
  const paths = ['', '/metadata', '/content', '/assets/index.html'];
  const statuses = async (base: string) =>
    Promise.all(paths.map(async (path) => (await fixture.send(base + path)).status));
  const [expiring, withdrawn, deleted] = [await fixture.site(SITE), await fixture.site(SITE), await fixture.site(SITE)];
  await fixture.store.shares.setEnd(expiring.shareCode, fixture.clock.now() + 60_000);
  for (const { base } of [expiring, withdrawn, deleted]) expect(await statuses(base)).toEqual([200, 200, 200, 200]);
  fixture.clock.advance(60_000);
  await fixture.store.shares.withdraw(withdrawn.shareCode);
  await fixture.store.pages.delete(deleted.id);
  for (const { base } of [expiring, withdrawn, deleted]) expect(await statuses(base)).toEqual([404, 404, 404, 404]);
});

test('a file whose bytes are gone is 404 and one line of the log, and the rest of the share works', {
  tags: ['§4.7-checks'],
}, async () => {
  const { site, send, directory, lines } = await publishedFixture();
  const { base, key, shareCode } = await site(SITE);
  const blob = sha256('hello()');
  rmSync(join(directory, blob.slice(0, 2), blob));
  const got = await send(`${base}/assets/app.js`);
  expect([got.status, got.json]).toEqual([404, { code: 404, message: 'File not found.', data: null }]);
  expect((await send(`${base}/content`)).status).toBe(200);
  await waitFor(() => lines.length === 3);
  expect(lines.filter(({ level }) => level === 'error')).toEqual([
    expect.objectContaining({ publish_key: key, share_code: shareCode, path: '/site/app.js' }),
  ]);
});
