// A program that runs beside an agent in the sandbox and is spoken with on its standard input and output.
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../../domain/errors.ts';
import type { SandboxGrant } from '../port/grants.ts';
import { ending, launch, prepare, stop, watchMemory } from './launch.ts';
import type { Mount, StopCause } from './walls.ts';

/** How much is kept of what a service writes to its standard error: the end of it. */
const MAX_COMPLAINT_CHARACTERS = 8_192;

export interface ServiceRequest {
  /** Absolute path of the workspace directory, the service's `/workspace`. It begins in /tmp, its home. */
  readonly workspace: string;
  /** The program, by name or absolute path, and its arguments. */
  readonly argv: readonly string[];
  /** All that it has beside the sandbox's own variables; nothing of the daemon's environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Whether it has the host's network. */
  readonly network: boolean;
  readonly mounts: readonly Mount[];
  /** Bytes of /tmp and of /dev/shm, each; 64 MB when absent. */
  readonly tmpBytes?: number;
}

/** A service that was started. It has no limits of time and output of its own: who speaks with it holds them. */
export interface SandboxService {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** The last of what it wrote to its standard error, 8 kB at most. */
  complaint(): string;
  /** Resolves when nothing of it is alive any more, with how it ended, such as `it exited with code 1`. Never rejects. */
  readonly ended: Promise<string>;
  /** Kills it. The first cause stands. */
  stop(cause: StopCause): void;
  /** Closes its input and, if it has not ended by itself after the grace, kills it. Resolves with `ended`. */
  close(graceMs: number): Promise<string>;
}

/** Starts a service within the walls of commands (H4). A program that can't be started is a service that has ended. */
export async function startInSandbox(grant: SandboxGrant, request: ServiceRequest): Promise<SandboxService> {
  if (grant.owner === null && process.getuid?.() === 0) throw new Error('Services are never run as root.');
  const { workspace, argv, network, tmpBytes } = request;
  // What is there in any case can't be mounted over: /usr is closed to writing.
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
    complaint = (complaint + text).slice(-MAX_COMPLAINT_CHARACTERS);
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
      const grace = new AbortController();
      await Promise.race([ended, delay(graceMs, undefined, { signal: grace.signal }).catch(() => undefined)]);
      grace.abort();
      stopIt('canceled');
      return ended;
    },
  };
}

/** What package runners fetch must not come to lie in the workspace. */
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
