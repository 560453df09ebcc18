// Names: the hosts file, name servers that are silent, and the search list.
import { createSocket } from 'node:dgram';
import { rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeResolver, type ResolverOptions } from '../../src/outbound/resolve-name.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';
import { waitFor } from '../support/time/wait-for.ts';

const A = 1;
const AAAA = 28;
const ADDRESS = { [A]: Buffer.from([192, 0, 2, 7]), [AAAA]: Buffer.from('20010db8000000000000000000000007', 'hex') };
const FOUR = { address: '192.0.2.7', family: 4 };
const SIX = { address: '2001:db8::7', family: 6 };

/** What a name server does with a question: reply with an address, that there is none, or not at all. */
type Zone = (name: string, type: typeof A | typeof AAAA) => 'address' | 'none' | 'silent';

/** A name server on loopback. `asked` is what it heard. */
async function startNameServer(zone: Zone) {
  const asked: string[] = [];
  const socket = createSocket('udp4', (question, { port, address }) => {
    const { name, end } = nameOf(question);
    const type = question.readUInt16BE(end) as typeof A | typeof AAAA;
    asked.push(name);
    const reply = zone(name, type);
    if (reply === 'silent') return;
    const header = Buffer.from([
      0,
      0,
      0x81,
      reply === 'none' ? 0x83 : 0x80,
      0,
      1,
      0,
      reply === 'none' ? 0 : 1,
      0,
      0,
      0,
      0,
    ]);
    question.copy(header, 0, 0, 2);
    const data = ADDRESS[type];
    const answer = Buffer.concat([Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length]), data]);
    const parts = [header, question.subarray(12, end + 4), ...(reply === 'none' ? [] : [answer])];
    socket.send(Buffer.concat(parts), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  onTestFinished(() => void socket.close());
  return { servers: [`127.0.0.1:${socket.address().port}`], asked };
}

function nameOf(question: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = question[at]!; length > 0; length = question[at]!) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}

/** A resolver that knows these files alone. */
async function open(
  zone: Zone,
  { hosts = '', config = '', ...over }: ResolverOptions & { hosts?: string; config?: string } = {},
) {
  const folder = temporaryDirectory({ hosts, 'resolv.conf': config });
  const files = { hostsFile: path.join(folder, 'hosts'), configFile: path.join(folder, 'resolv.conf') };
  const { servers, asked } = await startNameServer(zone);
  return { resolve: makeResolver({ servers, ...files, ...over }), asked, ...files };
}

test('a name has the addresses of both families', async () => {
  const { resolve } = await open(() => 'address');
  expect(await resolve('both.example')).toEqual([FOUR, SIX]);
});

test('a hundred names that nobody answers for delay no other', async () => {
  const { resolve, asked } = await open((name) => (name.startsWith('dead') ? 'silent' : 'address'), {
    limitMs: 600_000,
  });
  let ended = 0;
  for (let count = 0; count < 100; count += 1)
    resolve(`dead-${count}.example`).then(
      () => (ended += 1),
      () => (ended += 1),
    );
  await waitFor(() => new Set(asked).size === 100);
  expect(await resolve('living.example')).toEqual([FOUR, SIX]);
  expect(ended).toBe(0);
});

test('a look-up ends at its limit, also among the names of the search list', async () => {
  const { resolve, asked } = await open(() => 'silent', { limitMs: 50, config: 'search one.test two.test' });
  await expect(resolve('dead.example')).rejects.toThrow('The name servers did not answer in time.');
  expect(new Set(asked)).toEqual(new Set(['dead.example']));
});

test('a name without an address is not found', async () => {
  const { resolve } = await open(() => 'none');
  await expect(resolve('nowhere.example')).rejects.toThrow('The name has no address.');
});

test('one family is enough, when the name server says nothing of the other', async () => {
  const only =
    (wanted: number): Zone =>
    (_name, type) =>
      type === wanted ? 'address' : 'none';
  expect(await (await open(only(A))).resolve('four.example')).toEqual([FOUR]);
  expect(await (await open(only(AAAA))).resolve('six.example')).toEqual([SIX]);
  const halfSilent = await open((_name, type) => (type === A ? 'address' : 'silent'), {
    patienceMs: 20,
    limitMs: 600_000,
  });
  expect(await halfSilent.resolve('half.example')).toEqual([FOUR]);
});

test('the hosts file is asked first, and again when it has changed', async () => {
  const hosts =
    '# ours\n127.0.0.1 localhost\n10.0.0.5\tDocker.Internal other # comment\nfd00::5 other\nnonsense here\n';
  const { resolve, asked, hostsFile } = await open(() => 'address', { hosts });
  expect(await resolve('localhost')).toEqual([{ address: '127.0.0.1', family: 4 }]);
  expect(await resolve('docker.internal')).toEqual([{ address: '10.0.0.5', family: 4 }]);
  expect(await resolve('other')).toEqual([
    { address: '10.0.0.5', family: 4 },
    { address: 'fd00::5', family: 6 },
  ]);
  expect(asked).toEqual([]);
  await writeFile(`${hostsFile}.new`, '10.0.0.6 other');
  await rename(`${hostsFile}.new`, hostsFile);
  expect(await resolve('other')).toEqual([{ address: '10.0.0.6', family: 4 }]);
});

test('without a hosts file, localhost is this machine, and no name server hears of it', async () => {
  const { resolve, asked } = await open(() => 'none', { hostsFile: '/nonexistent', configFile: '/nonexistent' });
  const loopback = [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ];
  expect(await resolve('localhost')).toEqual(loopback);
  expect(await resolve('app.localhost')).toEqual(loopback);
  expect(asked).toEqual([]);
});

test.each([
  [
    'a name without a dot is completed',
    'search svc.test. lan.test',
    'wiki',
    ['wiki.svc.test', 'wiki.lan.test', 'wiki'],
  ],
  ['a name with a dot is tried as it is', 'domain lan.test', 'wiki.example', ['wiki.example', 'wiki.example.lan.test']],
  ['the number of dots is configured', 'search lan.test\noptions ndots:3 edns0', 'a.b.c', ['a.b.c.lan.test', 'a.b.c']],
  ['without a search list, there is one name', '; search lan.test', 'wiki', ['wiki']],
])('%s', async (_, config, name, order) => {
  const { resolve, asked } = await open((one) => (one === order.at(-1) ? 'address' : 'none'), { config });
  expect(await resolve(name)).toEqual([FOUR, SIX]);
  expect([...new Set(asked)]).toEqual(order);
});
