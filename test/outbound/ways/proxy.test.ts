// Connections through an HTTP proxy: which, to where, and what is said when it fails.
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { EgressPolicy } from '../../../src/outbound/egress.ts';
import { connectTo } from '../../../src/outbound/guarded-connect.ts';
import { guardedFetch } from '../../../src/outbound/guarded-fetch.ts';
import { watchLookUps } from '../../../src/outbound/look-ups.ts';
import { proxyFor, readDirect, readProxy } from '../../../src/outbound/ways/proxy-rules.ts';
import { PLAIN_WAYS, takeWays, type Ways } from '../../../src/outbound/ways/ways.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { makeCertificate } from '../../support/http/certificates.ts';
import { startConnectProxy } from '../../support/http/connect-proxy.ts';
import { startSecureWebServer } from '../../support/http/secure-web-server.ts';
import { startWebServer } from '../../support/http/web-server.ts';

afterEach(() => takeWays(PLAIN_WAYS));

const PUBLIC = '93.184.216.34';
const POLICY: EgressPolicy = {
  purpose: 'web_fetch',
  allow: [],
  resolve: async (name) => {
    if (name === 'public.test') return [{ address: PUBLIC, family: 4 }];
    if (name === 'private.test') return [{ address: '10.0.0.7', family: 4 }];
    throw new Error('unknown');
  },
};

function through(text: string, over: Partial<Ways> = {}): void {
  const read = readProxy(text);
  if (!read.ok) throw new Error(read.why);
  takeWays({ ...PLAIN_WAYS, proxies: { 'http:': read.proxy, 'https:': read.proxy }, ...over });
}

async function get(url: string): Promise<string> {
  const reply = await guardedFetch(POLICY, { url, timeoutMs: 30_000, maxBytes: 100 });
  return Buffer.from(reply.body).toString();
}

test('the daemon resolves and checks a name, and the proxy gets the address', async () => {
  const server = await startWebServer();
  const proxy = await startConnectProxy({ leads: { [`${PUBLIC}:80`]: server.port } });
  through(proxy.url);
  expect(await get('http://public.test/a')).toBe('hello');
  expect(server.hits).toMatchObject([{ path: '/a', headers: { host: 'public.test' } }]);
  expect(proxy.tunnels.map(({ target }) => target)).toEqual([`${PUBLIC}:80`]);
  await expect(get('http://private.test/')).rejects.toMatchObject({ kind: 'refused' });
  await expect(get('http://unknown.test/')).rejects.toMatchObject({ kind: 'refused' });
  expect(proxy.tunnels).toHaveLength(1);
});

test('a proxy that resolves names gets them, but no address and no port that is refused', async () => {
  const server = await startWebServer();
  const proxy = await startConnectProxy({ leads: { 'unknown.test:80': server.port, 'private.test:80': server.port } });
  through(proxy.url, { proxyResolves: true });
  expect(await get('http://unknown.test/')).toBe('hello');
  expect(await get('http://private.test/')).toBe('hello');
  for (const url of [
    'http://10.0.0.7/',
    'http://169.254.169.254/',
    'http://unknown.test:25/',
    'http://[::ffff:a00:7]/',
    'http://169.254.169.254../',
    'http://127.1../',
    'http://localhost../',
    'http://some..test/',
  ])
    await expect(get(url), url).rejects.toMatchObject({ kind: 'refused' });
  expect(proxy.tunnels).toHaveLength(2);
});

test('a name of this machine is not looked for on the machine of the proxy', async () => {
  const server = await startWebServer();
  const proxy = await startConnectProxy({ status: 403 });
  through(proxy.url);
  const policy: EgressPolicy = {
    purpose: 'web_fetch',
    allow: [{ for: ['web_fetch'], host: 'here.test', cidr: null, ports: [server.port] }],
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  };
  const url = `http://here.test:${server.port}/`;
  const reply = await guardedFetch(policy, { url, timeoutMs: 30_000, maxBytes: 100 });
  expect(Buffer.from(reply.body).toString()).toBe('hello');
  (await connectTo(watchLookUps(policy).policy, new URL(url))).destroy();
  expect(proxy.tunnels).toEqual([]);
});

test('TLS is end to end, and the name is that of the target', async () => {
  const root = makeCertificate('Corp Root CA');
  const caFile = join(temporaryDirectory({ 'ca.pem': root.cert }), 'ca.pem');
  const port = await startSecureWebServer([makeCertificate('public.test', { issuer: root })]);
  const proxy = await startConnectProxy({ leads: { [`${PUBLIC}:443`]: port } });
  through(proxy.url, { caFile });
  expect(await get('https://public.test/')).toBe('hello');
  through(proxy.url);
  await expect(get('https://public.test/')).rejects.toThrow('of public.test is issued by "Corp Root CA"');
});

test('a proxy can speak TLS itself', async () => {
  const root = makeCertificate('Proxy CA');
  const caFile = join(temporaryDirectory({ 'ca.pem': root.cert }), 'ca.pem');
  const server = await startWebServer();
  const certificate = makeCertificate('localhost', { issuer: root });
  const proxy = await startConnectProxy({ leads: { [`${PUBLIC}:80`]: server.port }, certificate });
  through(`https://localhost:${proxy.port}`, { caFile });
  expect(await get('http://public.test/')).toBe('hello');
  through(`https://localhost:${proxy.port}`);
  await expect(get('http://public.test/')).rejects.toThrow(
    'The proxy can\'t be used. The certificate of localhost is issued by "Proxy CA"',
  );
});

test('credentials go to the proxy alone', async () => {
  const server = await startWebServer();
  const proxy = await startConnectProxy({ leads: { [`${PUBLIC}:80`]: server.port } });
  through(`http://some%40one:se%3Acret@127.0.0.1:${proxy.port}`);
  await get('http://public.test/');
  const sent = `Basic ${Buffer.from('some@one:se:cret').toString('base64')}`;
  expect(proxy.tunnels[0]?.headers).toMatchObject({ 'proxy-authorization': sent, host: `${PUBLIC}:80` });
  expect(JSON.stringify(server.hits)).not.toContain('asic');
});

test.each([
  [401, 'does not accept the credentials that it was called with, if any (401).'],
  [407, 'does not accept the credentials that it was called with, if any (407).'],
  [500, "can't reach public.test (500)."],
  [403, 'refuses a connection to public.test (403).'],
  [502, "can't reach public.test (502)."],
  [504, "can't reach public.test (504)."],
])('a proxy that answers %i is named', async (status, words) => {
  const proxy = await startConnectProxy({ status });
  through(proxy.url);
  await expect(get('http://public.test/')).rejects.toMatchObject({
    kind: 'unreachable',
    message: `The proxy 127.0.0.1:${proxy.port} ${words}`,
  });
});

test('a proxy that is down is named, and its credentials are not', async () => {
  const server = await startWebServer();
  const { port } = await startConnectProxy();
  void server;
  through(`http://user:hidden@127.0.0.1:${await closedPort(port)}`);
  const error = (await get('http://public.test/').catch((thrown: unknown) => thrown)) as Error;
  expect(error.message).toMatch(/^The proxy 127\.0\.0\.1:\d+ can't be reached \(ECONNREFUSED\)\.$/);
});

/** A port on which nothing listens. */
async function closedPort(other: number): Promise<number> {
  const { createServer } = await import('node:net');
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise<void>((resolve) => server.close(() => resolve()));
  expect(port).not.toBe(other);
  return port;
}

test('a proxy that never answers is named when the time is over', async () => {
  const proxy = await startConnectProxy({ status: null });
  through(proxy.url);
  const asked = guardedFetch(POLICY, { url: 'http://public.test/', timeoutMs: 300, maxBytes: 100 });
  await expect(asked).rejects.toMatchObject({
    kind: 'timeout',
    message: `The host public.test did not reply completely through the proxy 127.0.0.1:${proxy.port} within 0.3 s.`,
  });
});

test('loopback and what is listed is reached directly', () => {
  const proxy = { url: 'http://proxy.test:3128', authorization: null };
  const direct = readDirect('.intern.test, *.corp.test example.org:8443,10.0.0.0/8,fd00::/8,192.0.2.7');
  const ways = { ...PLAIN_WAYS, proxies: { 'http:': null, 'https:': proxy }, direct };
  const isProxied = (host: string, port = 443) => proxyFor(ways, 'https:', { host, port }) === proxy;
  for (const host of ['localhost', 'a.localhost', '127.8.0.1', '::1', '::ffff:127.0.0.1'])
    expect(isProxied(host), host).toBe(false);
  for (const host of ['intern.test', 'a.intern.test', 'b.corp.test', '10.3.4.5', 'fd00::1', '192.0.2.7'])
    expect(isProxied(host), host).toBe(false);
  for (const host of ['nointern.test', 'example.org', '11.0.0.1', 'public.test'])
    expect(isProxied(host), host).toBe(true);
  expect(isProxied('www.example.org', 8443)).toBe(false);
  expect(proxyFor(ways, 'http:', { host: 'public.test', port: 80 })).toBeNull();
  expect(proxyFor({ ...ways, direct: ['*'] }, 'https:', { host: 'public.test', port: 443 })).toBeNull();
});

test('the address of a proxy is read as other programs read it', () => {
  expect(readProxy('proxy.test:3128')).toMatchObject({ ok: true, proxy: { url: 'http://proxy.test:3128' } });
  expect(readProxy('http://proxy.test')).toMatchObject({ ok: true, proxy: { url: 'http://proxy.test:80' } });
  expect(readProxy('https://[fd00::1]/')).toMatchObject({ ok: true, proxy: { url: 'https://[fd00::1]:443' } });
  for (const socks of ['socks5h://u:hidden@p.test:1080', 'SOCKS://p.test'])
    expect(readProxy(socks)).toEqual({ ok: false, why: expect.stringMatching(/^names a SOCKS proxy/) });
  expect(readProxy('ftp://user:hidden@p.test')).toEqual({ ok: false, why: expect.not.stringContaining('hidden') });
});
