// The arguments that build the sandbox.
import { lstat, readlink } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { GB, KB, MB } from '../../domain/byte-units.ts';
import type { SandboxGrant } from '../port/grants.ts';
import { type LimitName, ownLimit } from './own-limits.ts';
import { systemCallFilter } from './system-call-filter.ts';
import { COMMAND_FILE, COUNTS, DROP_ROOT, FD, GUARD, openedAt, PARENT, SERVICE } from './scripts.ts';

/** Where the launching programs are looked up; they never get the daemon's own environment. */
export const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

const TMP_BYTES = 64 * MB;
const FILE_BYTES = GB;
/**
 * Files that are on their way through sockets count per user of the kernel, against the limit of who sends one: commands can't use up
 * what browsers and tool servers need.
 */
const OPEN_FILES = { command: 1024, service: 4096 } as const;
/** What the kernel counts per user; inside, where the user namespace is new, these are limits of the whole sandbox. */
const [PENDING_SIGNALS, LOCKED_BYTES] = [128, 64 * KB];
/** The part of the daemon's own limit of processes that all sandboxes can have. */
const SHARED_PROCESSES = 0.75;

const ROOT_NAMES = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'];

/** The parts of the host's /etc that programs need to start and that reveal nothing about the host or its users. */
const ETC_NAMES = ['alternatives', 'ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'localtime', 'mime.types', 'ssl/certs'];

/** What /proc reveals about the keys of others with the same user. */
const HIDDEN_NAMES = ['keys', 'key-users'];

/** A folder of the host that is mounted read-only in the sandbox. */
export interface Mount {
  /** Absolute path on the host. */
  readonly source: string;
  /** Absolute path in the sandbox. */
  readonly target: string;
}

/** Why the sandbox ended its work. */
export type StopCause = 'timeout' | 'output' | 'memory' | 'quota' | 'disk' | 'canceled';

/** What runs in a sandbox. */
export interface SandboxWork {
  /** Absolute path of the workspace directory. */
  readonly workspace: string;
  readonly mounts: readonly Mount[];
  /** Bytes of /tmp and of /dev/shm, each. */
  readonly tmpBytes?: number;
  /** The largest file that it may write, up to 1 GB. */
  readonly fileBytes?: number;
  readonly task:
    | { readonly kind: 'command'; readonly command: string; readonly timeoutMs: number }
    /** A program that is used through its standard input and output. `env` is in addition to the sandbox's own variables. */
    | {
        readonly kind: 'service';
        readonly argv: readonly string[];
        readonly env: Readonly<Record<string, string>>;
        readonly network: boolean;
      };
}

/** What programs with a network need to resolve host names. */
const NETWORK_NAMES = ['resolv.conf', 'hosts', 'host.conf', 'nsswitch.conf', 'gai.conf', 'services'];

/** The initial directory of a task, which is also its home. */
type Home = '/workspace' | '/tmp';

/**
 * A service starts where the agent can't write: programs execute files of their directory or home (`node_modules`, `.npmrc`,
 * Python modules), and a service may have secrets and the network.
 */
const homeOf = (kind: SandboxWork['task']['kind']): Home => (kind === 'command' ? '/workspace' : '/tmp');

/** What to start for some work. */
export interface SandboxPlan {
  readonly program: string;
  readonly args: readonly string[];
  /** What bwrap reads, by descriptor: each is written to a pipe, which is then closed. */
  readonly papers: ReadonlyMap<number, string | Buffer>;
}

/**
 * The plan that executes the work in the sandbox. Start it in a folder and with an environment that may be visible inside:
 * bwrap's own first process shows both. Its arguments contain neither paths of the host nor the command.
 */
export async function planSandbox(grant: SandboxGrant, work: SandboxWork): Promise<SandboxPlan> {
  const shell = (await exists('/usr/bin/bash')) ? '/usr/bin/bash' : '/bin/sh';
  const { task, mounts, workspace } = work;
  const inside = task.kind === 'command' ? [PARENT, 'sh', shell] : [SERVICE, 'sh', ...task.argv];
  const bwrap = [grant.bwrap, '--args', String(FD.arguments), '--', ...limits(grant, work), shell, '-c', ...inside];
  const guarded = ['-c', GUARD, 'sh', ...counted(grant), ...bwrap];
  const papers = new Map<number, string | Buffer>([
    [FD.filter, systemCallFilter(process.arch, grant.watches)],
    [FD.arguments, (await wallArguments(grant, work)).map((argument) => `${argument}\0`).join('')],
    ...identityFiles(grant.owner, homeOf(task.kind)),
    ...(task.kind === 'command' ? [[FD.command, task.command] as const] : []),
  ]);
  if (grant.owner === null) return { program: '/bin/sh', args: guarded, papers };
  const { uid, gid } = grant.owner;
  const folders = [workspace, ...mounts.map(({ source }) => source)];
  const ids = [uid, gid, folders.length].map(String);
  const drop = ['/bin/sh', '-c', DROP_ROOT, 'sh', ...ids, ...folders, '/bin/sh', ...guarded];
  return { program: 'unshare', args: ['--mount', '--propagation', 'private', '--', ...drop], papers };
}

/**
 * What surrounds bwrap with a user namespace that limits what is in it. Without a user of their own, all sandboxes together leave the
 * daemon some processes.
 */
function counted({ owner, watches }: SandboxGrant): readonly string[] {
  if (watches === 'refused') return [];
  const processes = owner === null ? ownLimit('Max processes', 'soft') : Infinity;
  const shared = Number.isFinite(processes) ? ['prlimit', `--nproc=${Math.floor(processes * SHARED_PROCESSES)}:`] : [];
  return [...shared, ...words('unshare --user --map-root-user -- /bin/sh -c'), COUNTS, 'sh'];
}

/** The ids inside, which are those outside. */
const idsOf = (owner: SandboxGrant['owner']): readonly [uid: number, gid: number] => [
  owner?.uid ?? process.getuid?.() ?? 0,
  owner?.gid ?? process.getgid?.() ?? 0,
];

/** The generated files of users and groups. */
function identityFiles(owner: SandboxGrant['owner'], home: Home): readonly (readonly [number, string])[] {
  const [uid, gid] = idsOf(owner);
  const users = `agent:x:${uid}:${gid}:agent:${home}:/bin/sh\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n`;
  return [
    [FD.passwd, users],
    [FD.group, `agent:x:${gid}:\nnogroup:x:65534:\n`],
  ];
}

/**
 * Limits are set inside, where the user namespace is new: since Linux 5.14 processes are counted per namespace, so concurrent
 * sandboxes do not use up each other's share. Older kernels count all of them together. A service may live as long as its run,
 * and so has no limit of CPU time.
 */
function limits(grant: SandboxGrant, { task, fileBytes = FILE_BYTES }: SandboxWork): string[] {
  const seconds = (timeoutMs: number) => Math.ceil(timeoutMs / 1000) * availableParallelism() + 1;
  const cpu = task.kind === 'command' ? [`--cpu=${seconds(task.timeoutMs)}`] : [];
  const atMost = (most: number, name: LimitName) => Math.min(most, ownLimit(name, 'hard'));
  return [
    ...words(`nice -n 5 prlimit --nproc=${grant.maxProcesses} --data=${grant.memoryBytes}`),
    ...words(`--fsize=${Math.min(fileBytes, FILE_BYTES)} --core=0 --msgqueue=0`),
    `--nofile=${atMost(OPEN_FILES[task.kind], 'Max open files')}`,
    `--sigpending=${atMost(PENDING_SIGNALS, 'Max pending signals')}`,
    `--memlock=${atMost(LOCKED_BYTES, 'Max locked memory')}`,
    ...cpu,
    '--',
  ];
}

async function wallArguments({ owner }: SandboxGrant, work: SandboxWork): Promise<string[]> {
  const { workspace, mounts, task, tmpBytes = TMP_BYTES } = work;
  const isOpen = task.kind === 'service' && task.network;
  const sourceOf = (source: string, at: number) => (owner === null ? source : openedAt(at, 1 + mounts.length));
  const [uid, gid] = idsOf(owner);
  return [
    // Started by a root, if only that of the namespace around it, bwrap keeps capabilities.
    ...words(`--unshare-user --uid ${uid} --gid ${gid} --cap-drop ALL`),
    ...words('--unshare-all --disable-userns --die-with-parent --new-session'),
    ...(isOpen ? ['--share-net'] : []),
    ...words(`--hostname sandbox --json-status-fd ${FD.status} --seccomp ${FD.filter}`),
    ...words('--ro-bind /usr /usr'),
    ...(await rootLinks()),
    ...[...ETC_NAMES, ...(isOpen ? NETWORK_NAMES : [])].flatMap((name) =>
      words(`--ro-bind-try /etc/${name} /etc/${name}`),
    ),
    ...words(`--ro-bind-data ${FD.passwd} /etc/passwd --ro-bind-data ${FD.group} /etc/group`),
    ...(task.kind === 'command' ? words(`--ro-bind-data ${FD.command} ${COMMAND_FILE}`) : []),
    ...words('--proc /proc'),
    ...HIDDEN_NAMES.flatMap((name) => words(`--ro-bind-try /dev/null /proc/${name}`)),
    // A size applies to the next tmpfs. /dev and / are memory too, so they are read-only.
    ...words(`--dev /dev --size ${tmpBytes} --tmpfs /tmp --size ${tmpBytes} --tmpfs /dev/shm`),
    ...mounts.flatMap(({ source, target }, at) => ['--ro-bind', sourceOf(source, at + 1), target]),
    '--bind',
    sourceOf(workspace, 0),
    ...words(`/workspace --remount-ro /proc --remount-ro /dev --remount-ro / --chdir ${homeOf(task.kind)} --clearenv`),
    ...environment({ ...variables(homeOf(task.kind)), ...(task.kind === 'service' ? task.env : {}) }),
  ];
}

/** Splits arguments that contain no spaces. */
const words = (text: string) => text.split(' ');

const variables = (home: Home): Readonly<Record<string, string>> => ({
  PATH: SYSTEM_PATH,
  HOME: home,
  USER: 'agent',
  LANG: 'C.UTF-8',
  TERM: 'dumb',
  TMPDIR: '/tmp',
  // Otherwise caches would become part of the run's result, which is everything that remains in the workspace.
  XDG_CACHE_HOME: '/tmp/.cache',
  PYTHONDONTWRITEBYTECODE: '1',
});

const environment = (variables: Readonly<Record<string, string>>) =>
  Object.entries(variables).flatMap(([name, value]) => ['--setenv', name, value]);

/** /bin, /lib and the like as on the host: links into /usr on most systems, folders of their own on others. */
async function rootLinks(): Promise<string[]> {
  const found = await Promise.all(
    ROOT_NAMES.map(async (name) => {
      const stats = await lstat(`/${name}`).catch(() => undefined);
      if (stats?.isSymbolicLink()) return ['--symlink', await readlink(`/${name}`), `/${name}`];
      return stats?.isDirectory() ? ['--ro-bind', `/${name}`, `/${name}`] : [];
    }),
  );
  return found.flat();
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
