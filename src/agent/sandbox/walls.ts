// What the sandbox is made of: the arguments that build it, and the programs that stand between daemon and command.
import { lstat, readlink } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import type { SandboxGrant } from '../grants.ts';

/**
 * The uid and gid of commands when the daemon is root: one that Debian and systemd give to nobody, so that no other
 * service's files or processes are within reach. It needs no line in /etc/passwd.
 */
export const SANDBOX_OWNER: { readonly uid: number; readonly gid: number } = { uid: 61000, gid: 61000 };

/** Where the launching programs are looked up; the daemon's own environment never reaches them. */
export const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * Descriptors after the usual three. bwrap reports on the first and reads a made file from each of the next two; the last
 * one is never written to, and closes when the daemon dies.
 */
const STATUS_FD = 3;
const PASSWD_FD = 4;
const GROUP_FD = 5;
const LIFELINE_FD = 6;
/** Of a service only: more arguments for bwrap, which must not be seen in a list of processes. */
const ARGUMENTS_FD = 7;

const MIB = 1024 * 1024;
const TMP_BYTES = 64 * MIB;
const FILE_BYTES = 1024 * MIB;
const OPEN_FILES = 1024;

const ROOT_NAMES = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'];

/** Of the host's /etc only what programs need to start and nothing that tells of the host or its users. */
const ETC_NAMES = ['alternatives', 'ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'localtime', 'mime.types', 'ssl/certs'];

/** A folder of the host that is seen read-only in the sandbox. */
export interface Mount {
  /** Absolute path on the host. */
  readonly source: string;
  /** Absolute path in the sandbox. */
  readonly target: string;
}

/** What runs in a sandbox. */
export interface SandboxWork {
  /** Absolute path of the workspace directory. */
  readonly workspace: string;
  readonly mounts: readonly Mount[];
  /** Bytes of /tmp and of /dev/shm, each. */
  readonly tmpBytes?: number;
  readonly task:
    | { readonly kind: 'command'; readonly command: string; readonly timeoutMs: number }
    /** A program that is spoken with on its standard input and output. Its environment comes by `serviceArguments`. */
    | { readonly kind: 'service'; readonly argv: readonly string[]; readonly network: boolean };
}

/** Where root's rights end, folders that lie under a closed directory are found under this one. */
const OPENED = '/tmp/opened';

/** What programs with a network need to find others by name. */
const NETWORK_NAMES = ['resolv.conf', 'hosts', 'host.conf', 'nsswitch.conf', 'gai.conf', 'services'];

/**
 * Runs as root in a mount namespace of its own. The workspace and other folders usually lie under a directory that is
 * closed to the sandbox's uid, so each is bound to a place that uid can reach before root's rights are dropped for good.
 * That place hides the host's /tmp, which stays within reach of this script alone, by its descriptor 8.
 * The current directory is the workspace. $1 uid, $2 gid, $3 how many folders, the folders, then the command to become.
 */
const DROP_ROOT = `exec 8</tmp && mount -t tmpfs -o size=64k,mode=0755 none /tmp &&
mkdir /tmp/workspace ${OPENED} && mount -c --bind . /tmp/workspace && cd / &&
uid=$1 gid=$2 left=$3 && shift 3 &&
while test "$left" -gt 0; do
  case $1 in /tmp/*) from=/proc/self/fd/8/\${1#/tmp/} ;; *) from=$1 ;; esac
  mkdir ${OPENED}/$left && mount -c --bind "$from" ${OPENED}/$left || exit 1
  left=$((left - 1)); shift
done &&
exec 8<&- setpriv --reuid "$uid" --regid "$gid" --clear-groups --inh-caps=-all --no-new-privs -- "$@"`;

/**
 * Runs as bwrap's parent, leader of a process group of its own, and is given the command to run. The daemon holds the
 * other end of the lifeline: when it dies, however early, the whole group is killed. bwrap's own --die-with-parent
 * begins too late for that: until then its first process outlives it and waits for ever.
 */
const GUARD = `( read -r line <&${LIFELINE_FD}; kill -KILL 0 ) </dev/null >/dev/null 2>&1 3>&- 4>&- 5>&- 7>&- & guard=$!
exec ${LIFELINE_FD}<&-
"$@"
code=$?
kill -KILL "$guard"
wait "$guard" 2>/dev/null
exit "$code"`;

/**
 * Runs inside, as the command's parent. $1 shell, $2 command. Both output streams go through a pipe made here: scripts
 * that open /dev/stderr fail on the socket that the daemon reads from. When memory runs out, the command goes first.
 * What a background process still holds open is not waited for. Descriptors that the daemon was itself started with
 * are closed first; only bash can name those above 9.
 */
const PARENT = `if test -n "$BASH_VERSION"; then
  for fd in /proc/self/fd/*; do fd=\${fd##*/}; test "$fd" -gt 2 && eval "exec $fd>&-"; done 2>/dev/null
fi
echo 1000 >/proc/self/oom_score_adj
mkfifo /tmp/.output
cat </tmp/.output & pump=$!
exec 3>/tmp/.output; rm -f /tmp/.output
"$1" -c "$2" </dev/null >&3 2>&3 3>&-
code=$?
exec 3>&-
{ sleep 0.2; kill "$pump"; } >/dev/null 2>&1 &
wait "$pump" 2>/dev/null
exit "$code"`;

/**
 * Becomes the service, without descriptors that the daemon was itself started with. When memory runs out, it goes first.
 * The loop's own errors are not put away: bash would keep the way back to standard error in a descriptor that it closes.
 */
const SERVICE = `if test -n "$BASH_VERSION"; then
  for fd in /proc/self/fd/*; do fd=\${fd##*/}; test "$fd" -gt 2 && eval "exec $fd>&-"; done
fi
echo 1000 >/proc/self/oom_score_adj
exec "$@"`;

/** Where a task begins, which is also its home. */
type Home = '/workspace' | '/tmp';

/**
 * A service begins where the agent can put nothing: programs run what lies in their directory or home (`node_modules`,
 * `.npmrc`, modules of Python), and a service may have secrets and the network.
 */
export const homeOf = (kind: SandboxWork['task']['kind']): Home => (kind === 'command' ? '/workspace' : '/tmp');

/** The two made files that bwrap reads, in the order of their descriptors. */
export function identityFiles(
  owner: { readonly uid: number; readonly gid: number },
  home: Home,
): readonly [string, string] {
  return [
    `agent:x:${owner.uid}:${owner.gid}:agent:${home}:/bin/sh\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n`,
    `agent:x:${owner.gid}:\nnogroup:x:65534:\n`,
  ];
}

/** Program and arguments that do the work in the sandbox, to be started in the workspace's directory. */
export async function sandboxCommand(
  grant: SandboxGrant,
  work: SandboxWork,
): Promise<readonly [string, readonly string[]]> {
  const shell = (await exists('/usr/bin/bash')) ? '/usr/bin/bash' : '/bin/sh';
  const { task, mounts } = work;
  const inside = task.kind === 'command' ? [PARENT, 'sh', shell, task.command] : [SERVICE, 'sh', ...task.argv];
  const walls = [...(await wallArguments(grant, work)), '--', ...limits(grant, task), shell, '-c', ...inside];
  const guarded = ['-c', GUARD, 'sh', grant.bwrap, ...walls];
  if (grant.owner === null) return ['/bin/sh', guarded];
  const { uid, gid } = grant.owner;
  const folders = [String(mounts.length), ...mounts.map(({ source }) => source)];
  const drop = ['/bin/sh', '-c', DROP_ROOT, 'sh', String(uid), String(gid), ...folders, '/bin/sh', ...guarded];
  return ['unshare', ['--mount', '--propagation', 'private', '--', ...drop]];
}

/** What bwrap reads on `ARGUMENTS_FD`: a service's environment, which may hold secrets. */
export function serviceArguments(env: Readonly<Record<string, string>>): string {
  return Object.entries(env)
    .flatMap(([name, value]) => ['--setenv', name, value])
    .map((argument) => `${argument}\0`)
    .join('');
}

/**
 * Limits are set inside, where the user namespace is new: since Linux 5.14 processes are counted per namespace, so
 * sandboxes that run at the same time do not use up each other's share. Older kernels count all of them together.
 * A service may live as long as its run, and so has no limit of processor time.
 */
function limits(grant: SandboxGrant, task: SandboxWork['task']): string[] {
  const seconds = (timeoutMs: number) => Math.ceil(timeoutMs / 1000) * availableParallelism() + 1;
  const cpu = task.kind === 'command' ? [`--cpu=${seconds(task.timeoutMs)}`] : [];
  return [
    ...words(`nice -n 5 prlimit --nproc=${grant.maxProcesses} --data=${grant.memoryBytes}`),
    ...words(`--fsize=${FILE_BYTES} --nofile=${OPEN_FILES} --core=0`),
    ...cpu,
    '--',
  ];
}

async function wallArguments({ owner }: SandboxGrant, work: SandboxWork): Promise<string[]> {
  const { workspace, mounts, task, tmpBytes = TMP_BYTES } = work;
  const isOpen = task.kind === 'service' && task.network;
  const sourceOf = (mount: Mount, at: number) => (owner === null ? mount.source : `${OPENED}/${mounts.length - at}`);
  return [
    ...words('--unshare-user --unshare-all --disable-userns --die-with-parent --new-session'),
    ...(isOpen ? ['--share-net'] : []),
    ...words(`--hostname sandbox --json-status-fd ${STATUS_FD}`),
    ...words('--ro-bind /usr /usr'),
    ...(await rootLinks()),
    ...[...ETC_NAMES, ...(isOpen ? NETWORK_NAMES : [])].flatMap((name) =>
      words(`--ro-bind-try /etc/${name} /etc/${name}`),
    ),
    ...words(`--ro-bind-data ${PASSWD_FD} /etc/passwd --ro-bind-data ${GROUP_FD} /etc/group`),
    // A size belongs to the tmpfs right after it. /dev and / are memory too, so they are closed to writing.
    ...words(`--proc /proc --dev /dev --size ${tmpBytes} --tmpfs /tmp --size ${tmpBytes} --tmpfs /dev/shm`),
    ...mounts.flatMap((mount, at) => ['--ro-bind', sourceOf(mount, at), mount.target]),
    '--bind',
    owner === null ? workspace : '/tmp/workspace',
    ...words(`/workspace --remount-ro /dev --remount-ro / --chdir ${homeOf(task.kind)} --clearenv`),
    ...environment(homeOf(task.kind)),
    ...(task.kind === 'service' ? ['--args', String(ARGUMENTS_FD)] : []),
  ];
}

/** Arguments that hold no spaces, written as one reads them. */
const words = (text: string) => text.split(' ');

function environment(home: Home): string[] {
  const variables = {
    PATH: SYSTEM_PATH,
    HOME: home,
    USER: 'agent',
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    TMPDIR: '/tmp',
    // Caches would otherwise be taken for work: what lies in the workspace after a run is its result.
    XDG_CACHE_HOME: '/tmp/.cache',
    PYTHONDONTWRITEBYTECODE: '1',
  };
  return Object.entries(variables).flatMap(([name, value]) => ['--setenv', name, value]);
}

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
