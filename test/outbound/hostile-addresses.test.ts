// What no request may reach, in every spelling of its address.
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { expect, test } from 'vitest';
import { EGRESS_PURPOSES, type EgressRule } from '../../src/domain/egress.ts';
import { mayConnect, mayUsePort } from '../../src/outbound/address-rules.ts';
import { checkAddress } from '../../src/outbound/check-address.ts';
import type { EgressPolicy } from '../../src/outbound/egress.ts';
import { guardedFetch } from '../../src/outbound/guarded-fetch.ts';
import { guardedFetchFor } from '../../src/outbound/guarded-stream.ts';
import { watchLookUps } from '../../src/outbound/look-ups.ts';
import { startWebServer } from '../support/http/web-server.ts';

/** Hosts that are addresses, as written in a URL. */
const LITERALS = [
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '127.0.1',
  '127.255.255.254',
  '2130706433',
  '0x7f000001',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '017700000001',
  '0x7f.1',
  '０x7f.1',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  '%31%32%37.0.0.1',
  '0.0.0.0',
  '0',
  '0.1.2.3',
  '10.0.0.1',
  '10.1',
  '100.64.0.1',
  '100.100.100.200',
  '169.254.169.254',
  '0xa9fea9fe',
  '2852039166',
  '0251.0376.0251.0376',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.192',
  '192.0.2.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '168.63.129.16',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::]',
  '[::127.0.0.1]',
  '[::7f00:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::ffff:0:127.0.0.1]',
  '[::ffff:169.254.169.254]',
  '[::ffff:0a00:0001]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::a9fe:a9fe]',
  '[64:ff9b:1::7f00:1]',
  '[2002:7f00:1::]',
  '[2002:a9fe:a9fe::]',
  '[2001:0:7f00:1::]',
  '[2001:1::1]',
  '[2001:db8::1]',
  '[3fff::1]',
  '[4000::1]',
  '[5f00::1]',
  '[100::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[fe80::1]',
  '[fec0::1]',
  '[ff02::1]',
];

/** Names by what DNS answers for them. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  localhost: ['127.0.0.1'],
  'localhost.': ['::1', '127.0.0.1'],
  'LocalHost.LocalDomain': ['127.0.0.1'],
  'anything.localhost': ['::1'],
  'private.example': ['10.0.0.1'],
  'mixed.example': ['93.184.215.14', '127.0.0.1'],
  'mixed-the-other-way.example': ['127.0.0.1', '93.184.215.14'],
  'mixed-families.example': ['93.184.215.14', 'fd00::1'],
  'six.example': ['::1'],
  'mapped.example': ['::ffff:127.0.0.1'],
  'metadata.example': ['169.254.169.254'],
  'metadata.google.internal': ['169.254.169.254'],
  'zone.example': ['fe80::1%lo'],
  'bücher.example': ['192.168.0.1'],
  'xn--bcher-kva.example.': ['192.168.0.1'],
  '127.0.0.1.nip.example': ['127.0.0.1'],
  'nat64.example': ['64:ff9b::7f00:1'],
  'compatible.example': ['::127.0.0.1'],
  'cgnat.example': ['100.64.0.1'],
  'nonsense.example': ['not an address'],
};

/** Names that every system takes for itself are refused by their form, as addresses are. */
const isOfThisMachine = (host: string) => /(^|\.)localhost\.?$/i.test(host);
const BY_FORM = 'not on the public internet';
const BY_LOOK_UP = 'has no address that may be reached';

/** Each with what DNS answers, and the sentence of its kind. */
const HOSTILE: readonly (readonly [host: string, answers: readonly string[], words: string])[] = [
  ...LITERALS.map((host) => [host, [], BY_FORM] as const),
  ...Object.entries(NAMES).map(
    ([host, answers]) => [host, answers, isOfThisMachine(host) ? BY_FORM : BY_LOOK_UP] as const,
  ),
];

function policyFor(answers: readonly string[], allow: readonly EgressRule[] = []): EgressPolicy {
  const resolve = async () => answers.map((address) => ({ address, family: isIP(address.split('%')[0]!) }));
  return { purpose: 'web_fetch', allow, resolve };
}

const BOUNDS = { timeoutMs: 5_000, maxBytes: 1_000 };

test(`there are at least forty hostile addresses`, () => {
  expect(HOSTILE.length).toBeGreaterThan(40);
});

test.each(HOSTILE)(
  '%s is refused before anything is connected to',
  { tags: ['§4.3-rule-1'] },
  async (host, answers, words) => {
    const secret = await startWebServer();
    // Opens the port, so that it is the address that is refused.
    const elsewhere: EgressRule = { cidr: '8.8.8.0/24', host: null, ports: [secret.port], for: EGRESS_PURPOSES };
    const policy = policyFor(answers, [elsewhere]);
    for (const url of [`http://${host}/`, `https://${host}/`, `http://${host}:${secret.port}/`]) {
      const refusal = {
        name: 'EgressError',
        kind: 'refused',
        message: expect.stringContaining(words),
      };
      await expect(guardedFetch(policy, { url, ...BOUNDS })).rejects.toMatchObject(refusal);
      await expect(guardedFetchFor(watchLookUps(policy))(url)).rejects.toMatchObject(refusal);
    }
    expect(secret.hits).toEqual([]);
  },
);

test.each(HOSTILE)('a redirect to %s is refused', async (host, answers) => {
  const secret = await startWebServer();
  const door = await startWebServer((_req, res) => {
    res.writeHead(302, { location: encodeURI(`http://${host}:${secret.port}/`) }).end();
  });
  const elsewhere: EgressRule = { cidr: '8.8.8.0/24', host: null, ports: [secret.port], for: EGRESS_PURPOSES };
  const policy = policyFor(answers, [door.rule, elsewhere]);
  await expect(guardedFetch(policy, { url: door.url, ...BOUNDS })).rejects.toMatchObject({ kind: 'refused' });
  await expect(guardedFetchFor(watchLookUps(policy))(door.url)).rejects.toMatchObject({ kind: 'refused' });
  expect(door.hits).toHaveLength(2);
  expect(secret.hits).toEqual([]);
});

test.each([
  ['http://[fe80::1%25eth0]/', 'valid'],
  ['http://[::1%lo]/', 'valid'],
  ['http://256.0.0.1/', 'valid'],
  ['http://1.2.3.4.5/', 'valid'],
  ['http://', 'valid'],
  ['//127.0.0.1/', 'valid'],
  ['wiki.example', 'valid'],
  ['', 'valid'],
  ['file:///etc/passwd', 'Only http and https'],
  ['ftp://example.com/', 'Only http and https'],
  ['gopher://127.0.0.1:70/_x', 'Only http and https'],
  ['data:text/html,hello', 'Only http and https'],
  ['javascript:alert(1)', 'Only http and https'],
  ['blob:http://example.com/1', 'Only http and https'],
  ['ws://example.com/', 'Only http and https'],
  ['http://user:word@example.com/', 'user name or password'],
  ['http://example.com:80@127.0.0.1/', 'user name or password'],
  ['http://127.0.0.1\\@example.com/', 'public internet'],
  ['http://example.com#@127.0.0.1/', 'Port'],
])('%j is not an address to fetch', async (url, words) => {
  // The last one is fit to be fetched, but for its port.
  const asked = url.includes('#') ? url.replace('#', ':22#') : url;
  await expect(guardedFetch(policyFor(['93.184.215.14']), { url: asked, ...BOUNDS })).rejects.toMatchObject({
    kind: 'refused',
    message: expect.stringContaining(words),
  });
});

test.each([22, 25, 81, 3306, 5432, 6379, 8080, 8443, 9200])('port %i of a public host is refused', async (port) => {
  const policy = policyFor(['93.184.215.14']);
  await expect(guardedFetch(policy, { url: `http://example.com:${port}/`, ...BOUNDS })).rejects.toMatchObject({
    kind: 'refused',
    message: `Port ${port} of example.com may not be reached.`,
  });
});

test('a refusal by address reveals nothing of the address that DNS returned', async () => {
  const refused = guardedFetch(policyFor(['10.11.12.13']), { url: 'http://wiki.example/', ...BOUNDS });
  await expect(refused).rejects.toThrow(/^(?!.*10\.11)The host wiki\.example has no address that may be reached/);
});

test.each([
  '8.8.8.8',
  '93.184.215.14',
  '1.1.1.1',
  '172.32.0.1',
  '100.128.0.1',
  '2606:4700:4700::1111',
  '2a00:1450:4001::1',
  '::ffff:8.8.8.8',
])('%s is on the public internet', (address) => {
  const policy = policyFor([]);
  expect(mayConnect(policy, { host: 'name.example', port: 443 }, address)).toBe(true);
  expect(mayConnect(policy, { host: 'name.example', port: 8443 }, address)).toBe(false);
});

const rule = (over: Partial<EgressRule>): EgressRule => ({
  cidr: null,
  host: null,
  ports: null,
  for: EGRESS_PURPOSES,
  ...over,
});

/** A rule, a host and port with the address that it has, and whether the rule opens that. */
const RULES: readonly (readonly [Partial<EgressRule>, string, number, string, boolean])[] = [
  [{ cidr: '10.0.0.0/8' }, '10.1.2.3', 8080, '10.1.2.3', true],
  [{ cidr: '10.0.0.0/8' }, 'wiki.example', 80, '10.1.2.3', true],
  [{ cidr: '10.0.0.0/8' }, 'wiki.example', 80, '::ffff:10.1.2.3', true],
  [{ cidr: '10.0.0.0/8' }, 'wiki.example', 80, '11.1.2.3', true],
  [{ cidr: '10.0.0.0/8' }, 'wiki.example', 80, '192.168.0.1', false],
  [{ cidr: '10.0.0.1' }, '10.0.0.2', 80, '10.0.0.2', false],
  [{ cidr: 'fd00::/8' }, 'fd00::1', 80, 'fd00::1', true],
  [{ cidr: 'fd00::1' }, 'fd00::2', 80, 'fd00::2', false],
  [{ cidr: '0.0.0.0/0' }, '::1', 80, '::1', false],
  [{ cidr: '169.254.169.254' }, 'metadata.example', 80, '169.254.169.254', true],
  [{ cidr: '10.0.0.0/8', ports: [80] }, '10.1.2.3', 8080, '10.1.2.3', false],
  [{ cidr: '10.0.0.0/8', for: ['image', 'mcp'] }, '10.1.2.3', 80, '10.1.2.3', false],
  [{ host: 'wiki.example' }, 'wiki.example', 8080, '10.1.2.3', true],
  [{ host: 'wiki.example' }, 'wiki.example', 8080, '93.184.215.14', true],
  [{ host: 'wiki.example' }, 'sub.wiki.example', 80, '10.1.2.3', false],
  [{ host: 'wiki.example' }, 'wiki.example.com', 80, '10.1.2.3', false],
  [{ host: '*.wiki.example' }, 'a.b.wiki.example', 80, '10.1.2.3', true],
  [{ host: '*.wiki.example' }, 'wiki.example', 80, '10.1.2.3', false],
  [{ host: '*.wiki.example' }, 'evilwiki.example', 80, '10.1.2.3', false],
  [{ host: 'wiki.example' }, 'wiki.example', 80, '169.254.169.254', false],
  [{ host: 'wiki.example' }, 'wiki.example', 80, '0.0.0.0', false],
  [{ host: 'localhost', ports: [9000] }, 'localhost', 9000, '::1', true],
  [{ host: 'localhost', ports: [9000] }, '127.0.0.1', 9000, '127.0.0.1', false],
];

test.each(RULES)('%j opens %s port %i at %s: %s', (...[over, host, port, address, isOpen]) => {
  const policy: EgressPolicy = { purpose: 'web_fetch', allow: [rule(over)] };
  expect(mayConnect(policy, { host, port }, address)).toBe(isOpen);
  if (isOpen) expect(mayUsePort(policy, { host, port })).toBe(true);
});

/** Where clouds serve secrets to their own machines, in every form that a gateway could lead on from. */
const CLOUD_SERVICES = [
  '169.254.169.254',
  '169.254.170.2',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
  '::169.254.169.254',
  '::a9fe:a9fe',
  '::ffff:169.254.169.254',
  '::ffff:0:169.254.169.254',
  '::ffff:6464:64c8',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b::100.100.100.200',
  '64:ff9b:1::a9fe:a9fe',
  '64:ff9b:1:a9fe:a9:fe00::',
  '64:ff9b:1:a9:fe:a9fe::',
  '64:ff9b:1::a9:fea9:fe00:0',
  '2002:a9fe:a9fe::',
  '2002:a9fe:a9fe::1',
  '2002:a83f:8110::1',
  '2001:0:a9fe:a9fe::',
  '2001:0:1:2:3:4:5601:5601',
  'fe80::5efe:a9fe:a9fe',
  'fd12::200:5efe:a9fe:a9fe',
  '2600:1f00::5efe:169.254.169.254',
];

test.each(CLOUD_SERVICES)('a name in a rule never leads to %s, whose range in a rule does', (address) => {
  const place = { host: 'wiki.example', port: 80 };
  const policyOf = (over: Partial<EgressRule>): EgressPolicy => ({ purpose: 'web_fetch', allow: [rule(over)] });
  expect(mayConnect(policyOf({ host: 'wiki.example' }), place, address)).toBe(false);
  expect(mayConnect(policyOf({ host: '*.example' }), place, address)).toBe(false);
  // An address of IPv4 in the clothes of IPv6 is connected to as what it is.
  const cidr = ipaddr.process(address).toString();
  expect(mayConnect(policyOf({ cidr }), place, address)).toBe(true);
});

test.each(['64:ff9b::10.0.0.1', '2002:a00:1::1', 'fd12::5efe:10.0.0.1', '100.64.0.1', 'fd00::254', '::1'])(
  'a name in a rule may lead to %s, which is merely private',
  (address) => {
    const policy: EgressPolicy = { purpose: 'web_fetch', allow: [rule({ host: 'wiki.example' })] };
    expect(mayConnect(policy, { host: 'wiki.example', port: 80 }, address)).toBe(true);
  },
);

test.each([
  ['127.0.0.1', ['::1', '127.0.0.1'], true],
  ['::1', ['127.0.0.1', '::1'], true],
  ['::1', ['127.0.0.1'], false],
  ['127.0.0.2', ['127.0.0.1', '::1'], false],
] as const)('a rule for %s alone and names of this machine with %j: allowed is %s', async (cidr, answers, isOpen) => {
  const policy = policyFor(answers, [rule({ cidr, ports: [9] })]);
  for (const url of ['http://localhost:9/', 'http://app.localhost:9/']) {
    // Nobody listens there, and this machine may not have the address.
    const kind = isOpen ? 'unreachable' : 'refused';
    await expect(guardedFetch(policy, { url, ...BOUNDS })).rejects.toMatchObject({ kind });
    if (cidr === '127.0.0.2') expect(() => checkAddress(policy, url)).toThrow('not on the public internet');
    else expect(checkAddress(policy, url)).toBeUndefined();
  }
});

test('a name is resolved once for a connection, and what was checked is what is connected to', async () => {
  const server = await startWebServer();
  let asked = 0;
  const policy: EgressPolicy = {
    purpose: 'web_fetch',
    allow: [server.rule],
    // A name that resolves to another address the second time.
    resolve: async () => [{ address: (asked += 1) === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 }],
  };
  const reply = await guardedFetch(policy, { url: `http://turncoat.example:${server.port}/`, ...BOUNDS });
  expect([reply.status, asked, server.hits[0]?.headers.host]).toEqual([200, 1, `turncoat.example:${server.port}`]);
});
