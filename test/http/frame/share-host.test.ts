// A host for shares alone: which requests are at it, and what is served where.
import { createConnection } from 'node:net';
import { expect, test } from 'vitest';
import { makeIsServedAt } from '../../../src/http/frame/share-host.ts';
import { type Fixture, openFixture, send } from '../../support/http/http-fixture.ts';

const SHARES = ['/share', '/share/p/key', '/share/static/a.css', '/api/v1/public/publishes', '/api/v1/public/'];
const OTHERS = [
  '/',
  '/healthz',
  '/sharewith',
  '/Share',
  '/api/v1/publishes',
  '/api/v1/publicity',
  '/api/v1/status',
  '/files/a/b',
  '/openapi.json',
];

test.each([
  ['https://shares.example', 'shares.example', true],
  ['https://shares.example', 'SHARES.Example', true],
  ['https://shares.example', 'shares.example.', true],
  ['https://shares.example', 'shares.example:443', true],
  ['https://shares.example', 'shares.example.:443', true],
  ['https://shares.example', 'shares.example:', true],
  ['https://shares.example', 'shares.example:80', false],
  ['https://shares.example', 'shares.example:8443', false],
  ['https://shares.example', 'shares.example..', false],
  ['https://shares.example', 'a.shares.example', false],
  ['https://shares.example', 'shares.example.evil.example', false],
  ['https://shares.example', 'errand.example', false],
  ['https://shares.example', 'shares.example,errand.example', false],
  ['https://shares.example', '', false],
  ['https://shares.example', undefined, false],
  ['http://shares.example', 'shares.example:80', true],
  ['http://shares.example', 'shares.example:443', false],
  ['http://127.0.0.1:8485', '127.0.0.1:8485', true],
  ['http://127.0.0.1:8485', '127.0.0.1', false],
  ['http://[::1]:8485', '[::1]:8485', true],
  ['http://[::1]:8485', '[::1]', false],
])('with %s, the authority %s is that of shares: %s', (origin, authority, isShareHost) => {
  const isServedAt = makeIsServedAt(() => origin);
  for (const path of SHARES) expect([path, isServedAt(authority, path)]).toEqual([path, isShareHost]);
  for (const path of OTHERS) expect([path, isServedAt(authority, path)]).toEqual([path, !isShareHost]);
});

test('without the setting, everything is served everywhere, and a change takes effect at once', () => {
  let origin = '';
  const isServedAt = makeIsServedAt(() => origin);
  expect([isServedAt('a.example', '/share'), isServedAt('a.example', '/healthz')]).toEqual([true, true]);
  origin = 'https://a.example';
  expect([isServedAt('a.example', '/share'), isServedAt('a.example', '/healthz')]).toEqual([true, false]);
  origin = 'https://b.example';
  expect([isServedAt('a.example', '/share'), isServedAt('a.example', '/healthz')]).toEqual([false, true]);
  origin = '';
  expect([isServedAt(undefined, '/share'), isServedAt('a.example', '/healthz')]).toEqual([true, true]);
});

const withShareHost = () => openFixture({ settings: { shareOrigin: 'https://shares.example' } });
const at = (host: string) => ({ headers: { host } });

test('at the host of shares everything else is 404, with a credential as well, and in the shape of its path', async () => {
  const fixture = await withShareHost();
  const get = async (path: string, host: string) =>
    (await send(fixture, { path, as: 'admin-key', ...at(host) })).status;
  expect(await get('/healthz', 'shares.example')).toBe(404);
  expect(await get('/healthz', 'errand.example')).toBe(200);
  expect(await get('/api/v1/status', 'shares.example')).toBe(404);
  expect(await get('/api/v1/status', 'errand.example')).toBe(200);
  const refused = await send(fixture, { method: 'POST', path: '/api/v1/users', body: {}, ...at('Shares.example:443') });
  expect([refused.status, refused.json]).toEqual([404, { code: 404, message: 'No such endpoint.', data: null }]);
});

test('the control socket serves everything, whatever host a request names', async () => {
  const fixture = await withShareHost();
  for (const host of ['shares.example', 'localhost'])
    expect((await send(fixture, { path: '/api/v1/status', via: 'socket', ...at(host) })).status).toBe(200);
});

test('a whole address in the request line counts more than the header', async () => {
  const fixture = await withShareHost();
  const line = (target: string, host: string) => `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
  expect(await statusOf(fixture, line('http://shares.example/healthz', 'errand.example'))).toBe(404);
  expect(await statusOf(fixture, line('http://errand.example/healthz', 'shares.example'))).toBe(200);
});

test('a request of HTTP/1.0 without a host is not at the host of shares', async () => {
  const fixture = await withShareHost();
  expect(await statusOf(fixture, 'GET /healthz HTTP/1.0\r\n\r\n')).toBe(200);
  expect(await statusOf(fixture, 'GET /share HTTP/1.0\r\n\r\n')).toBe(404);
});

async function statusOf(fixture: Fixture, request: string): Promise<number> {
  const text = await new Promise<string>((resolve, reject) => {
    const socket = createConnection(fixture.port, '127.0.0.1', () => socket.write(request));
    let got = '';
    socket.on('data', (bytes) => (got += bytes.toString()));
    socket.on('end', () => resolve(got)).on('error', reject);
  });
  return Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]);
}
