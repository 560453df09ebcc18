// The image: what it says of itself is what it contains, and it is the same whenever its Debian was fetched.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { addImage } from '../../../scripts/package/oci/oci.ts';
import { TARGETS } from '../../../scripts/package/targets.ts';

const HAS_DPKG = spawnSync('dpkg-deb', ['--version']).status === 0;
const HAS_SKOPEO = spawnSync('skopeo', ['--version']).status === 0;
let root: string;

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'errand-oci-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
});

const at = (...parts: readonly string[]) => path.join(root, ...parts);

function lay(place: string, text: string): void {
  mkdirSync(path.dirname(at(place)), { recursive: true });
  writeFileSync(at(place), text);
}

/** As two days have it. */
function layBase(name: string, day: number): string {
  lay(`${name}/usr/bin/tini`, 'tini');
  lay(`${name}/etc/passwd`, 'root:x:0:0:root:/root:/bin/bash\n');
  lay(`${name}/etc/shadow`, `root:*:${day}:0:99999:7:::\n`);
  lay(`${name}/etc/group`, 'root:x:0:\n');
  lay(`${name}/etc/gshadow`, 'root:*::\n');
  lay(`${name}/var/log/bootstrap.log`, `day ${day}`);
  lay(`${name}/var/cache/apt/pkgcache.bin`, `day ${day}`);
  lay(`${name}/etc/machine-id`, `${day}`);
  utimesSync(at(name, 'usr/bin/tini'), day * 86_400, day * 86_400);
  return at(name);
}

function makeDeb(): string {
  lay(
    'deb/DEBIAN/control',
    'Package: errand\nVersion: 1\nArchitecture: amd64\nMaintainer: b <b@example.com>\nDescription: d\n',
  );
  for (const place of ['bin/errand', 'lib/systemd/system/errand.service', 'lib/sysusers.d/e', 'lib/tmpfiles.d/e']) {
    lay(`deb/usr/${place}`, place);
  }
  lay('deb/usr/share/lintian/overrides/errand', 'lintian');
  execFileSync('dpkg-deb', ['--root-owner-group', '--build', at('deb'), at('errand.deb')]);
  return at('errand.deb');
}

async function makeImage(name: string, day: number, deb: string): Promise<string> {
  for (const folder of [name, `${name}-work`]) mkdirSync(at(folder));
  const parts = { target: TARGETS.x64, version: '1.2.3', epoch: 1_700_000_000, deb };
  const found = await addImage(parts, { directory: at(name), base: layBase(`${name}-base`, day) }, at(`${name}-work`));
  if (!('file' in found)) throw new Error(found.why);
  mkdirSync(at(`${name}-layout`));
  execFileSync('tar', ['-xf', found.file, '-C', at(`${name}-layout`)]);
  return found.file;
}

interface Descriptor {
  readonly digest: string;
  readonly size: number;
}
interface Manifest {
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
}
interface Config {
  readonly config: {
    readonly User: string;
    readonly Volumes: object;
    readonly Healthcheck: { readonly Test: string[] };
  };
  readonly rootfs: { readonly diff_ids: readonly string[] };
}

const hashOf = (bytes: Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

/** The bytes that a descriptor names, verified. */
function read(name: string, { digest, size }: Descriptor): Buffer {
  const bytes = readFileSync(at(`${name}-layout/blobs`, digest.replace(':', '/')));
  expect([hashOf(bytes), bytes.length]).toEqual([digest, size]);
  return bytes;
}

test.skipIf(!HAS_DPKG)('every digest is right, and the program is whole, without root and without units', async () => {
  await makeImage('one', 20_000, makeDeb());
  const index = JSON.parse(readFileSync(at('one-layout/index.json'), 'utf8')) as { manifests: readonly Descriptor[] };
  const manifest = JSON.parse(read('one', index.manifests[0]!).toString()) as Manifest;
  const config = JSON.parse(read('one', manifest.config).toString()) as Config;
  const tars = manifest.layers.map((layer) => gunzipSync(read('one', layer)));
  expect(tars.map(hashOf)).toEqual(config.rootfs.diff_ids);
  expect(config.config).toMatchObject({ User: '10001:10001', Volumes: { '/data': {} } });
  expect(config.config.Healthcheck.Test).toContain('/usr/bin/errand');
  const list = (tar: Buffer) => execFileSync('tar', ['-tv', '--numeric-owner'], { input: tar, encoding: 'utf8' });
  const [base, program] = tars.map(list);
  expect(base).not.toMatch(/machine-id|bootstrap\.log|pkgcache|shadow/);
  expect(program).not.toMatch(/systemd|sysusers|tmpfiles|lintian/);
  expect(program).toMatch(/^drwx------ 10001\/10001 .* \.\/data\/$/m);
  expect(program).toMatch(/^-rw------- 0\/0 .* \.\/etc\/shadow$/m);
});

test.skipIf(!HAS_DPKG)('two days give the same image', async () => {
  const deb = makeDeb();
  const [one, other] = [await makeImage('one', 20_000, deb), await makeImage('other', 20_001, deb)];
  expect(hashOf(readFileSync(one))).toBe(hashOf(readFileSync(other)));
});

test.skipIf(!HAS_DPKG || !HAS_SKOPEO)('skopeo copies it, which verifies each part', async () => {
  const file = await makeImage('one', 20_000, makeDeb());
  execFileSync('skopeo', ['copy', '--insecure-policy', `oci-archive:${file}`, `dir:${at('copied')}`], {
    stdio: 'pipe',
  });
  expect(readFileSync(at('copied/version'), 'utf8')).toContain('Directory Transport');
});
