// The repository of apt: a package manager that is given the key takes it, and refuses what someone has changed.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { addToRepository, PUBLIC_KEY } from '../../../scripts/package/apt/apt.ts';
import { openSigner, type Signer } from '../../../scripts/package/signing.ts';

const HAS_TOOLS = ['apt-get', 'dpkg-deb', 'gpg'].every((tool) => spawnSync(tool, ['--version']).status === 0);
const EPOCH = 1_760_000_000;
let root: string;

beforeEach(() => {
  // apt reads as a user of its own.
  root = mkdtempSync(path.join(tmpdir(), 'errand-apt-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
});

const at = (...parts: readonly string[]) => path.join(root, ...parts);

/** In a file, as a builder gives it. */
function makeKey(): string {
  const home = at('keys');
  mkdirSync(home, { mode: 0o700 });
  const gpg = (...args: readonly string[]) => execFileSync('gpg', ['--batch', '--homedir', home, ...args]);
  gpg('--passphrase', '', '--quick-generate-key', 'Builder <builder@example.com>', 'ed25519', 'sign', 'never');
  writeFileSync(at('key.asc'), gpg('--armor', '--export-secret-keys'));
  execFileSync('gpgconf', ['--homedir', home, '--kill', 'all']);
  return at('key.asc');
}

async function aSigner(): Promise<Signer> {
  const signer = await openSigner(makeKey());
  onTestFinished(signer.close);
  return signer;
}

function makeDeb(version: string): string {
  const folder = at(`deb-${version}`);
  mkdirSync(path.join(folder, 'DEBIAN'), { recursive: true });
  const control = `Package: errand\nVersion: ${version}\nArchitecture: all\nMaintainer: b <b@example.com>\nDescription: d\n`;
  writeFileSync(path.join(folder, 'DEBIAN/control'), control);
  const file = at(`errand_${version}_all.deb`);
  execFileSync('dpkg-deb', ['--root-owner-group', '--build', folder, file]);
  return file;
}

/** apt with nothing but this repository, and directories of its own. */
function apt(...args: readonly string[]): { readonly status: number | null; readonly output: string } {
  for (const name of ['lists/partial', 'archives/partial', 'parts']) mkdirSync(at('apt', name), { recursive: true });
  writeFileSync(
    at('apt/sources.list'),
    `deb [signed-by=${at('repository', PUBLIC_KEY)}] file:${at('repository')} stable main\n`,
  );
  writeFileSync(at('apt/status'), '');
  const options = Object.entries({
    'Dir::Etc::SourceList': at('apt/sources.list'),
    'Dir::Etc::SourceParts': at('apt/parts'),
    'Dir::State::Lists': at('apt/lists'),
    'Dir::State::Status': at('apt/status'),
    'Dir::Cache': at('apt'),
    'Dir::Cache::Archives': at('apt/archives'),
    'APT::Sandbox::User': 'root',
    'Debug::NoLocking': 'true',
  }).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  const { status, stdout, stderr } = spawnSync('apt-get', [...options, ...args], { encoding: 'utf8', cwd: root });
  return { status, output: stdout + stderr };
}

const dists = (name: string) => at('repository/dists/stable', name);

test.skipIf(!HAS_TOOLS)('apt takes packages from it, the older ones, too', async () => {
  const signer = await aSigner();
  const repository = { directory: at('repository'), epoch: EPOCH, signer };
  await addToRepository([makeDeb('1.0')], repository);
  await addToRepository([makeDeb('1.1')], repository);
  expect(apt('update')).toMatchObject({ status: 0 });
  expect(apt('download', 'errand')).toMatchObject({ status: 0 });
  expect(existsSync(at('errand_1.1_all.deb'))).toBe(true);
  expect(apt('download', 'errand=1.0')).toMatchObject({ status: 0 });
  expect(readFileSync(dists('Release'), 'utf8')).toContain('Date: Thu, 09 Oct 2025 08:53:20 UTC\n');
});

test.skipIf(!HAS_TOOLS)('apt refuses lists that are not those that were signed', async () => {
  await addToRepository([makeDeb('1.0')], { directory: at('repository'), epoch: EPOCH, signer: await aSigner() });
  const lines = readFileSync(dists('InRelease'), 'utf8');
  writeFileSync(dists('InRelease'), lines.replace('Origin: Errand', 'Origin: Others'));
  rmSync(dists('Release'));
  const { status, output } = apt('update');
  expect(status).not.toBe(0);
  expect(output).toMatch(/signature|BADSIG/i);
});

test.skipIf(!HAS_TOOLS)('a signature apart from a file is one of the key that was given', async () => {
  const signer = await aSigner();
  writeFileSync(at('SHA256SUMS'), 'sums\n');
  await signer.sign(at('SHA256SUMS'), at('SHA256SUMS.asc'), 'detached');
  await signer.exportKey(at('public.asc'));
  execFileSync('gpg', ['--batch', '--dearmor', '--output', at('public.gpg'), at('public.asc')]);
  const verify = () =>
    spawnSync('gpgv', ['--keyring', at('public.gpg'), at('SHA256SUMS.asc'), at('SHA256SUMS')]).status;
  expect(verify()).toBe(0);
  writeFileSync(at('SHA256SUMS'), 'other sums\n');
  expect(verify()).not.toBe(0);
});

test.skipIf(!HAS_TOOLS)('a file without a secret key is refused', async () => {
  writeFileSync(at('nothing'), 'no key');
  await expect(openSigner(at('nothing'))).rejects.toThrow();
});
