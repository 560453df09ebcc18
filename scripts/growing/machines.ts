// Debian machines with systemd in one network of their own: booted from roots, used at their consoles as root, and cut off like a machine without power.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { type ProgramRun, runProgram } from '../systemd/run-program.ts';

const MINUTE = 60_000;
const BOOT_MS = 3 * MINUTE;
/** Where the machines are nodes of the tree of control groups: systemd-nspawn puts its own below. */
const TREES = ['/sys/fs/cgroup', '/sys/fs/cgroup/unified', '/sys/fs/cgroup/systemd'];
const CONSOLE = {
  HOME: '/root',
  PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C.UTF-8',
  DEBIAN_FRONTEND: 'noninteractive',
};

export interface Network {
  /** Of this machine in it. */
  readonly address: string;
  /** Runs a program of this machine in it; it ends with this process. */
  start(program: string, args: readonly string[]): ChildProcess;
  boot(machine: MachineFiles): Promise<Machine>;
  close(): Promise<void>;
}

export interface MachineFiles {
  readonly name: string;
  readonly address: string;
  readonly root: string;
}

export interface Machine extends MachineFiles {
  /** Runs commands of bash as root; ends at the first that fails. `input`: what is typed. */
  run(commands: string, input?: string): Promise<ProgramRun>;
  /** Cuts its power. */
  cut(): Promise<void>;
}

/** Names of machines by their addresses, as all of them know them. */
export async function layMachine({ name, address, root }: MachineFiles, hosts: string): Promise<void> {
  const file = (place: string) => path.join(root, place);
  await writeFile(file('etc/hostname'), `${name}\n`);
  await writeFile(file('etc/hosts'), `127.0.0.1 localhost\n${hosts}`);
  await rm(file('etc/machine-id'), { force: true });
  await mkdir(file('etc/systemd/network'), { recursive: true });
  await writeFile(
    file('etc/systemd/network/10-host0.network'),
    `[Match]\nName=host0\n[Network]\nAddress=${address}/24\n`,
  );
  const wants = file('etc/systemd/system/multi-user.target.wants');
  await mkdir(wants, { recursive: true });
  await rm(path.join(wants, 'systemd-networkd.service'), { force: true });
  await symlink('/lib/systemd/system/systemd-networkd.service', path.join(wants, 'systemd-networkd.service'));
}

/** Makes a network that only its machines and what is started in it can reach. `address`: with its length, of this machine. */
export async function makeNetwork(address: string): Promise<Network> {
  const name = `errand-${process.pid}`;
  const started: ChildProcess[] = [];
  const machines: Machine[] = [];
  // Not `ip netns exec`, which hides control groups.
  const inside = ['nsenter', `--net=/run/netns/${name}`];
  const must = async (command: readonly string[]) => {
    const { code, output } = await runProgram(command[0]!, command.slice(1), { limitMs: MINUTE });
    if (code !== 0) throw new Error(`${command.join(' ')}: ${output}`);
  };
  await must(['ip', 'netns', 'add', name]);
  await must([...inside, 'ip', 'link', 'set', 'lo', 'up']);
  await must([...inside, 'ip', 'link', 'add', 'machines', 'type', 'bridge']);
  await must([...inside, 'ip', 'address', 'add', address, 'dev', 'machines']);
  await must([...inside, 'ip', 'link', 'set', 'machines', 'up']);
  return {
    address: address.split('/')[0]!,
    start: (program, args) => {
      const child = spawn(inside[0]!, [...inside.slice(1), program, ...args], { stdio: ['pipe', 'ignore', 'inherit'] });
      started.push(child);
      return child;
    },
    boot: async (files) => {
      const machine = await boot(files, inside);
      machines.push(machine);
      return machine;
    },
    close: async () => {
      for (const child of started) child.kill();
      await Promise.all(machines.map(({ cut }) => cut()));
      await must(['ip', 'netns', 'delete', name]);
    },
  };
}

/** In a control group of its own, so that machines side by side don't share those that systemd-nspawn makes. */
const IN_A_GROUP =
  'for group; do [ "$group" = -- ] && break; echo $$ >"$group/cgroup.procs"; shift; done; shift; exec "$@"';

async function boot(files: MachineFiles, inside: readonly string[]): Promise<Machine> {
  const groups = makeGroups(`errand-${process.pid}-${files.name}`);
  const nspawn = [
    'systemd-nspawn',
    '--quiet',
    '--register=no',
    '--keep-unit',
    '--network-bridge=machines',
    '--console=pipe',
  ];
  const command = [...inside, ...nspawn, `--machine=${files.name}`, '-D', files.root, '--boot'];
  const child = spawn('sh', ['-c', IN_A_GROUP, 'sh', ...groups, '--', ...command], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()));
  const ended = new Promise<void>((resolve) => void child.once('close', () => resolve()));
  const machine: Machine = {
    ...files,
    run: async (commands, input) => {
      const leader = leaderOf(child.pid!);
      const environment = Object.entries(CONSOLE).map(([key, value]) => `${key}=${value}`);
      const shell = ['env', '-i', ...environment, 'bash', '-e', '-o', 'pipefail', '-c', `cd /root\n${commands}`];
      return runProgram('nsenter', ['--target', String(leader), '--all', ...shell], { limitMs: 10 * MINUTE, input });
    },
    cut: async () => {
      const leader = leaderOf(child.pid!);
      if (leader !== undefined) process.kill(leader, 'SIGKILL');
      child.kill('SIGKILL');
      await ended;
      for (const group of groups) {
        await runProgram('find', [group, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', ';'], { limitMs: MINUTE });
      }
    },
  };
  const until = performance.now() + BOOT_MS;
  while (!(await isUp(machine))) {
    if (performance.now() > until || child.exitCode !== null) throw new Error(`${files.name} doesn't boot:\n${output}`);
    await pause(500);
  }
  return machine;
}

async function isUp(machine: Machine): Promise<boolean> {
  const { output } = await machine.run('systemctl is-system-running --wait || true').catch(() => ({ output: '' }));
  return /running|degraded/.test(output);
}

function makeGroups(name: string): string[] {
  return TREES.filter((tree) => hasGroups(tree)).map((tree) => {
    mkdirSync(path.join(tree, name), { recursive: true });
    return path.join(tree, name);
  });
}

const hasGroups = (tree: string): boolean => {
  try {
    readFileSync(path.join(tree, 'cgroup.procs'));
    return true;
  } catch {
    return false;
  }
};

/** The first process of the machine: the child of systemd-nspawn. */
function leaderOf(nspawn: number): number | undefined {
  try {
    const [child] = readFileSync(`/proc/${nspawn}/task/${nspawn}/children`, 'utf8').split(' ');
    return child === undefined || child === '' ? undefined : Number(child);
  } catch {
    return undefined;
  }
}
