// A certificate that follows its files: what replaces it, what doesn't, and what operators learn of it.
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkCertificate, makeLiveCertificate } from '../../../src/config/live/live-certificate.ts';
import { temporaryDirectory } from '../../support/files/temporary-directory.ts';
import { type CertificateOptions, makeCertificate, pemOf } from '../../support/http/certificates.ts';
import { loggedLines } from '../../support/http/http-fixture.ts';
import { fakeClock } from '../../support/time/fake-clock.ts';
import { waitFor } from '../../support/time/wait-for.ts';

const settle = () => new Promise<void>((resolve) => void setImmediate(resolve));

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const made = (name: string, options: CertificateOptions = {}) => {
  const { cert, key } = makeCertificate(name, options);
  return { cert, key: pemOf(key) };
};
type Pair = ReturnType<typeof made>;

const lasting = (now: number, days: number) => ({ from: now - 365 * DAY_MS, until: now + days * DAY_MS });

function openCertificate(pair: (now: number) => Pair) {
  const clock = fakeClock();
  const { log, lines } = loggedLines();
  const first = pair(clock.now());
  const configDir = temporaryDirectory();
  const put = (name: string, text: string) => {
    writeFileSync(join(configDir, `${name}.new`), text, { mode: 0o600 });
    renameSync(join(configDir, `${name}.new`), join(configDir, name));
  };
  const write = ({ cert, key }: Pair) => {
    put('cert.pem', cert);
    put('key.pem', key);
  };
  write(first);
  let tls = { certFile: 'cert.pem', keyFile: 'key.pem', caFile: '' };
  const locations = { configDir, credentialsDirectory: null };
  const certificate = makeLiveCertificate({ tls: () => tls, locations, clock, log });
  onTestFinished(() => certificate.stop());
  const presented: string[] = [];
  certificate.onChange(({ names }) => presented.push(names));
  const reload = async () => {
    certificate.reload();
    await settle();
  };
  const said = () => lines.map(({ level, msg }) => `${String(level)} ${String(msg)}`);
  const move = (to: typeof tls) => {
    tls = to;
    certificate.follow();
  };
  return { certificate, clock, configDir, put, write, presented, said, lines, move, reload };
}

const longLived = (name: string) => (now: number) => made(name, lasting(now, 300));

test('a pair that is replaced is presented, and one that has not changed is not', async () => {
  const { certificate, reload, clock, write, presented, said } = openCertificate(longLived('first.test'));
  await reload();
  expect([presented, said()]).toEqual([[], []]);
  write(longLived('second.test')(clock.now()));
  await reload();
  expect(presented).toEqual(['second.test']);
  expect(said()).toEqual(['info certificate reloaded; new connections get it']);
  expect(certificate.part()).toMatchObject({
    name: 'tls',
    state: 'ok',
    detail: expect.stringMatching(/^certificate for second\.test, valid until 20/) as string,
  });
});

test('a broken, a mismatched and a half-written pair leave the one before in effect, each with one line', async () => {
  const { certificate, reload, clock, put, write, presented, said, lines } = openCertificate(longLived('first.test'));
  const next = longLived('second.test')(clock.now());
  put('cert.pem', next.cert.slice(0, 200));
  await reload();
  await reload();
  expect(said()).toEqual(['error certificate refused; the one before stays in effect']);
  expect(certificate.part()).toEqual({
    name: 'tls',
    state: 'degraded',
    detail: 'tls.cert_file: cert.pem contains no whole certificate in PEM form; the certificate before stays in effect',
  });
  put('cert.pem', next.cert);
  await reload();
  expect(lines.at(-1)).toMatchObject({
    problem: 'tls: the key in key.pem is not that of the certificate in cert.pem',
  });
  expect(presented).toEqual([]);
  expect(certificate.current().names).toBe('first.test');
  write(next);
  await reload();
  expect(presented).toEqual(['second.test']);
  expect(certificate.part().state).toBe('ok');
});

test('the pair in effect that comes back is in order again, and is not presented anew', async () => {
  const { certificate, reload, clock, put, write, presented, said } = openCertificate(longLived('first.test'));
  const { cert, key } = certificate.current();
  put('key.pem', longLived('second.test')(clock.now()).key);
  await reload();
  write({ cert, key });
  await reload();
  expect(said().at(-1)).toBe('info certificate in order again');
  expect(presented).toEqual([]);
});

test('a certificate that expires within 14 days is reported, and logged once a day', async () => {
  const { certificate, reload, clock, said } = openCertificate((now) => made('errand.test', lasting(now, 15)));
  await reload();
  expect([certificate.part().state, said()]).toEqual(['ok', []]);
  for (let hour = 0; hour < 3 * 24; hour += 1) {
    clock.advance(HOUR_MS);
    await settle();
  }
  expect(said()).toEqual([
    expect.stringMatching(/^warn the certificate expires on .*Z, in 13 days$/),
    expect.stringMatching(/^warn the certificate expires on .*Z, in 12 days$/),
  ]);
  expect(certificate.part()).toMatchObject({
    state: 'degraded',
    detail: expect.stringMatching(/^the certificate for errand\.test expires on .*, in 12 days$/) as string,
  });
});

test('an expired certificate, and one that is not valid yet, are served and reported', async () => {
  for (const [days, words] of [
    [{ from: -10, until: -1 }, 'expired on'],
    [{ from: 1, until: 90 }, 'is not valid before'],
  ] as const) {
    const { certificate, reload, said } = openCertificate((now) =>
      made('errand.test', { from: now + days.from * DAY_MS, until: now + days.until * DAY_MS }),
    );
    await reload();
    expect(certificate.current().names).toBe('errand.test');
    expect(said()[0]).toContain(`warn the certificate ${words}`);
    expect(certificate.part()).toMatchObject({ state: 'degraded' });
  }
});

test('a certificate that is made for six days is reported in its last two', () => {
  const six = (age: number) => (now: number) =>
    made('errand.test', { from: now - age * DAY_MS, until: now + (6 - age) * DAY_MS });
  expect(openCertificate(six(3)).certificate.part().state).toBe('ok');
  expect(openCertificate(six(4.5)).certificate.part().state).toBe('degraded');
});

test('files are followed where they are replaced, where a link to them changes, and where the settings have moved them', async () => {
  const { certificate, clock, configDir, write, presented, move } = openCertificate(longLived('first.test'));
  await certificate.start();
  write(longLived('second.test')(clock.now()));
  await waitFor(() => presented.at(-1) === 'second.test');

  const lay = (version: string) => {
    const { cert, key } = longLived(`${version}.test`)(clock.now());
    const directory = join(configDir, 'secret', version);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, 'tls.crt'), cert);
    writeFileSync(join(directory, 'tls.key'), key, { mode: 0o600 });
    // As orchestrators do: the files are links through a link, which alone is replaced.
    symlinkSync(version, join(configDir, 'secret', '..data.new'));
    renameSync(join(configDir, 'secret', '..data.new'), join(configDir, 'secret', '..data'));
  };
  lay('third');
  for (const name of ['tls.crt', 'tls.key']) symlinkSync(`..data/${name}`, join(configDir, 'secret', name));
  move({ certFile: 'secret/tls.crt', keyFile: 'secret/tls.key', caFile: '' });
  await waitFor(() => presented.at(-1) === 'third.test');
  lay('fourth');
  await waitFor(() => presented.at(-1) === 'fourth.test');
  rmSync(join(configDir, 'secret', 'third'), { recursive: true });
  expect(certificate.part().state).toBe('ok');
});

test('a certificate that cannot be used prevents the start, and a credential that only the service has does not', () => {
  const configDir = temporaryDirectory({ 'cert.pem': 'nothing' });
  writeFileSync(join(configDir, 'key.pem'), 'nothing', { mode: 0o600 });
  const tls = { certFile: 'cert.pem', keyFile: 'key.pem', caFile: '' };
  const locations = { configDir, credentialsDirectory: null };
  expect(checkCertificate({ tls: { certFile: '', keyFile: '', caFile: '' } }, locations)).toEqual([]);
  expect(checkCertificate({ tls }, locations)).toHaveLength(1);
  const { log } = loggedLines();
  expect(() => makeLiveCertificate({ tls: () => tls, locations, clock: fakeClock(), log })).toThrow(
    'no whole certificate',
  );
  const unresolved = new Set<string>();
  const withCredential = { tls: { ...tls, keyFile: 'credential:tls-key' } };
  expect(checkCertificate(withCredential, { ...locations, unresolved })).toEqual([]);
  expect([...unresolved]).toEqual(['credential:tls-key']);
});
