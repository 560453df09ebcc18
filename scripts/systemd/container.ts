// A Debian root that boots systemd in a container without a network, and runs the proof that its /srv/prove.sh is.
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { runProgram } from './run-program.ts';

const MINUTE = 60_000;

/** Why nothing can be shown on this machine. */
export class Skipped extends Error {}

export const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Throws `Skipped` unless this is root on Linux, and these programs are there. */
export async function requireMachine(programs: readonly string[]): Promise<void> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) throw new Skipped('it needs root on Linux');
  for (const program of ['debootstrap', 'systemd-nspawn', ...programs]) {
    const found = await runProgram('sh', ['-c', `command -v ${program}`], { limitMs: MINUTE });
    if (found.code !== 0) throw new Skipped(`there is no ${program}`);
  }
}

export interface Debian {
  readonly suite: string;
  /** Separated by commas. */
  readonly packages: string;
  /** A root that has them, to copy instead of fetching one. */
  readonly copyOf?: string | undefined;
  readonly limitMs: number;
}

/** Makes the root. Throws `Skipped` when it can't be fetched. */
export async function layDebian(root: string, { suite, packages, copyOf, limitMs }: Debian): Promise<void> {
  const { code, output } =
    copyOf === undefined
      ? await runProgram('debootstrap', ['--variant=minbase', `--include=${packages}`, suite, root], { limitMs })
      : await runProgram('cp', ['-a', copyOf, root], { limitMs });
  if (code !== 0) throw new Skipped(`Debian could not be fetched: ${output.trimEnd().split('\n').at(-1)}`);
}

/** The models.yaml of the scripted model, at this port of each machine. */
export const MODELS = `endpoints: { here: { kind: openai, base_url: "http://127.0.0.1:9797/v1" } }
models: { scripted: { endpoint: here, model: scripted, context_window: 128000 } }
scenarios: { general: { model: scripted } }
`;

const unitOf = (limitSeconds: number) => `[Service]
Type=oneshot
ExecStart=/bin/bash /srv/prove.sh
ExecStopPost=/bin/systemctl poweroff --no-block
TimeoutStartSec=${limitSeconds}
`;

/** Has the root run its proof at boot and shut down afterwards. Also writes the /srv/models.yaml of the scripted model. */
export async function layProof(root: string, limitSeconds: number): Promise<void> {
  await writeFile(path.join(root, 'srv/models.yaml'), MODELS);
  const units = path.join(root, 'etc/systemd/system');
  await writeFile(path.join(units, 'prove.service'), unitOf(limitSeconds));
  await mkdir(path.join(units, 'multi-user.target.wants'), { recursive: true });
  const link = path.join(units, 'multi-user.target.wants/prove.service');
  if (!existsSync(link)) await symlink('../prove.service', link);
}

/** Files in /srv with their titles. */
type Logs = Readonly<Record<string, string>>;
/** Directories of this machine that the root sees, by where it sees them. */
type Binds = Readonly<Record<string, string>>;

/**
 * Boots it, and prints what it has written into /srv/result; after a failure, also the `logs` in /srv. Returns whether
 * everything held. Throws `Skipped` when systemd doesn't boot here.
 */
export async function prove(root: string, limitMs: number, logs: Logs, binds: Binds = {}): Promise<boolean> {
  const output = await boot(root, limitMs, binds);
  const read = (name: string) => {
    const file = path.join(root, 'srv', name);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  };
  const lines = read('result').trimEnd().split('\n');
  if (lines[0] !== 'booted') throw new Skipped(`systemd does not boot in a container here: ${output.trim()}`);
  for (const line of lines.slice(1)) say(line);
  if (lines.at(-1) === 'done' && !lines.some((line) => line.startsWith('FAILED'))) return true;
  for (const [name, title] of Object.entries(logs)) say(`--- ${title}\n${read(name)}`);
  return false;
}

async function boot(root: string, limitMs: number, binds: Binds): Promise<string> {
  const machine = path.basename(path.dirname(root)).replaceAll(/[^a-z0-9-]/gi, '');
  const groups = groupsOfContainer().filter((group) => !existsSync(group));
  const args = ['--quiet', '--register=no', '--keep-unit', '--private-network', '--console=pipe'];
  try {
    const bound = Object.entries(binds).map(([inside, outside]) => `--bind=${outside}:${inside}`);
    const booting = [...args, ...bound, `--machine=${machine}`, '-D', root, '--boot'];
    return (await runProgram('systemd-nspawn', booting, { limitMs })).output;
  } finally {
    await removeGroups(groups);
    await rm(`/run/systemd/nspawn/propagate/${machine}`, { recursive: true, force: true });
  }
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
