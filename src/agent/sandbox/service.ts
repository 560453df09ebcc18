// A program that runs in the sandbox during a run, used through its standard input and output.
import type { Readable, Writable } from 'node:stream';
import { systemClock, within } from '../../domain/clock.ts';
import { messageOf } from '../../domain/errors.ts';
import type { SandboxGrant } from '../port/grants.ts';
import { ending, launch, prepare, stop, watchMemory } from './launch.ts';
import type { Mount, StopCause } from './walls.ts';

/** How much is shown of a service's standard error: the end of it. */
export const MAX_COMPLAINT_CHARACTERS = 8_192;
/** How much is kept: a secret in pieces at its beginning is not in what is shown. */
const MAX_KEPT_CHARACTERS = 2 * MAX_COMPLAINT_CHARACTERS;

export interface ServiceRequest {
  /** Absolute path of the workspace directory, the service's `/workspace`. The service starts in /tmp, its home. */
  readonly workspace: string;
  /** The program, by name or absolute path, and its arguments. */
  readonly argv: readonly string[];
  /** Its environment in addition to the sandbox's own variables; nothing is inherited from the daemon. */
  readonly env: Readonly<Record<string, string>>;
  /** Whether it has the host's network. */
  readonly network: boolean;
  readonly mounts: readonly Mount[];
  /** Bytes of /tmp and of /dev/shm, each; 64 MB when absent. */
  readonly tmpBytes?: number;
}

/** A started service. It has no limits of time and output of its own: its user enforces them. */
export interface SandboxService {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** The end of its standard error, twice as long as what is shown, so that secrets are removed before it is shortened. */
  complaint(): string;
  /** Resolves when none of its processes is alive, with how it ended, such as `it exited with code 1`. Never rejects. */
  readonly ended: Promise<string>;
  /** Kills it. The first cause wins. */
  stop(cause: StopCause): void;
  /** Closes its input and kills it if it has not exited within the grace period. Resolves with `ended`. */
  close(graceMs: number): Promise<string>;
}

/** Starts a service in the same sandbox as commands (H4). A program that can't be started is a service that has ended; rejects where there are no descriptors for its pipes. */
export async function startInSandbox(grant: SandboxGrant, request: ServiceRequest): Promise<SandboxService> {
  if (grant.owner === null && process.getuid?.() === 0) throw new Error('Services are never run as root.');
  const { workspace, argv, network, tmpBytes } = request;
  // Folders in /usr are present anyway, and can't be mounted over because /usr is read-only.
  const mounts = request.mounts.filter(({ target }) => target !== '/usr' && !target.startsWith('/usr/'));
  const prepared = await prepare(grant, {
    workspace,
    mounts,
    ...(tmpBytes === undefined ? {} : { tmpBytes }),
    task: { kind: 'service', argv, network, env: { ...CACHES, ...request.env } },
  });
  const launched = launch(prepared);
  let complaint = '';
  launched.stderr.on('data', (text: string) => {
    complaint = (complaint + text).slice(-MAX_KEPT_CHARACTERS);
  });
  const watch = watchMemory(launched, grant.memoryBytes);
  const ended = ending(launched)
    .then(
      ({ exitCode, signal }) => howItEnded(launched.stopped, exitCode, signal),
      (error: unknown) => messageOf(error),
    )
    .finally(() => clearInterval(watch));
  const stopIt = (cause: StopCause) => stop(launched, cause);
  return {
    stdin: launched.stdin!,
    stdout: launched.stdout,
    complaint: () => complaint,
    ended,
    stop: stopIt,
    close: async (graceMs) => {
      launched.stdin!.end();
      await within(systemClock, graceMs, ended, undefined);
      stopIt('canceled');
      return ended;
    },
  };
}

/** Keeps the caches of package runners out of the workspace. */
const CACHES = { npm_config_cache: '/tmp/.npm' };

const STOPPED: Readonly<Record<StopCause, string>> = {
  timeout: 'it was ended because it took too long',
  output: 'it was ended because it sent too much',
  memory: 'it was ended because it took too much memory',
  quota: 'it was ended because the workspace took more of the disk than it may',
  disk: 'it was ended because the disk is almost full',
  canceled: 'it was ended',
};

function howItEnded(stopped: StopCause | undefined, exitCode: number | null, signal: string | null): string {
  if (stopped !== undefined) return STOPPED[stopped];
  return signal === null ? `it exited with code ${exitCode}` : `it was killed by ${signal}`;
}
