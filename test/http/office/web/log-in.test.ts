// Logging a browser in and out, and what its cookie is good for (0054).
import { expect, test } from 'vitest';
import { routesOf } from '../../../../src/http/app.ts';
import { OPERATOR } from '../../../support/http/callers.ts';
import { openFixture, send } from '../../../support/http/http-fixture.ts';
import { openForBrowsers } from '../../../support/http/office-browser.ts';
import { fakeClock } from '../../../support/time/fake-clock.ts';

test('a link leads to /office under public_url, and says until when', async () => {
  const { fixture } = await openForBrowsers({ settings: { publicUrl: 'https://errand.example/base' } });
  const { status, json } = await send(fixture, { method: 'POST', path: '/api/v1/office-mode/links', via: 'socket' });
  expect([status, json]).toEqual([
    201,
    {
      code: 0,
      message: 'ok',
      data: {
        url: expect.stringMatching(/^https:\/\/errand\.example\/base\/office#code=[\w-]{43}$/) as string,
        expires_at: expect.stringMatching(/Z$/) as string,
      },
    },
  ]);
});

test.each([
  ['http://127.0.0.1:8484', 'Path=/office; Max-Age=28800; HttpOnly; SameSite=Strict'],
  ['https://errand.example', 'Path=/office; Max-Age=28800; HttpOnly; SameSite=Strict; Secure'],
  ['https://errand.example/base/', 'Path=/base/office; Max-Age=28800; HttpOnly; SameSite=Strict; Secure'],
])('at %s, a code becomes a cookie for %s', async (publicUrl, rules) => {
  const { root, codeOf, logIn } = await openForBrowsers({ settings: { publicUrl } });
  const got = await logIn(await codeOf(root));
  expect([got.status, got.text]).toEqual([204, '']);
  expect(got.headers['cache-control']).toBe('no-store');
  const [cookie, ...others] = got.headers['set-cookie'] ?? [];
  expect(others).toEqual([]);
  expect(cookie).toMatch(/^errand_office_00000000=[\w-]{43}; /);
  expect(cookie!.split('; ').slice(1).join('; ')).toBe(rules);
});

test('codes that are no good are refused with words, and set no cookie', { tags: ['G24'] }, async () => {
  const { root, codeOf, logIn } = await openForBrowsers();
  const code = await codeOf(root);
  await logIn(code);
  for (const [given, words] of [
    [code, 'used already'],
    ['nonsense', 'unknown'],
  ] as const) {
    const got = await logIn(given);
    expect([got.status, got.headers['set-cookie']]).toEqual([401, undefined]);
    expect((got.json as { message: string }).message).toContain(words);
  }
});

test('a page of another origin logs nobody in or out, and a form can’t', async () => {
  const { fixture, root, codeOf, logIn, browser } = await openForBrowsers();
  const code = await codeOf(root);
  for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }, { origin: 'null' }]) {
    expect((await logIn(code, headers)).status).toBe(403);
    const cookie = await browser();
    const path = '/office/logout';
    expect((await send(fixture, { method: 'POST', path, headers: { ...cookie, ...headers } })).status).toBe(403);
    expect((await send(fixture, { path: '/office/api/snapshot', headers: cookie })).status).toBe(200);
  }
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])
    expect((await logIn(code, { 'content-type': type })).status).toBe(415);
  expect((await logIn(code, { 'sec-fetch-site': 'same-origin' })).status).toBe(204);
});

test('logging out ends the cookie, here and wherever it was copied', { tags: ['G24'] }, async () => {
  const { fixture, browser } = await openForBrowsers();
  const cookie = await browser();
  const read = () => send(fixture, { path: '/office/api/snapshot', headers: cookie });
  expect((await read()).status).toBe(200);
  const got = await send(fixture, { method: 'POST', path: '/office/logout', headers: cookie });
  expect(got.status).toBe(204);
  expect(got.headers['set-cookie']).toEqual([
    'errand_office_00000000=; Path=/office; Max-Age=0; HttpOnly; SameSite=Strict',
  ]);
  expect((await read()).status).toBe(401);
  expect((await send(fixture, { method: 'POST', path: '/office/logout' })).status).toBe(204);
});

test('the cookie is good for the reads of Office Mode alone', { tags: ['A6', 'G24'] }, async () => {
  const { fixture, browser } = await openForBrowsers();
  const headers = await browser();
  const text = headers.cookie.split('=')[1]!;
  for (const { method, path, guard } of routesOf(fixture.parts, () => 'gone')) {
    if (guard === 'none') continue;
    const target = path.replaceAll(/:\w+/g, '0198c0de-0000-7000-8000-0000000000ff');
    const asked = { method, path: target, ...(['GET', 'DELETE'].includes(method) ? {} : { body: {} }) };
    if (guard !== 'web') {
      const got = await send(fixture, { ...asked, headers });
      expect([path, got.status]).toEqual([path, 401]);
    }
    // It is no key, wherever it is sent as one.
    const got = await send(fixture, { ...asked, as: text });
    expect([path, got.status]).toEqual([path, 401]);
  }
});

test('nothing that writes is mounted for browsers', { tags: ['G24'] }, async () => {
  const { fixture } = await openForBrowsers();
  const routes = routesOf(fixture.parts, () => 'gone');
  const reads = (prefix: string) =>
    routes
      .filter(({ method, path }) => method === 'GET' && path.startsWith(prefix))
      .map(({ path }) => path.slice(prefix.length));
  expect(reads('/office/api/')).toEqual([...reads('/api/v1/office-mode/'), 'budgets', 'queue']);
  const others = routes.filter(({ method, path }) => method !== 'GET' && path.startsWith('/office/'));
  expect(others.map(({ path }) => path)).toEqual(['/office/login', '/office/logout']);
});

test('what a browser reads is audited as what its key reads; the operator’s, with its address', async () => {
  const { fixture, browser, run, rows } = await openForBrowsers();
  const path = `/office/api/sessions/${run.sessionId}/stream-events`;
  await send(fixture, { path, headers: await browser(OPERATOR) });
  const entries = rows<Record<string, unknown>>(
    "SELECT action, username, via, key_id, address FROM audit_entries WHERE action <> 'office_login.create'",
  );
  expect(entries).toEqual([
    { action: 'session.read', username: 'operator', via: 'socket', key_id: null, address: '127.0.0.1' },
  ]);
});

test('a request of a page of another origin has no cookie, whatever the browser sends', async () => {
  const { fixture, browser } = await openForBrowsers();
  const cookie = await browser();
  const statusFrom = async (site: string) =>
    (await send(fixture, { path: '/office/api/snapshot', headers: { ...cookie, 'sec-fetch-site': site } })).status;
  expect(await Promise.all(['same-origin', 'none', 'same-site', 'cross-site'].map(statusFrom))).toEqual([
    200, 200, 401, 401,
  ]);
});

test('a key is taken as elsewhere, also beside a cookie that has ended', async () => {
  const { fixture } = await openForBrowsers();
  const headers = { cookie: `errand_office_00000000=${'x'.repeat(43)}` };
  const read = (as?: string) =>
    send(fixture, { path: '/office/api/snapshot', headers, ...(as !== undefined && { as }) });
  expect((await read('admin-key')).status).toBe(200);
  expect((await read()).status).toBe(401);
});

test.each(['a key that is revoked', 'a role that is lost', 'an account that is disabled', 'logging out'])(
  '%s ends the open streams of a browser within a minute, and its next request',
  { tags: ['G10', 'G24'] },
  async (what) => {
    const clock = fakeClock();
    const { fixture, store, adminKey, browser, run } = await openForBrowsers({ parts: { clock } });
    const headers = await browser();
    const path = `/office/api/sessions/${run.sessionId}/stream?replay=true`;
    const response = await fetch(`${fixture.url}${path}`, { headers });
    expect(response.status).toBe(200);
    if (what.startsWith('a key')) await store.keys.revoke(adminKey.id);
    else if (what.startsWith('a role')) {
      await store.users.create({ ...SECOND, username: 'second' });
      await store.users.change('mara', { role: 'user' });
    } else if (what.startsWith('an account')) {
      await store.users.create({ ...SECOND, username: 'second' });
      await store.users.change('mara', { disabled: true });
    } else await send(fixture, { method: 'POST', path: '/office/logout', headers });
    expect(await textAfterMinute(response, clock)).toContain('retry: 2000');
    expect([401, 403]).toContain((await send(fixture, { path: '/office/api/snapshot', headers })).status);
  },
);

/** All that a stream has sent, if it ends within a minute. */
async function textAfterMinute(response: Response, clock: ReturnType<typeof fakeClock>): Promise<string> {
  const ended = response.text();
  for (let second = 0; second < 60; second += 1) {
    clock.advance(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return ended;
}

test.each(['a cookie', 'a key'])(
  'switched off, the open streams of %s end within a minute',
  { tags: ['G24'] },
  async (what) => {
    const clock = fakeClock();
    const settings = { office: { web: true } };
    const { fixture, browser, run } = await openForBrowsers({ parts: { clock }, settings });
    const headers = what === 'a key' ? { authorization: 'Bearer admin-key' } : await browser();
    const path = `/office/api/sessions/${run.sessionId}/stream?replay=true`;
    const response = await fetch(`${fixture.url}${path}`, { headers });
    expect(response.status).toBe(200);
    settings.office.web = false;
    expect(await textAfterMinute(response, clock)).toContain('retry: 2000');
    expect((await send(fixture, { path, headers })).status).toBe(404);
  },
);

const SECOND = {
  fullName: '',
  department: '',
  role: 'admin',
  teamId: null,
  functionalRole: null,
  scenario: null,
  passwordHash: 'x',
} as const;

test('off by a setting, all of it is 404, also over the socket', async () => {
  const fixture = await openFixture({ settings: { office: { web: false } } });
  for (const [method, path] of [
    ['GET', '/office'],
    ['GET', '/office/sessions/1'],
    ['GET', '/office/plain'],
    ['GET', '/office/assets/office.js'],
    ['GET', '/office/api/snapshot'],
    ['POST', '/office/login'],
    ['POST', '/office/logout'],
  ] as const)
    for (const via of ['tcp', 'socket'] as const) {
      const got = await send(fixture, { method, path, via, ...(method === 'POST' && { body: { code: 'x' } }) });
      expect([path, via, got.status]).toEqual([path, via, 404]);
    }
});

test('on the host of the shares there is none of it', async () => {
  const fixture = await openFixture({ settings: { shareOrigin: 'https://shares.example' } });
  for (const path of ['/office', '/office/api/snapshot', '/office/assets/office.js', '/office/plain'])
    expect([path, (await send(fixture, { path, headers: { host: 'shares.example' } })).status]).toEqual([path, 404]);
});
