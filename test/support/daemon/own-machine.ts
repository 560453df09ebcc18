// A machine of a test's own: this one, with /etc, /run and /var/lib of its own, and a service of Errand installed there. For root.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { BINARY } from './initialized.ts';

const UNIT = fileURLToPath(new URL('../../../config/errand.service', import.meta.url));
/** A user of the machine's own; nobody has the number elsewhere. */
const USER_ID = 61_900;

const MOUNTS = `
set -e
mount -t tmpfs own "$1"
mkdir "$1/etc" "$1/work"
mount -t overlay -o "lowerdir=/etc,upperdir=$1/etc,workdir=$1/work" own /etc
mount -t tmpfs own /var/lib
mount -t tmpfs own /run
echo "errand:x:${USER_ID}:${USER_ID}::/var/lib/errand:/usr/sbin/nologin" >>/etc/passwd
echo "errand:x:${USER_ID}:" >>/etc/group
echo ready
exec sleep infinity`;

/** The directories and variables that systemd gives the service of the unit. */
const AS_THE_SERVICE = `
install -d -o errand -g errand -m 700 /var/lib/errand
install -d -o errand -g errand -m 750 /run/errand
cd /
exec setpriv --reuid errand --regid errand --clear-groups env STATE_DIRECTORY=/var/lib/errand RUNTIME_DIRECTORY=/run/errand \\
  CONFIGURATION_DIRECTORY=/etc/errand ERRAND_LISTEN=127.0.0.1:0 "$0" serve --no-workers`;

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface OwnMachine {
  /** Runs a line of the shell as root, without a terminal, in an empty directory. */
  sh(line: string): Promise<Outcome>;
  /** Starts the service as its unit does, and waits until it is ready. Returns what stops it. */
  startService(): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** Makes it. `errand` is on the search path, and its unit is installed. */
export async function openOwnMachine(): Promise<OwnMachine> {
  const directory = mkdtempSync(path.join(tmpdir(), 'errand-machine-'));
  const own = path.join(directory, 'own');
  const empty = path.join(directory, 'empty');
  const keeper = spawn('unshare', ['--mount', 'sh', '-c', `mkdir ${own} ${empty}; ${MOUNTS.trim()}`, 'sh', own], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await Promise.race([once(keeper.stdout, 'data'), once(keeper, 'close')]);
  const inside = ['--target', String(keeper.pid), '--mount', `--wd=${empty}`, '--'];
  const env = { PATH: `${path.dirname(BINARY)}:${process.env['PATH'] ?? ''}`, HOME: '/root' };

  const sh = (line: string): Promise<Outcome> =>
    new Promise((resolve) => {
      const child = execFile('nsenter', [...inside, 'sh', '-c', line], { env }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
      });
      child.stdin?.end();
    });

  async function startService(): Promise<() => Promise<void>> {
    const daemon = spawn('nsenter', [...inside, 'sh', '-c', AS_THE_SERVICE, BINARY], { env, stdio: 'ignore' });
    const ready = await sh('errand status --wait --timeout 60s');
    if (ready.code !== 0) throw new Error(`The service did not start: ${ready.stderr}`);
    return () => end(daemon);
  }

  await sh(`cp ${UNIT} /etc/systemd/system/ && mkdir /etc/errand`);
  return {
    sh,
    startService,
    close: async () => {
      await end(keeper);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'close');
}
