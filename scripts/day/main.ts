// A day's work of an administrator, by the commands that the documents give, on two bare Debian machines booted with systemd, that have
// the Debian package and nothing else of Errand. `npm run test:day [-- --suite NAME] [--roots DIR] [--packages DIR]`. Prints what was
// typed and what came of it. Prints SKIPPED, and ends with 0, where that is impossible.
import { existsSync, mkdtempSync, readdirSync } from 'node:fs';
import { copyFile, cp, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { VERSION } from '../../src/version.ts';
import { layRepository, makeKey, makeVariant } from '../package/prove/variants.ts';
import { runTool } from '../package/run-tool.ts';
import { layDebian, layProof, prove, requireMachine, say, Skipped } from '../systemd/container.ts';

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url));
const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const SUITES = ['bookworm', 'trixie'] as const;
/** What a server of any company has. */
const PACKAGES = 'systemd,systemd-sysv,dbus,curl,ca-certificates';
/** What apt fetches in the course of the day. It is in apt's cache before, since the machines have no network. */
const FETCHED = ['bubblewrap', 'unattended-upgrades'];
const MINUTE = 60_000;
/** The version after this one. */
const LATER = VERSION.replace(/\d+$/, (patch) => String(Number(patch) + 1));
const HOSTS = `127.0.0.1 localhost errand.example.com agents.example.com
127.0.0.2 llm.corp.example
127.0.0.3 proxy.example.com
127.0.0.4 packages.example.com
`;
const COMPANY = `[Service]
ExecStart=/srv/company/node /srv/company/scripts/day/company.ts
`;

interface Given {
  readonly roots: string | undefined;
  readonly packages: string | undefined;
}

/** Both versions of the package. */
async function makePackages(work: string, given: string | undefined): Promise<{ first: string; later: string }> {
  const out = given ?? path.join(work, 'packages');
  if (given === undefined) {
    say('packages …');
    await runTool(process.execPath, [path.join(CHECKOUT, 'scripts/package/main.ts'), '--out', out, 'x64']);
  }
  const [deb = ''] = readdirSync(out).filter((name) => name.endsWith('_amd64.deb'));
  const later = path.join(work, `errand_${LATER}_amd64.deb`);
  const file = 'usr/lib/errand/package.json';
  const version = { version: LATER, file, from: /"version":"[^"]*"/, to: `"version":"${LATER}"` };
  await makeVariant(path.join(out, deb), version, { work, to: later });
  return { first: path.join(out, deb), later };
}

async function layMachine(root: string, suite: string, copyOf: string | undefined): Promise<void> {
  await layDebian(root, { suite, packages: PACKAGES, copyOf, limitMs: 9 * MINUTE });
  if (copyOf !== undefined) return;
  try {
    await runTool('chroot', [root, 'apt-get', 'update']);
    await runTool('chroot', [root, 'apt-get', 'install', '-y', '--download-only', ...FETCHED]);
  } catch (error) {
    throw new Skipped(`Debian's packages could not be fetched: ${String(error)}`);
  }
}

async function layCompany(root: string, work: string, name: string): Promise<void> {
  const company = (place: string) => path.join(root, 'srv/company', place);
  await mkdir(company('www'), { recursive: true });
  for (const place of ['test/support/model', 'scripts/day/company.ts']) {
    await cp(path.join(CHECKOUT, place), company(place), { recursive: true });
  }
  await copyFile(process.execPath, company('node'));
  await writeFile(company('package.json'), '{ "type": "module" }\n');
  await writeFile(company('versions.sh'), `first_version=${VERSION}\nlater_version=${LATER}\n`);
  for (const file of ['company.key', 'company.pem']) await copyFile(path.join(work, file), company(file));
  await writeFile(path.join(root, 'etc/hosts'), HOSTS);
  await writeFile(path.join(root, 'etc/hostname'), `${name}\n`);
  const units = path.join(root, 'etc/systemd/system');
  await writeFile(path.join(units, 'company.service'), COMPANY);
  await mkdir(path.join(units, 'multi-user.target.wants'), { recursive: true });
  await symlink('../company.service', path.join(units, 'multi-user.target.wants/company.service'));
}

const LOGS = { said: 'what the last command said', log: 'what was looked at', journal: 'the journal' };

interface Day {
  readonly work: string;
  readonly machines: Readonly<Record<string, string>>;
  /** The repository of packages as it is before a visit. */
  readonly repositories: Readonly<Record<string, string>>;
}

/** A visit is a boot of one machine. The disk of backups and the administrator's notes go from one to the other. */
async function visit(name: string, { work, machines, repositories }: Day): Promise<boolean> {
  const root = machines[name.replace(/^\d-/, '')]!;
  const srv = (place: string) => path.join(root, 'srv', place);
  for (const place of ['result', 'said', 'log', 'steps', 'company/www/errand']) {
    await rm(srv(place), { recursive: true, force: true });
  }
  await cp(here(`steps/${name}`), srv('steps'), { recursive: true });
  await copyFile(here('console.sh'), srv('prove.sh'));
  const repository = repositories[name];
  if (repository !== undefined) await cp(repository, srv('company/www/errand'), { recursive: true });
  await layProof(root, 600);
  await mkdir(path.join(root, 'mnt/backup'), { recursive: true });
  const binds = { '/mnt/backup': path.join(work, 'disk'), '/srv/notes': path.join(work, 'notes') };
  return prove(root, 11 * MINUTE, LOGS, binds);
}

async function workOn(suite: string, debs: { first: string; later: string }, given: Given): Promise<boolean> {
  const work = mkdtempSync(path.join(tmpdir(), 'errand-day-'));
  const disk = path.join(work, 'disk');
  await mkdir(disk);
  await mkdir(path.join(work, 'notes'));
  try {
    say(`\n# A day on Debian, ${suite}`);
    const first = path.join(work, 'first/root');
    const second = path.join(work, 'second/root');
    for (const machine of ['first', 'second']) await mkdir(path.join(work, machine));
    const root = given.roots === undefined ? undefined : path.join(given.roots, suite);
    await layMachine(first, suite, root !== undefined && existsSync(root) ? root : undefined);
    await runTool('cp', ['-a', first, second]);
    await runTool('sh', [here('certificates.sh'), work]);
    await layCompany(first, work, 'first');
    await layCompany(second, work, 'second');
    for (const name of ['corp-root.crt', 'old.pem', 'old.key', 'renewed.pem', 'renewed.key']) {
      await copyFile(path.join(work, name), path.join(work, 'notes', name));
    }
    await copyFile(debs.first, path.join(first, `root/errand_${VERSION}_amd64.deb`));
    const key = await makeKey(work);
    const before = path.join(work, 'www-before');
    await layRepository([debs.first], { key, directory: before });
    const after = path.join(work, 'www-after');
    await layRepository([debs.first, debs.later], { key, directory: after });
    // Another disk.
    await runTool('mount', ['-t', 'tmpfs', '-o', 'size=1g,mode=755', 'none', disk]);
    const repositories = { '2-second': before, '4-second': after };
    for (const name of readdirSync(here('steps')).sort()) {
      if (!(await visit(name, { work, machines: { first, second }, repositories }))) return false;
    }
    return true;
  } finally {
    await runTool('umount', [disk]).catch(() => '');
    await rm(work, { recursive: true, force: true });
  }
}

async function main(): Promise<number> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    options: {
      suite: text,
      /** A directory with roots that are copied instead of fetched, by the name of the suite. */
      roots: text,
      /** Packages that are there, instead of building them. */
      packages: text,
    },
  });
  await requireMachine(['dpkg-deb', 'gpg', 'openssl']);
  const work = mkdtempSync(path.join(tmpdir(), 'errand-day-packages-'));
  try {
    const debs = await makePackages(work, values.packages);
    const given = { roots: values.roots, packages: values.packages };
    for (const suite of values.suite === undefined ? SUITES : [values.suite]) {
      if (!(await workOn(suite, debs, given))) return 1;
    }
    return 0;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof Skipped)) throw error;
  say(`SKIPPED: ${error.message}`);
}
