// What addresses in replies begin with, on real servers: only a trusted proxy is believed, and only where public_url isn't set.
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Settings } from '../../../src/domain/settings.ts';
import { makeHttpApp } from '../../../src/http/app.ts';
import { listen } from '../../../src/http/server/listen.ts';
import { makeHttpServer } from '../../../src/http/server/server.ts';
import type { Operations } from '../../../src/operations/operations.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { openFixture, send } from '../../support/http/http-fixture.ts';

const ID = '0198c0de-0000-7000-8000-000000000001';
const DERIVED = 'http://127.0.0.1:8484';
const archive = { address: '/files/k1.a.b/w.zip', filename: 'w.zip', size: 1, sha256: 'a'.repeat(64) };

const operations = {
  getSessionArtifacts: async () => ({ sessionId: ID, status: 'ready', files: [], archive, error: null }),
  getShare: async () => ({ ...SHARE }),
} as unknown as Partial<Operations>;

const SHARE = {
  shareCode: 'Ab3dEf7hJk9mAb3dEf7hJk',
  no: 1,
  isLatest: true,
  entryPath: '/index.html',
  publishedAt: 0,
  shareType: 'page',
  status: 'active',
  trigger: 'manual',
  reason: null,
  fileCount: 1,
  totalSize: 1,
  expiresAt: null,
  withdrawnAt: null,
  pageKey: 'key',
  pageName: 'Tides',
};

type Ask = Pick<Parameters<typeof send>[1], 'headers' | 'via'>;

async function openBases(settings: Partial<Settings>, isPublicUrlSet = false) {
  const fixture = await openFixture({ operations, settings, parts: { isPublicUrlSet: () => isPublicUrlSet } });
  const at = async (path: string, ask: Ask, socketPath = fixture.socketPath) => {
    const got = await send({ ...fixture, socketPath }, { path, as: 'admin-key', ...ask });
    expect([path, got.status]).toEqual([path, 200]);
    return (got.json as { data: unknown }).data;
  };
  return {
    fixture,
    /** The base of a file's address. */
    own: async (ask: Ask, socketPath?: string) => {
      const json = (await at(`/api/v1/sessions/${ID}/artifacts`, ask, socketPath)) as { archive: { url: string } };
      return json.archive.url.replace(archive.address, '');
    },
    /** The base of a share's address. */
    shares: async (ask: Ask) => {
      const json = (await at(`/api/v1/shares/${SHARE.shareCode}`, ask)) as { share_url: string };
      return json.share_url.replace(/\/share\/.*/, '');
    },
  };
}

const PROXIED = { host: 'errand.example.com', 'x-forwarded-proto': 'https' };
const PROXY = { trustedProxies: ['127.0.0.1'] };

test('without public_url, what comes through a trusted proxy gets its scheme and the host of the request', async () => {
  const bases = await openBases(PROXY);
  expect(await bases.own({ headers: PROXIED })).toBe('https://errand.example.com');
  expect(await bases.shares({ headers: PROXIED })).toBe('https://errand.example.com');
  // A host of their own leads only there.
  const apart = await openBases({ ...PROXY, shareOrigin: 'https://shares.example.com' });
  expect(await apart.own({ headers: PROXIED })).toBe('https://errand.example.com');
  expect(await apart.shares({ headers: PROXIED })).toBe('https://shares.example.com');
});

test('with public_url, no request changes an address', async () => {
  const bases = await openBases({ ...PROXY, publicUrl: 'https://set.example/base' }, true);
  expect(await bases.own({ headers: PROXIED })).toBe('https://set.example/base');
  expect(await bases.shares({ headers: PROXIED })).toBe('https://set.example/base');
});

test('a peer that isn’t listed is not believed, nor is one on the operator’s socket', async () => {
  for (const trustedProxies of [[], ['10.0.0.0/8', 'unix']]) {
    const bases = await openBases({ trustedProxies });
    // That the client which it invents is listed doesn't make it a proxy.
    expect(await bases.own({ headers: { ...PROXIED, 'x-forwarded-for': '10.0.0.1' } })).toBe(DERIVED);
  }
  const bases = await openBases({ trustedProxies: ['127.0.0.0/8', '::/0', 'unix'] });
  expect(await bases.own({ headers: PROXIED, via: 'socket' })).toBe(DERIVED);
});

test('a proxy on a Unix socket is believed where the settings list unix', async () => {
  for (const [trustedProxies, base] of [
    [['unix'], 'https://errand.example.com'],
    [['127.0.0.1'], DERIVED],
  ] as const) {
    const bases = await openBases({ trustedProxies });
    const socketPath = join(temporaryDirectory(), 'http.sock');
    const listener = await listen(makeHttpServer(makeHttpApp(bases.fixture.parts)), { kind: 'unix', path: socketPath });
    onTestFinished(() => listener.close());
    expect(await bases.own({ headers: PROXIED, via: 'socket' }, socketPath)).toBe(base);
  }
});

test.each([
  ['EXAMPLE.com:8443', 'https://example.com:8443'],
  ['example.com:443', 'https://example.com'],
  ['localhost', 'https://localhost'],
  ['192.0.2.1:80', 'https://192.0.2.1:80'],
  ['[2001:db8::1]:8443', 'https://[2001:db8::1]:8443'],
  ['xn--bcher-kva.example', 'https://xn--bcher-kva.example'],
])('a request for %s is answered with %s', async (host, base) => {
  expect(await (await openBases(PROXY)).own({ headers: { ...PROXIED, host } })).toBe(base);
});

test('what isn’t exactly a host with its port makes no address', async () => {
  const bases = await openBases(PROXY);
  const odd = [
    'user@example.com',
    'user:pass@example.com',
    'example.com/path',
    'example.com\\path',
    'example.com?x',
    'example.com#x',
    'example.com:',
    'example.com:0',
    'example.com:65536',
    'example.com:8443:8443',
    'example.com, other.example',
    'example.com other.example',
    'a..b',
    '.example.com',
    'example.com.',
    '-a.example',
    'a-.example',
    'b\xfccher.example',
    'ex%61mple.com',
    '127.1',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '2130706433',
    '999.1.1.1',
    '[::1',
    '[::g]',
    '[fe80::1%25eth0]',
    '2001:db8::1',
    '"><script>',
    '*',
    'a'.repeat(64),
    `${'a.'.repeat(127)}com`,
  ];
  for (const host of odd) expect([host, await bases.own({ headers: { ...PROXIED, host } })]).toEqual([host, DERIVED]);
});

test('a proxy that names no scheme, another one or several makes no address, and no other header counts', async () => {
  const bases = await openBases(PROXY);
  const { host } = PROXIED;
  expect(await bases.own({ headers: { ...PROXIED, 'x-forwarded-proto': 'http' } })).toBe('http://errand.example.com');
  for (const proto of ['', 'ws', 'javascript', 'HTTPS://', 'https, http', ['https', 'https']])
    expect([proto, await bases.own({ headers: { host, 'x-forwarded-proto': proto } })]).toEqual([proto, DERIVED]);
  const others = {
    'x-forwarded-host': 'evil.example',
    'x-forwarded-port': '1',
    'x-forwarded-scheme': 'https',
    'x-forwarded-ssl': 'on',
    forwarded: 'proto=https;host=evil.example',
  };
  expect(await bases.own({ headers: { host, ...others } })).toBe(DERIVED);
  expect(await bases.own({ headers: { ...PROXIED, ...others } })).toBe('https://errand.example.com');
});
