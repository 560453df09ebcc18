// Whom connections trust: the system's store and named files, and what is said when an issuer is missing.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { EGRESS_PURPOSES } from '../../../src/domain/egress.ts';
import type { EgressPolicy } from '../../../src/outbound/egress.ts';
import { guardedFetch } from '../../../src/outbound/guarded-fetch.ts';
import { readBundle } from '../../../src/outbound/ways/bundle.ts';
import { PLAIN_WAYS, takeWays } from '../../../src/outbound/ways/ways.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { makeCertificate } from '../../support/http/certificates.ts';
import { startSecureWebServer } from '../../support/http/secure-web-server.ts';

const NAME = 'files.corp.test';
const root = makeCertificate('Corp Root CA');
const middle = makeCertificate('Corp Issuing CA', { issuer: root });

afterEach(() => takeWays(PLAIN_WAYS));

/** A request to a server with this chain. */
async function get(chain: Parameters<typeof startSecureWebServer>[0], caFile: string | null = null) {
  const port = await startSecureWebServer(chain);
  const policy: EgressPolicy = {
    purpose: 'connector',
    allow: [{ cidr: '127.0.0.1', host: null, ports: [port], for: EGRESS_PURPOSES }],
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    caFile,
  };
  const reply = await guardedFetch(policy, { url: `https://${NAME}:${port}/`, timeoutMs: 30_000, maxBytes: 100 });
  return Buffer.from(reply.body).toString();
}

const inFile = (...certificates: readonly { cert: string }[]) =>
  join(temporaryDirectory({ 'ca.pem': certificates.map(({ cert }) => cert).join('\n') }), 'ca.pem');

const leafOf = (issuer: typeof root) => makeCertificate(NAME, { issuer });

test('an issuer that is missing is named', async () => {
  await expect(get([leafOf(root)])).rejects.toMatchObject({
    kind: 'unreachable',
    message: expect.stringMatching(
      /^The certificate of files\.corp\.test is issued by "Corp Root CA", which is not trusted: add .* tls\.ca_file/,
    ),
  });
  await expect(get([leafOf(middle), middle])).rejects.toThrow('is issued by "Corp Root CA", which');
  await expect(get([leafOf(middle), middle, root])).rejects.toThrow('is issued by "Corp Root CA", which');
  await expect(get([leafOf(middle)])).rejects.toThrow(/is issued by "Corp Issuing CA", which .* its whole chain\.$/);
  await expect(get([makeCertificate(NAME)])).rejects.toThrow('is self-signed and not trusted: add it to a file that');
});

test('the name of an issuer cannot write lines of its own', async () => {
  const issuer = makeCertificate(`Evil "CA"\u0007\u2028${'x'.repeat(400)}`);
  const error: unknown = await get([leafOf(issuer)]).catch((thrown: unknown) => thrown);
  const { message } = error as Error;
  expect(message).toMatch(/is issued by "Evil  CA ? +x+…", which/);
  expect(message.length).toBeLessThan(500);
});

test.each([
  ['the system’s store', (file: string) => takeWays({ ...PLAIN_WAYS, systemStore: file })],
  ['the file of the installation', (file: string) => takeWays({ ...PLAIN_WAYS, caFile: file })],
])('%s is trusted', async (_, trust) => {
  trust(inFile(makeCertificate('Other CA'), root));
  expect(await get([leafOf(root)])).toBe('hello');
  expect(await get([leafOf(middle), middle])).toBe('hello');
  await expect(get([makeCertificate('other.test', { issuer: root })])).rejects.toThrow('is for another name');
});

test('a file of one target is trusted there, in addition, and nowhere else', async () => {
  const other = makeCertificate('Partner CA');
  takeWays({ ...PLAIN_WAYS, caFile: inFile(root) });
  expect(await get([leafOf(other)], inFile(other))).toBe('hello');
  expect(await get([leafOf(root)], inFile(other))).toBe('hello');
  await expect(get([leafOf(other)])).rejects.toThrow('is issued by "Partner CA"');
});

test('an issuer below the root is enough, as for curl', async () => {
  takeWays({ ...PLAIN_WAYS, caFile: inFile(middle) });
  expect(await get([leafOf(middle)])).toBe('hello');
});

test('a file that changes is read again, and one that breaks stays as it was', async () => {
  const file = inFile(makeCertificate('Other CA'));
  takeWays({ ...PLAIN_WAYS, caFile: file });
  await expect(get([leafOf(root)])).rejects.toThrow('Corp Root CA');
  writeFileSync(file, `${root.cert}\n`);
  expect(await get([leafOf(root)])).toBe('hello');
  writeFileSync(file, 'nothing');
  expect(await get([leafOf(root)])).toBe('hello');
});

test('a certificate in the system’s store that cannot be read costs no other', async () => {
  const broken = { cert: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n' };
  takeWays({ ...PLAIN_WAYS, systemStore: inFile(broken, root) });
  expect(await get([leafOf(root)])).toBe('hello');
});

test('a file that is no bundle is refused with its path', () => {
  const directory = temporaryDirectory({
    'text.pem': 'no certificate',
    'cut.pem': `${root.cert}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
  });
  const why = (name: string) => readBundle(join(directory, name));
  expect(why('text.pem')).toMatchObject({
    why: `${directory}/text.pem is no CA bundle: it contains no certificate in PEM form`,
  });
  expect(why('cut.pem')).toMatchObject({
    why: `${directory}/cut.pem is no CA bundle: certificate 2 in it can't be read`,
  });
  expect(why('none.pem')).toMatchObject({ why: `${directory}/none.pem does not exist` });
  expect(why('.')).toMatchObject({ why: expect.stringContaining('is not a file') });
});
