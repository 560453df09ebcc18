// Installs Errand by docs/OPERATING.md on a real systemd, booted in a Debian root of its own without a network, and shows
// that the service keeps its promises. `npm run test:systemd`, with `-- --suite NAME` on that release of Debian alone. Prints SKIPPED,
// and ends with 0, where that is impossible.
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { copyFile, cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { layDebian, layProof, prove, requireMachine, say, Skipped } from './container.ts';
import { runProgram } from './run-program.ts';

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url));
/** The releases of Debian whose systemd and bubblewrap the service works with. */
const SUITES = ['bookworm', 'trixie'] as const;
const PACKAGES = 'systemd,systemd-sysv,dbus,sudo,bubblewrap,util-linux,mount,postgresql';
const MINUTE = 60_000;
const LIMITS_MS = { debian: 5 * MINUTE, npm: 5 * MINUTE, boot: 22 * MINUTE };

/** The commands that make a service, as the documentation has them: the first installs the package, the rest the service. */
function documentedCommands(): { readonly service: string } {
  const text = readFileSync(path.join(CHECKOUT, 'docs/OPERATING.md'), 'utf8');
  const block = /\n## As a service\n[^]*?```sh\n([^]*?)```/.exec(text)?.[1] ?? '';
  const [install = '', ...service] = block.trimEnd().split('\n');
  if (!/^npm .*npm install -g --ignore-scripts --prefix \/usr \.\/errand-.*\.tgz$/.test(install)) {
    throw new Error('docs/OPERATING.md no longer installs the package in the first line of "As a service".');
  }
  return { service: `${service.join('\n')}\n` };
}

/** The commands of docs/POSTGRESQL.md: the first setup, and both ways to restore a backup. */
function documentedDatabase(): Readonly<Record<string, string>> {
  const text = readFileSync(path.join(CHECKOUT, 'docs/POSTGRESQL.md'), 'utf8');
  const blocksOf = (title: string) => {
    const [, section = ''] = new RegExp(`\n## ${title}\n([^]*?)(?=\n## |$)`).exec(text) ?? [];
    return [...section.matchAll(/```sh\n([^]*?)```/g)].map(([, commands]) => commands!);
  };
  const [setup = ''] = blocksOf('Setting it up');
  const [bySocket = '', byPassword = '', ...more] = blocksOf('Backups');
  if (!setup.startsWith('apt-get install postgresql\n') || byPassword === '' || more.length > 0) {
    throw new Error('docs/POSTGRESQL.md has other commands than before.');
  }
  // The root has the package.
  return { setup: setup.replace(/^.*\n/, ''), bySocket, byPassword };
}

/** Into the root instead of the machine; otherwise as the documentation says. */
async function installPackage(work: string, root: string): Promise<void> {
  const npm = async (...args: string[]) => {
    const { code, output } = await runProgram('npm', args, { cwd: CHECKOUT, limitMs: LIMITS_MS.npm });
    if (code !== 0) throw new Error(`npm ${args[0]} failed:\n${output}`);
  };
  await npm('run', 'build');
  await npm('pack', '--pack-destination', work);
  const [archive = ''] = readdirSync(work).filter((name) => name.endsWith('.tgz'));
  await npm('install', '-g', '--ignore-scripts', '--prefix', path.join(root, 'usr'), path.join(work, archive));
}

/** What the proof needs on the booted system: the commands, the program of the model, older rows. */
async function layPrograms(root: string, part: string | undefined): Promise<void> {
  const { service } = documentedCommands();
  const srv = (name: string) => path.join(root, 'srv', name);
  await mkdir(srv('checkout/model'), { recursive: true });
  await cp(path.join(CHECKOUT, 'config'), srv('checkout/config'), { recursive: true });
  await copyFile(process.execPath, srv('checkout/node'));
  for (const name of readdirSync(path.join(CHECKOUT, 'test/support/model')).filter((file) =>
    /^model-.*\.ts$/.test(file),
  )) {
    await copyFile(path.join(CHECKOUT, 'test/support/model', name), srv(`checkout/model/${name}`));
  }
  // In /usr, where commands see it.
  await copyFile(
    path.join(CHECKOUT, 'test/support/agent/take-counted.pl'),
    path.join(root, 'usr/share/take-counted.pl'),
  );
  await writeFile(srv('checkout/package.json'), '{ "type": "module" }\n');
  await writeFile(srv('install.sh'), service);
  for (const [name, commands] of Object.entries(documentedDatabase())) {
    await writeFile(srv(`postgresql-${name}.sh`), commands);
  }
  await copyFile(fileURLToPath(new URL('prove.sh', import.meta.url)), srv('prove.sh'));
  for (const directory of ['parts', 'programs']) {
    await cp(fileURLToPath(new URL(directory, import.meta.url)), srv(`checkout/${directory}`), { recursive: true });
  }
  for (const name of readdirSync(srv('checkout/parts'))) {
    const isWanted = part === undefined || name.startsWith('10-') || name.startsWith(`${part}-`);
    if (!isWanted) await rm(srv(`checkout/parts/${name}`));
  }
  const oldest = 'schema-35.sql';
  await copyFile(path.join(CHECKOUT, 'test/support/store', oldest), srv(`checkout/programs/${oldest}`));
}

const LOGS = { log: 'what the commands said', journal: 'the journal' };

interface Request {
  readonly suite: string;
  /** A root of that release with the packages, to copy in place of fetching one. */
  readonly root?: string | undefined;
  /** The number of the one part that is wanted, behind the installation. */
  readonly part?: string | undefined;
}

async function proveOn({ suite, root: copyOf, part }: Request): Promise<boolean> {
  const work = mkdtempSync(path.join(tmpdir(), 'errand-systemd-'));
  const root = path.join(work, 'root');
  try {
    say(`Debian, ${suite} …`);
    await layDebian(root, { suite, packages: PACKAGES, copyOf, limitMs: LIMITS_MS.debian });
    say('Errand …');
    await installPackage(work, root);
    await layPrograms(root, part);
    await layProof(root, 1_240);
    say('systemd …');
    return await prove(root, LIMITS_MS.boot, LOGS);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function main(): Promise<number> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({ options: { suite: text, root: text, part: text } });
  await requireMachine(['npm']);
  for (const suite of values.suite === undefined ? SUITES : [values.suite]) {
    if (!(await proveOn({ ...values, suite }))) return 1;
  }
  return 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof Skipped)) throw error;
  say(`SKIPPED: ${error.message}`);
}
