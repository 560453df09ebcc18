// Proves the packages: builds them twice and compares, then takes the Debian package through its life on a Debian 11 booted with
// systemd. `npm run package:prove [-- --once] [--root DIR] [--packages DIR] [--before DEB]`. Prints SKIPPED, and ends with 0, where that is
// impossible.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { copyFile, cp, mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { layDebian, layProof, prove, requireMachine, say, Skipped } from '../../systemd/container.ts';
import { runTool } from '../run-tool.ts';
import { layRepository, makeKey, makeVariant, type Variant } from './variants.ts';

const CHECKOUT = fileURLToPath(new URL('../../..', import.meta.url));
const PACKAGES = 'systemd,systemd-sysv,dbus,procps,curl,man-db,bubblewrap';
const MINUTE = 60_000;

async function build(checkout: string, out: string): Promise<string> {
  const epoch =
    process.env['SOURCE_DATE_EPOCH'] ?? (await runTool('git', ['log', '-1', '--format=%ct'], { cwd: CHECKOUT }));
  const env = { SOURCE_DATE_EPOCH: epoch.trim() };
  await runTool(process.execPath, [path.join(checkout, 'scripts/package/main.ts'), '--out', out, 'x64'], { env });
  return readFileSync(path.join(out, 'SHA256SUMS'), 'utf8');
}

/** Another checkout of the same files, in which nothing has been compiled yet. */
const COPY = `set -e; mkdir "$1"
git ls-files -z --cached --others --exclude-standard | tar -c --null --ignore-failed-read -T - | tar -x -C "$1"
cp -al node_modules "$1/" 2>/dev/null || cp -a node_modules "$1/"
rm -rf "$1/node_modules/.cache"`;

async function buildElsewhere(work: string): Promise<string> {
  const checkout = path.join(work, 'a-checkout-elsewhere');
  await runTool('sh', ['-c', COPY, 'sh', checkout], { cwd: CHECKOUT });
  return build(checkout, path.join(work, 'again'));
}

/** What is changed in the package to have others: a version, and a line in a script or a program. */
const VARIANTS: Readonly<Record<string, Variant>> = {
  first: { version: '9.9.0' },
  second: { version: '9.9.1', file: 'usr/lib/errand/package.json', from: /"version":"[^"]*"/, to: '"version":"9.9.1"' },
  third: { version: '9.9.2' },
  old: { version: '0.0.1', file: 'DEBIAN/preinst', from: /SCHEMA=\d+/, to: 'SCHEMA=1' },
  broken: {
    version: '9.9.3',
    file: 'usr/lib/errand/dist/main.js',
    from: /^/,
    to: `if (process.argv[2] === 'serve') process.exit(1);\n`,
  },
};

async function makeVariants(deb: string, work: string, srv: string): Promise<void> {
  for (const [name, variant] of Object.entries(VARIANTS)) {
    await makeVariant(deb, variant, { work, to: path.join(srv, `${name}.deb`) });
  }
}

/** A repository with two versions. */
async function layTwoVersions(work: string, srv: string): Promise<void> {
  const debs = ['first', 'second'].map(
    (name) => [name, path.join(work, `errand_${VARIANTS[name]!.version}_amd64.deb`)] as const,
  );
  for (const [name, deb] of debs) await copyFile(path.join(srv, `${name}.deb`), deb);
  await layRepository(
    debs.map(([, deb]) => deb),
    { key: await makeKey(work), directory: path.join(srv, 'repository') },
  );
}

/** The commands that restore a service, as the documentation has them. */
function documentedRestore(): string {
  const text = readFileSync(path.join(CHECKOUT, 'docs/BACKUPS.md'), 'utf8');
  const block = [...text.matchAll(/```sh\n([^]*?)```/g)].find(([, commands]) => commands!.includes('--config-dir'));
  if (block === undefined) throw new Error('docs/BACKUPS.md no longer restores a service.');
  return block[1]!;
}

/** The commands that return to the version before an upgrade. */
function documentedReturn(): string {
  const text = readFileSync(path.join(CHECKOUT, 'docs/INSTALLING.md'), 'utf8');
  const [, commands] = /### Going back\n[^]*?```sh\n([^]*?)```/.exec(text) ?? [];
  if (commands === undefined) throw new Error('docs/INSTALLING.md no longer goes back.');
  return commands;
}

interface Given {
  /** A Debian to copy. */
  readonly root: string | undefined;
  /** An earlier package to upgrade from. */
  readonly before: string | undefined;
}

async function layPackages(
  root: string,
  out: string,
  { work, before }: { work: string; before?: string | undefined },
): Promise<void> {
  const srv = (name: string) => path.join(root, 'srv', name);
  await mkdir(srv('model'), { recursive: true });
  const [deb = ''] = readdirSync(out).filter((name) => name.endsWith('_amd64.deb'));
  const [executable = ''] = readdirSync(out).filter((name) => name.endsWith('-linux-x64'));
  await makeVariants(path.join(out, deb), work, srv(''));
  await layTwoVersions(work, srv(''));
  await copyFile(path.join(out, executable), srv('errand'));
  const models = path.join(CHECKOUT, 'test/support/model');
  for (const name of readdirSync(models).filter((file) => /^model-.*\.ts$/.test(file))) {
    await cp(path.join(models, name), srv(`model/${name}`));
  }
  await writeFile(srv('package.json'), '{ "type": "module" }\n');
  await copyFile(fileURLToPath(new URL('prove.sh', import.meta.url)), srv('prove.sh'));
  await writeFile(srv('restore.sh'), documentedRestore());
  await writeFile(srv('return.sh'), documentedReturn());
  if (before !== undefined) await copyFile(before, srv('before.deb'));
  await cp(fileURLToPath(new URL('parts', import.meta.url)), srv('parts'), { recursive: true });
  await copyFile(path.join(CHECKOUT, 'scripts/systemd/programs/client-loop.mjs'), srv('client-loop.mjs'));
}

const LOGS = { log: 'what the commands said', said: 'the last of dpkg', journal: 'the journal' };

async function takeThroughLife(work: string, out: string, { root: copyOf, before }: Given): Promise<boolean> {
  const root = path.join(work, 'root');
  say('Debian 11 …');
  await layDebian(root, { suite: 'bullseye', packages: PACKAGES, copyOf, limitMs: 9 * MINUTE });
  // Then apt knows what is recommended; the proof runs without a network.
  await runTool('chroot', [root, 'apt-get', 'update']);
  await layPackages(root, out, { work, before });
  await layProof(root, 1_020);
  say('systemd …');
  return prove(root, 18 * MINUTE, LOGS);
}

const { values } = parseArgs({
  options: {
    /** Leaves out the second build. */
    once: { type: 'boolean', default: false },
    /** A Debian 11 with the packages above, to copy instead of fetching one. */
    root: { type: 'string' },
    /** Packages that are there, instead of building them. */
    packages: { type: 'string' },
    /** An earlier Debian package, which is upgraded by apt. */
    before: { type: 'string' },
  },
});
const work = mkdtempSync(path.join(tmpdir(), 'errand-package-'));
try {
  await requireMachine(['dpkg-deb', 'g++', 'gpg']);
  const out = values.packages ?? path.join(work, 'out');
  if (values.packages === undefined) {
    say('packages …');
    const sums = await build(CHECKOUT, out);
    if (!values.once) {
      const again = await buildElsewhere(work);
      say(
        sums === again
          ? 'ok      built in two checkouts, they are the same byte for byte'
          : `FAILED  built twice:\n${sums}${again}`,
      );
      if (sums !== again) process.exitCode = 1;
    }
  }
  if (!(await takeThroughLife(work, out, { root: values.root, before: values.before }))) process.exitCode = 1;
} catch (error) {
  if (!(error instanceof Skipped)) throw error;
  say(`SKIPPED: ${error.message}`);
} finally {
  rmSync(work, { recursive: true, force: true });
}
