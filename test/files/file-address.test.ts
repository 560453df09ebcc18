// Signed addresses: valid exactly as issued, for a quarter of an hour, and for nothing else.
import { createHmac, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFileAddresses } from '../../src/files/file-address.ts';
import { openMasterKey } from '../../src/files/master-key.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';
import { cpuMsOf } from '../support/time/cpu-time.ts';

const AT = Date.parse('2026-03-01T12:00:00.000Z');
const FILE = {
  key: 'a'.repeat(64),
  sessionId: '0198c0de-0000-7000-8000-000000000001',
  name: 'Räport #1 100%.txt',
  disposition: 'inline',
} as const;

function open() {
  const deriveKey = openMasterKey({ path: join(temporaryDirectory(), 'master.key'), isCredential: false });
  let now = AT;
  const addresses = makeFileAddresses({ deriveKey, now: () => now });
  const pathOf = (over: Partial<typeof FILE> | object = {}) => addresses.sign({ ...FILE, ...over });
  return { addresses, pathOf, pass: (ms: number) => (now += ms) };
}

const FORBIDDEN = expect.objectContaining({ reason: 'forbidden', message: 'The address is not valid.' });
const verdictOn = (fixture: ReturnType<typeof open>, path: string): unknown => {
  try {
    return fixture.addresses.verify(path);
  } catch (error) {
    return error;
  }
};

test('an address is a path that needs no encoding, and yields what was signed', () => {
  const fixture = open();
  const address = fixture.addresses.sign(FILE);
  expect(address).toMatch(/^\/files\/k1\.[\w-]+\.[\w-]{43}\/R%C3%A4port%20%231%20100%25\.txt$/);
  expect(new URL(address, 'http://errand').href).toBe(`http://errand${address}`);
  expect(fixture.addresses.verify(fixture.pathOf())).toEqual({ ...FILE, expiresAt: AT + 900_000 });
  expect(fixture.addresses.verify(fixture.pathOf({ disposition: 'attachment' }))).toMatchObject({
    disposition: 'attachment',
  });
});

test('it ends after fifteen minutes, to the millisecond', { tags: ['E7-signed'] }, () => {
  const fixture = open();
  const path = fixture.pathOf();
  fixture.pass(899_999);
  expect(fixture.addresses.verify(path)).toMatchObject({ name: FILE.name });
  fixture.pass(1);
  expect(verdictOn(fixture, path)).toMatchObject({ reason: 'forbidden', message: 'The address has expired.' });
});

test('no character of it can be changed, left out or added', { tags: ['E7-signed'] }, () => {
  const fixture = open();
  const path = fixture.pathOf({ name: 'a1.txt' });
  const start = '/files/'.length;
  const altered = new Set<string>();
  for (let at = start; at < path.length; at += 1) {
    for (const other of ['A', 'a', 'Z', '0', '9', '-', '_', '.', '~', '+', '%', '=', 'é', '%41'])
      altered.add(path.slice(0, at) + other + path.slice(at + 1));
    altered.add(path.slice(0, at) + path.slice(at + 1)).add(`${path.slice(0, at)}x${path.slice(at)}`);
    altered.add(path.slice(0, at));
  }
  altered.add(`${path}x`).add(`${path}/`).add(`${path}%00`).add(path.replace('/files/', '/Files/')).delete(path);
  expect(altered.size).toBeGreaterThan(1_000);
  for (const one of altered) expect([one, verdictOn(fixture, one)]).toEqual([one, FORBIDDEN]);
});

test('the same bytes under another spelling of their base64 are not the address', () => {
  const fixture = open();
  const path = fixture.pathOf();
  const [, signature = ''] = /\.([\w-]{43})\//.exec(path) ?? [];
  const same = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    .split('')
    .map((last) => signature.slice(0, -1) + last)
    .filter((text) => Buffer.from(text, 'base64url').equals(Buffer.from(signature, 'base64url')));
  expect(same.length).toBe(4);
  const good = same.filter((text) => !(verdictOn(fixture, path.replace(signature, text)) instanceof Error));
  expect(good).toEqual([signature]);
});

test('the name may be encoded in another way, and not be another name', () => {
  const fixture = open();
  const path = fixture.pathOf({ name: "it's (1).txt" });
  expect(fixture.addresses.verify(path.replace("'", '%27').replace('(', '%28'))).toMatchObject({
    name: "it's (1).txt",
  });
  expect(verdictOn(fixture, path.replace('.txt', '.html'))).toEqual(FORBIDDEN);
  expect(verdictOn(fixture, fixture.pathOf({ name: 'a.txt' }).replace('a.txt', '%E0%A4%A'))).toEqual(FORBIDDEN);
});

test('the parts of two addresses do not mix', () => {
  const fixture = open();
  const [one, two] = [fixture.pathOf(), fixture.pathOf({ key: 'b'.repeat(64) })];
  const [payload = ''] = /\/files\/k1\.[\w-]+/.exec(one) ?? [];
  expect(verdictOn(fixture, two.replace(/\/files\/k1\.[\w-]+/, payload))).toEqual(FORBIDDEN);
});

test('an address under another master key, or made by hand, is not valid', () => {
  const [fixture, other] = [open(), open()];
  expect(verdictOn(fixture, other.pathOf())).toEqual(FORBIDDEN);
  const forged = Buffer.from(JSON.stringify([FILE.key, FILE.sessionId, 1, AT + 1e12])).toString('base64url');
  for (const signature of ['', randomBytes(32).toString('base64url'), 'A'.repeat(43)])
    expect(verdictOn(fixture, `/files/k1.${forged}.${signature}/a.txt`)).toEqual(FORBIDDEN);
  for (const path of ['', '/', '/files', '/files/', '/files/k1', '/files/k1..', '/files/k1../a', '/files/a.b.c/d/e'])
    expect([path, verdictOn(fixture, path)]).toEqual([path, FORBIDDEN]);
});

test('signing does not make the key anew for each address', () => {
  const { pathOf } = open();
  const bytes = randomBytes(32);
  const leastOf = (work: () => unknown) => {
    const thousand = () => {
      for (let times = 0; times < 1_000; times += 1) work();
    };
    return Math.min(...[1, 2, 3].map(() => cpuMsOf(thousand)));
  };
  expect(leastOf(pathOf)).toBeLessThan(leastOf(() => createHmac('sha256', bytes).update(FILE.key).digest('base64url')));
});
