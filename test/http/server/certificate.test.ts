// What is read of a certificate and its key, and which pairs are refused with which words.
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, chownSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readCertificate } from '../../../src/http/server/certificate.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { makeCertificate, pemOf } from '../../support/http/certificates.ts';

const root = makeCertificate('root.test');
const middle = makeCertificate('middle.test', { issuer: root, until: Date.parse('2031-01-01T00:00:00Z') });
const own = makeCertificate('errand.test', { issuer: middle, until: Date.parse('2032-01-01T00:00:00Z') });
const other = makeCertificate('other.test');
const key = pemOf(own.key);

const FILES = { 'chain.pem': own.cert + middle.cert, 'key.pem': key };
const TLS = { certFile: 'chain.pem', keyFile: 'key.pem', caFile: '' };

/** Reads the pair from a directory with these files. */
function read(files: Readonly<Record<string, string>> = {}, { tls = TLS, mode = 0o600, uid = process.getuid!() } = {}) {
  const configDir = temporaryDirectory({ ...FILES, ...files });
  chmodSync(join(configDir, 'key.pem'), mode);
  if (uid !== process.getuid!()) chownSync(join(configDir, 'key.pem'), uid, uid);
  const found = readCertificate(tls, { configDir, credentialsDirectory: configDir });
  return found.ok ? found : { ok: found.ok, why: found.why.replaceAll(configDir, '') };
}

test('a chain and its key are read, with the name and the earliest end of the chain', () => {
  expect(read()).toMatchObject({
    ok: true,
    certificate: { key, names: 'errand.test', expiresAt: Date.parse('2031-01-01T00:00:00Z') },
  });
});

test.each([
  ['no file', { tls: { ...TLS, certFile: 'absent.pem' } }, {}, 'tls.cert_file: /absent.pem does not exist'],
  ['a key in place of the certificate', {}, { 'chain.pem': key }, 'contains no whole certificate in PEM form'],
  ['half a file', {}, { 'chain.pem': own.cert.slice(0, 300) }, 'contains no whole certificate in PEM form'],
  [
    'a chain cut off',
    {},
    { 'chain.pem': own.cert + middle.cert.slice(0, 99) },
    'contains a certificate that is cut off',
  ],
  [
    'damage',
    {},
    { 'chain.pem': own.cert + middle.cert.replace(/\n.{40}/, '\n') },
    "certificate 2 in chain.pem can't be read",
  ],
  ['eleven certificates', {}, { 'chain.pem': own.cert.repeat(11) }, 'contains more than 10 certificates'],
  ['no key', {}, { 'key.pem': own.cert }, 'tls.key_file: /key.pem contains no private key in PEM form'],
  ['an empty key', {}, { 'key.pem': '' }, 'tls.key_file: /key.pem contains no private key in PEM form'],
  [
    'the key of another certificate',
    {},
    { 'key.pem': pemOf(other.key) },
    'tls: the key in key.pem is not that of the certificate in chain.pem',
  ],
  [
    'a chain that begins with its issuer',
    {},
    { 'chain.pem': middle.cert + own.cert },
    'chain.pem begins with another certificate than that of the key: the certificate of the daemon must come first',
  ],
  [
    'a chain with a gap',
    {},
    { 'chain.pem': own.cert + root.cert },
    'certificate 2 in chain.pem did not issue the one before',
  ],
  ['a key that others can read', { mode: 0o644 }, {}, 'its mode 0644 opens it to others. Run: chmod 6'],
  ['a short key', {}, shortPair(), "tls: the certificate can't be used: ee key too small"],
  [
    'a credential without a name',
    { tls: { ...TLS, keyFile: 'credential:../key.pem' } },
    {},
    'tls.key_file must name a',
  ],
])('%s is refused', (_name, over, files, why) => {
  expect(read(files, over)).toMatchObject({ ok: false, why: expect.stringContaining(why) as string });
});

/** A pair that OpenSSL calls too weak. */
function shortPair(): Record<string, string> {
  const keys = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const { cert } = makeCertificate('short.test', { issuer: root, keys });
  return { 'chain.pem': cert, 'key.pem': pemOf(keys.privateKey) };
}

test('an encrypted key is refused in both of its forms, with the command that decrypts it', () => {
  const cipher = { cipher: 'aes-256-cbc', passphrase: 'secret' };
  const modern = own.key.export({ type: 'pkcs8', format: 'pem', ...cipher }) as string;
  const old = own.key.export({ type: 'sec1', format: 'pem', ...cipher }) as string;
  for (const text of [modern, old])
    expect(read({ 'key.pem': text })).toMatchObject({
      ok: false,
      why: expect.stringMatching(/^tls\.key_file: \/key\.pem is encrypted.*openssl pkey -in \/key\.pem -out/) as string,
    });
});

test('a credential of the service is read whatever its mode', () => {
  expect(read({}, { tls: { ...TLS, keyFile: 'credential:key.pem' }, mode: 0o444 })).toMatchObject({ ok: true });
});

test('a group may read the key of root, and of nobody else', { skip: process.getuid!() !== 0 }, () => {
  expect(read({}, { mode: 0o640 })).toMatchObject({ ok: true });
  expect(read({}, { mode: 0o660 })).toMatchObject({ ok: false });
  expect(read({}, { mode: 0o640, uid: 1234 })).toMatchObject({
    ok: false,
    why: expect.stringContaining('Run: chmod 600 /key.pem') as string,
  });
});

test.runIf(process.getuid!() === 0)(
  'under its unit, where root has no id, the daemon reads a key of root that its group may read',
  () => {
    const configDir = temporaryDirectory(FILES);
    const file = join(configDir, 'key.pem');
    // 1234 has no id in the namespace, as the machine's root has none in that of the unit.
    chownSync(file, 1234, 0);
    const readInside = (mode: number): unknown => {
      chmodSync(file, mode);
      const module = fileURLToPath(new URL('../../../src/http/server/certificate.ts', import.meta.url));
      const program = `
      const { readCertificate } = await import(${JSON.stringify(module)});
      const locations = { configDir: ${JSON.stringify(configDir)}, credentialsDirectory: undefined };
      const { ok, why } = readCertificate(${JSON.stringify(TLS)}, locations);
      console.log(JSON.stringify({ ok, why }));`;
      const inside = ['--user', '--map-root-user', process.execPath, '--input-type=module', '-e', program];
      return JSON.parse(execFileSync('unshare', inside, { encoding: 'utf8' }));
    };
    expect(readInside(0o640)).toEqual({ ok: true });
    expect(readInside(0o644)).toMatchObject({ ok: false, why: expect.stringContaining('Run: chmod 640') as string });
  },
);
