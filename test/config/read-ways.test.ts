// How connections leave, from settings, files and the usual variables.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readWays, readWayVariables } from '../../src/config/read-ways.ts';
import type { Settings } from '../../src/domain/settings.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';
import { makeCertificate } from '../support/http/certificates.ts';
import { SETTINGS } from '../support/http/http-fixture.ts';

function read(
  environment: Readonly<Record<string, string>>,
  { egress = {}, caFile = '' }: { egress?: Partial<Settings['egress']>; caFile?: string } = {},
  files: Readonly<Record<string, string>> = {},
) {
  const configDir = temporaryDirectory(files);
  const settings = { tls: { ...SETTINGS.tls, caFile }, egress: { ...SETTINGS.egress, ...egress } };
  const variables = readWayVariables((name) => environment[name] ?? null);
  const { ways, problems } = readWays(settings, variables, { configDir, credentialsDirectory: null });
  return { ways, problems: problems.map(({ message }) => message), configDir };
}

const at = (url: string, authorization: string | null = null) => ({ url, authorization });

test('the usual variables name proxies, in lower case first', () => {
  const { ways, problems } = read({
    HTTP_PROXY: 'http://upper.test:1',
    http_proxy: 'lower.test:2',
    HTTPS_PROXY: 'https://secure.test:3',
    no_proxy: 'intern.test,10.0.0.0/8',
    SSL_CERT_FILE: '/store.pem',
  });
  expect(problems).toEqual([]);
  expect(ways.proxies).toEqual({ 'http:': at('http://lower.test:2'), 'https:': at('https://secure.test:3') });
  expect(ways).toMatchObject({
    direct: ['intern.test', '10.0.0.0/8'],
    systemStore: '/store.pem',
    proxyResolves: false,
  });
});

test('the setting goes before them, with credentials of its own; direct is none', () => {
  const environment = { HTTPS_PROXY: 'socks5://user:hidden@other.test', NO_PROXY: 'a.test' };
  const egress = {
    proxy: 'http://proxy.test:3128',
    proxyCredentialsFile: 'proxy.txt',
    noProxy: ['b.test'],
    proxyResolves: true,
  };
  const set = read(environment, { egress }, { 'proxy.txt': 'some:one:word\n' });
  const proxy = at('http://proxy.test:3128', `Basic ${Buffer.from('some:one:word').toString('base64')}`);
  expect(set.problems).toEqual([]);
  expect(set.ways).toMatchObject({
    proxies: { 'http:': proxy, 'https:': proxy },
    direct: ['a.test', 'b.test'],
    proxyResolves: true,
  });
  const none = read(environment, { egress: { proxy: 'direct' } });
  expect([none.problems, none.ways.proxies]).toEqual([[], { 'http:': null, 'https:': null }]);
});

test('what cannot be used is named, without any secret in it', () => {
  const socks = read({ https_proxy: 'socks5h://user:hidden@p.test', HTTP_PROXY: 'ftp://user:hidden@p.test' });
  expect(socks.problems).toEqual([
    expect.stringMatching(/^HTTP_PROXY must be the address of an HTTP proxy/),
    expect.stringMatching(/^HTTPS_PROXY names a SOCKS proxy, which is not supported/),
  ]);
  expect(JSON.stringify(socks.problems)).not.toContain('hidden');
  const egress = { proxy: 'http://proxy.test:3128', proxyCredentialsFile: 'proxy.txt' };
  const open = read({}, { egress }, { 'proxy.txt': 'hidden\n' });
  expect(open.problems).toEqual([
    `egress.proxy_credentials_file ${open.configDir}/proxy.txt must contain USER:PASSWORD on one line`,
  ]);
});

test('the file of trusted issuers is relative to the config directory', () => {
  const found = read({}, { caFile: 'ca.pem' }, { 'ca.pem': makeCertificate('Corp Root CA').cert });
  expect([found.problems, found.ways.caFile]).toEqual([[], join(found.configDir, 'ca.pem')]);
  const wrong = read({}, { caFile: 'ca.pem' }, { 'ca.pem': 'text' });
  expect(wrong.problems).toEqual([expect.stringContaining(`${wrong.configDir}/ca.pem is no CA bundle`)]);
});
