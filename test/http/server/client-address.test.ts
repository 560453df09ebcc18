import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeHttpApp } from '../../../src/http/app.ts';
import { makeIsTrustedProxy } from '../../../src/http/server/client-address.ts';
import { listen } from '../../../src/http/server/listen.ts';
import { makeHttpServer } from '../../../src/http/server/server.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { openFixture, send } from '../../support/http/http-fixture.ts';

/** Whom requests with these headers are from, to a daemon with these proxies. */
async function clientsOf(trustedProxies: readonly string[], headers: readonly (string | string[])[]) {
  const fixture = await openFixture({ settings: { trustedProxies } });
  for (const forwarded of headers)
    await send(fixture, { path: '/api/v1/status', headers: { 'x-forwarded-for': forwarded } });
  await send(fixture, { path: '/api/v1/status', via: 'socket', headers: { 'x-forwarded-for': '192.0.2.1' } });
  return fixture.lines.map((line) => line['client_address']);
}

test('what a peer that isn’t a trusted proxy says of others is ignored', async () => {
  expect(await clientsOf([], ['192.0.2.1'])).toEqual(['127.0.0.1', 'socket']);
  expect(await clientsOf(['10.0.0.0/8'], ['192.0.2.1'])).toEqual(['127.0.0.1', 'socket']);
});

test('behind trusted proxies a client is the rightmost address that is not one of theirs', async () => {
  const cases: readonly [forwarded: string | string[], client: string][] = [
    ['192.0.2.1', '192.0.2.1'],
    // What a client writes itself is left of what the proxy adds.
    ['203.0.113.9, 192.0.2.1', '192.0.2.1'],
    ['203.0.113.9,192.0.2.1 ,10.1.2.3', '192.0.2.1'],
    [['203.0.113.9', '192.0.2.1'], '192.0.2.1'],
    ['2001:DB8::1', '2001:db8::1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['192.0.2.1:4711', '192.0.2.1'],
    ['[2001:db8::1]:4711', '2001:db8::1'],
    // A client inside counts as the farthest proxy.
    ['10.9.9.9, 10.1.2.3', '10.9.9.9'],
    ['', '127.0.0.1'],
    ['unknown', '127.0.0.1'],
    ['192.0.2.1, unknown, 10.1.2.3', '10.1.2.3'],
  ];
  const clients = await clientsOf(
    ['127.0.0.1', '10.0.0.0/8'],
    cases.map(([forwarded]) => forwarded),
  );
  expect(clients).toEqual([...cases.map(([, client]) => client), 'socket']);
});

test('a password grant counts for the client that a trusted proxy names', async () => {
  const addresses: string[] = [];
  const fixture = await openFixture({
    settings: { trustedProxies: ['127.0.0.0/8'] },
    operations: {
      logIn: async (grant) => {
        if (grant.type === 'password') addresses.push(grant.address);
        return { text: 'a.b.c', expiresInSeconds: 60 };
      },
    },
  });
  const body = { grant_type: 'password', username: 'mara', password: 'x' };
  await send(fixture, {
    method: 'POST',
    path: '/openapi/v1/auth/token',
    body,
    headers: { 'x-forwarded-for': '192.0.2.1' },
  });
  expect(addresses).toEqual(['192.0.2.1']);
});

test('a proxy is trusted by its address or range, in either form, and as the settings say now', () => {
  let list: readonly string[] = ['192.0.2.7', 'fd00::/8'];
  const isTrustedProxy = makeIsTrustedProxy(() => list);
  const asked = ['192.0.2.7', '::ffff:192.0.2.7', 'fd00::1', '192.0.2.8', 'fe80::1%eth0', 'socket', 'gone', ''];
  expect(asked.filter(isTrustedProxy)).toEqual(['192.0.2.7', '::ffff:192.0.2.7', 'fd00::1']);
  list = ['unix'];
  expect([...asked, 'unix'].filter(isTrustedProxy)).toEqual(['unix']);
  list = ['192.0.2.8'];
  expect(asked.filter(isTrustedProxy)).toEqual(['192.0.2.8']);
});

test('who connects to a Unix socket is believed only where the settings list unix, and is never the operator', async () => {
  for (const [trustedProxies, client] of [
    [['127.0.0.0/8', '::/0', '0.0.0.0/0'], 'unix'],
    [['unix'], '192.0.2.1'],
  ] as const) {
    const fixture = await openFixture({ settings: { trustedProxies } });
    const server = makeHttpServer(makeHttpApp(fixture.parts));
    const socketPath = join(temporaryDirectory(), 'http.sock');
    const listener = await listen(server, { kind: 'unix', path: socketPath });
    onTestFinished(() => listener.close());
    const headers = { 'x-forwarded-for': '203.0.113.9, 192.0.2.1' };
    const got = await send({ ...fixture, socketPath }, { path: '/api/v1/status', via: 'socket', headers });
    expect(got.status).toBe(401);
    expect(fixture.lines.at(-1)).toMatchObject({ client_address: client });
  }
});

test('ten thousand entries, and entries that are no addresses, name nobody', async () => {
  const many = Array.from({ length: 10_000 }, (_, i) => `10.0.${i >> 8}.${i & 255}`);
  const fixture = await openFixture({ settings: { trustedProxies: ['127.0.0.1', '10.0.0.0/8'] } });
  const got = await send(fixture, { path: '/healthz', headers: { 'x-forwarded-for': many.join(',') } });
  expect(got.status).toBe(431);
  // As many as there can be: all of them proxies, so the first is the farthest.
  await send(fixture, { path: '/api/v1/status', headers: { 'x-forwarded-for': many.slice(0, 1_200).join(',') } });
  expect(fixture.lines.at(-1)).toMatchObject({ client_address: '10.0.0.0' });
  const odd = [
    '<script>',
    '999.1.1.1',
    '192.0.2.1:',
    '[::1',
    '::1]',
    'unix',
    'socket',
    '192.0.2.1/24',
    '1',
    '%00',
    'fe80::1%eth0',
  ];
  expect(await clientsOf(['127.0.0.1'], odd)).toEqual([...odd.map(() => '127.0.0.1'), 'socket']);
});

test('no other header names a client', async () => {
  const fixture = await openFixture({ settings: { trustedProxies: ['127.0.0.1'] } });
  for (const name of ['forwarded', 'x-real-ip', 'x-client-ip', 'cf-connecting-ip', 'true-client-ip'])
    await send(fixture, {
      path: '/api/v1/status',
      headers: { [name]: name === 'forwarded' ? 'for=192.0.2.1' : '192.0.2.1' },
    });
  expect(new Set(fixture.lines.map((line) => line['client_address']))).toEqual(new Set(['127.0.0.1']));
});
