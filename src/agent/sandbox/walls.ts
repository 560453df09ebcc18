// What the sandbox is made of: the arguments that build it.
import { lstat, readlink } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import type { SandboxGrant } from '../port/grants.ts';
import { systemCallFilter } from './system-call-filter.ts';
import { COMMAND_FILE, DROP_ROOT, FD, GUARD, OPENED, PARENT, SERVICE } from './scripts.ts';

/**
 * The uid and gid of commands when the daemon is root: one that Debian and systemd give to nobody, so that no other
 * service's files or processes are within reach. It needs no line in /etc/passwd.
 */
export const SANDBOX_OWNER: { readonly uid: number; readonly gid: number } = { uid: 61000, gid: 61000 };

/** Where the launching programs are looked up; the daemon's own environment never reaches them. */
export const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

const MIB = 1024 * 1024;
const TMP_BYTES = 64 * MIB;
const FILE_BYTES = 1024 * MIB;
const OPEN_FILES = 1024;

const ROOT_NAMES = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'];

/** Of the host's /etc only what programs need to start and nothing that tells of the host or its users. */
const ETC_NAMES = ['alternatives', 'ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'localtime', 'mime.types', 'ssl/certs'];

/** What /proc tells of the keys of others, who share a user with the sandbox. */
const HIDDEN_NAMES = ['keys', 'key-users'];

/** A folder of the host that is seen read-only in the sandbox. */
export interface Mount {
  /** Absolute path on the host. */
  readonly source: string;
  /** Absolute path in the sandbox. */
  readonly target: string;
}

/** Why the sandbox ended what ran in it. */
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
    /** A program that is spoken with on its standard input and output. `env` is beside the sandbox's own variables. */
    | {
        readonly kind: 'service';
        readonly argv: readonly string[];
        readonly env: Readonly<Record<string, string>>;
        readonly network: boolean;
      };
}

/** What programs with a network need to find others by name. */
const NETWORK_NAMES = ['resolv.conf', 'hosts', 'host.conf', 'nsswitch.conf', 'gai.conf', 'services'];

/** Where a task begins, which is also its home. */
type Home = '/workspace' | '/tmp';

/**
 * A service begins where the agent can put nothing: programs run what lies in their directory or home (`node_modules`,
 * `.npmrc`, modules of Python), and a service may have secrets and the network.
 */
const homeOf = (kind: SandboxWork['task']['kind']): Home => (kind === 'command' ? '/workspace' : '/tmp');

/** What there is to start for some work. */
export interface SandboxPlan {
  readonly program: string;
  readonly args: readonly string[];
  /** What bwrap reads, by descriptor: each to be written to a pipe, and closed. */
  readonly papers: ReadonlyMap<number, string | Buffer>;
}

/**
 * What does the work in the sandbox. It is to be started in a folder and with an environment that may be seen inside:
 * bwrap's own first process shows both. Its arguments tell neither paths of the host nor what the command is.
 */
export async function planSandbox(grant: SandboxGrant, work: SandboxWork): Promise<SandboxPlan> {
  const shell = (await exists('/usr/bin/bash')) ? '/usr/bin/bash' : '/bin/sh';
  const { task, mounts, workspace } = work;
  const inside = task.kind === 'command' ? [PARENT, 'sh', shell] : [SERVICE, 'sh', ...task.argv];
  const bwrap = [grant.bwrap, '--args', String(FD.arguments), '--', ...limits(grant, work), shell, '-c', ...inside];
  const guarded = ['-c', GUARD, 'sh', ...bwrap];
  const papers = new Map<number, string | Buffer>([
    [FD.filter, systemCallFilter(process.arch)],
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

/** The two made files of users and groups. */
function identityFiles(owner: SandboxGrant['owner'], home: Home): readonly (readonly [number, string])[] {
  const [uid, gid] = [owner?.uid ?? process.getuid?.() ?? 0, owner?.gid ?? process.getgid?.() ?? 0];
  const users = `agent:x:${uid}:${gid}:agent:${home}:/bin/sh\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n`;
  return [
    [FD.passwd, users],
    [FD.group, `agent:x:${gid}:\nnogroup:x:65534:\n`],
  ];
}

/**
 * Limits are set inside, where the user namespace is new: since Linux 5.14 processes are counted per namespace, so
 * sandboxes that run at the same time do not use up each other's share. Older kernels count all of them together.
 * A service may live as long as its run, and so has no limit of processor time.
 */
function limits(grant: SandboxGrant, { task, fileBytes = FILE_BYTES }: SandboxWork): string[] {
  const seconds = (timeoutMs: number) => Math.ceil(timeoutMs / 1000) * availableParallelism() + 1;
  const cpu = task.kind === 'command' ? [`--cpu=${seconds(task.timeoutMs)}`] : [];
  return [
    ...words(`nice -n 5 prlimit --nproc=${grant.maxProcesses} --data=${grant.memoryBytes}`),
    ...words(`--fsize=${Math.min(fileBytes, FILE_BYTES)} --nofile=${OPEN_FILES} --core=0`),
    ...cpu,
    '--',
  ];
}

async function wallArguments({ owner }: SandboxGrant, work: SandboxWork): Promise<string[]> {
  const { workspace, mounts, task, tmpBytes = TMP_BYTES } = work;
  const isOpen = task.kind === 'service' && task.network;
  const sourceOf = (source: string, at: number) => (owner === null ? source : `${OPENED}/${at}`);
  return [
    ...words('--unshare-user --unshare-all --disable-userns --die-with-parent --new-session'),
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
    // A size belongs to the tmpfs right after it. /dev and / are memory too, so they are closed to writing.
    ...words(`--dev /dev --size ${tmpBytes} --tmpfs /tmp --size ${tmpBytes} --tmpfs /dev/shm`),
    ...mounts.flatMap(({ source, target }, at) => ['--ro-bind', sourceOf(source, at + 1), target]),
    '--bind',
    sourceOf(workspace, 0),
    ...words(`/workspace --remount-ro /proc --remount-ro /dev --remount-ro / --chdir ${homeOf(task.kind)} --clearenv`),
    ...environment({ ...variables(homeOf(task.kind)), ...(task.kind === 'service' ? task.env : {}) }),
  ];
}

/** Arguments that hold no spaces, written as one reads them. */
const words = (text: string) => text.split(' ');

const variables = (home: Home): Readonly<Record<string, string>> => ({
  PATH: SYSTEM_PATH,
  HOME: home,
  USER: 'agent',
  LANG: 'C.UTF-8',
  TERM: 'dumb',
  TMPDIR: '/tmp',
  // Caches would otherwise be taken for work: what lies in the workspace after a run is its result.
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
