// Installs Errand by docs/OPERATING.md on a real systemd, booted in a Debian root of its own without a network, and shows
// that the service keeps its promises. `npm run test:systemd`. Prints SKIPPED, and ends with 0, where that is impossible.
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { copyFile, cp, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { runProgram } from './run-program.ts';

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url));
const SUITE = 'bookworm';
const PACKAGES = 'systemd,systemd-sysv,dbus,sudo,bubblewrap,util-linux,mount';
const MINUTE = 60_000;
const LIMITS_MS = { debian: 5 * MINUTE, npm: 5 * MINUTE, boot: 9 * MINUTE };

/** Why nothing can be shown on this machine. */
class Skipped extends Error {}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

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

async function requireMachine(): Promise<void> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) throw new Skipped('it needs root on Linux');
  for (const program of ['debootstrap', 'systemd-nspawn', 'npm']) {
    const found = await runProgram('sh', ['-c', `command -v ${program}`], { limitMs: MINUTE });
    if (found.code !== 0) throw new Skipped(`there is no ${program}`);
  }
}

async function layDebian(root: string): Promise<void> {
  const args = ['--variant=minbase', `--include=${PACKAGES}`, SUITE, root];
  const { code, output } = await runProgram('debootstrap', args, { limitMs: LIMITS_MS.debian });
  if (code !== 0) throw new Skipped(`Debian could not be fetched: ${output.trimEnd().split('\n').at(-1)}`);
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

const MODELS = `endpoints: { here: { kind: openai, base_url: "http://127.0.0.1:9797/v1" } }
models: { scripted: { endpoint: here, model: scripted, context_window: 128000 } }
scenarios: { general: { model: scripted } }
`;

const UNIT = `[Service]
Type=oneshot
ExecStart=/bin/bash /srv/prove.sh
ExecStopPost=/bin/systemctl poweroff --no-block
TimeoutStartSec=480
`;

/** What the proof needs on the booted system: the unit, the commands, a model to talk to. */
async function layProof(root: string): Promise<void> {
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
  await writeFile(srv('checkout/package.json'), '{ "type": "module" }\n');
  await writeFile(srv('install.sh'), service);
  await writeFile(srv('models.yaml'), MODELS);
  await copyFile(fileURLToPath(new URL('prove.sh', import.meta.url)), srv('prove.sh'));
  for (const directory of ['parts', 'programs']) {
    await cp(fileURLToPath(new URL(directory, import.meta.url)), srv(`checkout/${directory}`), { recursive: true });
  }
  const first = '001-foundation.ts';
  await copyFile(path.join(CHECKOUT, 'src/store/engine/migrations', first), srv(`checkout/programs/${first}`));
  const units = path.join(root, 'etc/systemd/system');
  await writeFile(path.join(units, 'prove.service'), UNIT);
  await mkdir(path.join(units, 'multi-user.target.wants'), { recursive: true });
  await symlink('../prove.service', path.join(units, 'multi-user.target.wants/prove.service'));
}

async function boot(root: string, machine: string): Promise<string> {
  const args = ['--quiet', '--register=no', '--keep-unit', '--private-network', '--console=pipe'];
  const { output } = await runProgram('systemd-nspawn', [...args, `--machine=${machine}`, '-D', root, '--boot'], {
    limitMs: LIMITS_MS.boot,
  });
  return output;
}

const readIn = (root: string, name: string): string => {
  const file = path.join(root, 'srv', name);
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
};

/** Prints the results. Returns whether everything held. */
function report(root: string, bootOutput: string): boolean {
  const lines = readIn(root, 'result').trimEnd().split('\n');
  if (lines[0] !== 'booted') throw new Skipped(`systemd does not boot in a container here: ${bootOutput.trim()}`);
  for (const line of lines.slice(1)) say(line);
  if (lines.at(-1) === 'done' && !lines.some((line) => line.startsWith('FAILED'))) return true;
  say(`--- what the commands said\n${readIn(root, 'log')}\n--- the journal\n${readIn(root, 'journal')}`);
  return false;
}

/** Where systemd-nspawn makes control groups that it leaves behind when no systemd runs outside. */
function groupsOfContainer(): string[] {
  const trees = ['', 'unified/', 'systemd/'].map((tree) => `/sys/fs/cgroup/${tree}`);
  return trees.flatMap((tree) => [`${tree}payload`, `${tree}supervisor`]);
}

/** Empty ones, the innermost first; others stay. */
async function removeGroups(groups: readonly string[]): Promise<void> {
  for (const group of groups.filter(existsSync)) {
    await runProgram('find', [group, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', ';'], { limitMs: MINUTE });
  }
}

async function main(): Promise<number> {
  await requireMachine();
  const work = mkdtempSync(path.join(tmpdir(), 'errand-systemd-'));
  const root = path.join(work, 'root');
  const machine = path.basename(work).replaceAll(/[^a-z0-9-]/gi, '');
  const groups = groupsOfContainer().filter((group) => !existsSync(group));
  try {
    say('Debian …');
    await layDebian(root);
    say('Errand …');
    await installPackage(work, root);
    await layProof(root);
    say('systemd …');
    return report(root, await boot(root, machine)) ? 0 : 1;
  } finally {
    await removeGroups(groups);
    await rm(work, { recursive: true, force: true });
    await rm(`/run/systemd/nspawn/propagate/${machine}`, { recursive: true, force: true });
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof Skipped)) throw error;
  say(`SKIPPED: ${error.message}`);
}
