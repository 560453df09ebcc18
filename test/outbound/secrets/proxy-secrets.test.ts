// The secrets of proxies, as they are redacted.
import { expect, test } from 'vitest';
import { secretsOfProxies } from '../../../src/outbound/secrets/proxy-secrets.ts';
import { makeRedactor } from '../../../src/outbound/secrets/redact.ts';
import { readProxy } from '../../../src/outbound/ways/proxy-rules.ts';

function redacted(address: string, text: string): string {
  const read = readProxy(address);
  if (!read.ok) throw new Error(read.why);
  return makeRedactor(secretsOfProxies({ proxies: { 'http:': read.proxy, 'https:': null } }))(text).text;
}

test.each([
  ['http://someone:pass%40word@proxy.test', 'pass@word and pass%40word', '[credential] and [credential]'],
  ['http://s3cret-token@proxy.test', 'the token s3cret-token', 'the token [credential]'],
  ['http://s3cret-token:@proxy.test', 's3cret-token:', '[credential]'],
  ['http://someone:password@proxy.test', 'someone is no secret', 'someone is no secret'],
])('%s', (address, text, without) => {
  expect(redacted(address, text)).toBe(without);
});
