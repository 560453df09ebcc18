// A daemon of this very program on a scratch data directory: started, killed and started again.
import { type ChildProcess, execFile, type ExecFileOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Victim } from './storm.ts';

export interface ScratchDaemon extends Victim {
  readonly url: string;
  readonly apiKey: string;
  /** Starts it, at the first time and after its end. Throws when it isn't ready within a minute. */
  restart(): Promise<void>;
  /** Ends it with SIGTERM; returns its exit code, null when it had to be killed. */
  stop(): Promise<number | null>;
  /** Ends it and what it has started, at once. */
  close(): Promise<void>;
  /** The end of what it wrote on standard error. */
  log(): string;
}

export interface ScratchRequest {
  readonly executable: string;
  readonly directory: string;
  readonly modelUrl: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Ends waiting for a start; the daemon itself is ended by `close`. */
  readonly signal: AbortSignal;
}

const READY_MS = 60_000;
const STOP_MS = 60_000;
const LOG_CHARACTERS = 1_000_000;

/** What would lead the program to the real installation. */
const OF_ERRAND =
  /^(ERRAND_(?!NODE$)|(STATE|RUNTIME|CONFIGURATION|CREDENTIALS|LOGS|CACHE)_DIRECTORY$|NOTIFY_SOCKET$|LISTEN_|WATCHDOG_|INVOCATION_ID$|NODE_OPTIONS$|MAX_UPLOAD_SIZE_MB$|OPENAPI_)/;

const ERRAND_YAML = `workers: { threads: 2, runs_per_thread: 4 }
background: { max_executing_per_key: 4 }
streams: { drain_seconds: 5 }
shell: { enabled: false }
browser: { enabled: false }
log: { level: warn }
`;

const modelsYaml = (url: string) => `endpoints:
  scripted: { kind: openai, base_url: "${url}", max_in_flight: 6 }
models:
  scripted: { endpoint: scripted, model: scripted, context_window: 100000, max_output_tokens: 1000 }
scenarios:
  general: { model: scripted }
default_scenario: general
`;

/** Makes the data directory and its configuration, without starting the daemon. */
export async function makeScratchDaemon(request: ScratchRequest): Promise<ScratchDaemon> {
  const { executable, directory, modelUrl, signal } = request;
  const env = Object.fromEntries(Object.entries(request.environment).filter(([name]) => !OF_ERRAND.test(name)));
  const [dataDir, configDir] = [join(directory, 'data'), join(directory, 'config')];
  const locations = ['--data-dir', dataDir, '--config-dir', configDir];
  const created = JSON.parse(await init(executable, locations, { env, signal })) as { api_key: { key: string } };
  await writeFile(join(configDir, 'models.yaml'), modelsYaml(modelUrl));
  await writeFile(join(configDir, 'errand.yaml'), ERRAND_YAML);
  const listen = `127.0.0.1:${await freePort()}`;
  const url = `http://${listen}`;
  let startMs = 0;
  let child: ChildProcess | undefined;
  let log = '';

  const isAlive = () => child?.pid !== undefined && child.exitCode === null && child.signalCode === null;
  const end = async (kill: () => void) => {
    if (child === undefined || !isAlive()) return;
    const ended = once(child, 'exit');
    kill();
    await ended;
  };
  return {
    url,
    apiKey: created.api_key.key,
    dataDir,
    startMs: () => startMs,
    restart: async () => {
      const startedAt = performance.now();
      const args = ['serve', ...locations, '--listen', listen];
      // A group of its own, so that `close` reaches every process that it begins, and Ctrl-C none of them.
      child = spawn(executable, args, { env, detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
      child.stderr!.setEncoding('utf8').on('data', (text: string) => (log = (log + text).slice(-LOG_CHARACTERS)));
      child.once('error', () => undefined);
      await healthy(url, child, signal);
      startMs = Math.round(performance.now() - startedAt);
    },
    kill: () => end(() => child!.kill('SIGKILL')),
    stop: async () => {
      const late = AbortSignal.any([AbortSignal.timeout(STOP_MS), signal]);
      await Promise.race([end(() => child!.kill('SIGTERM')), once(late, 'abort')]);
      if (!isAlive()) return child?.exitCode ?? null;
      await end(() => child!.kill('SIGKILL'));
      return null;
    },
    close: async () => {
      await end(() => child!.kill('SIGKILL'));
      try {
        if (child?.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // Nobody of its group lives any more.
      }
    },
    log: () => log,
  };
}

/** Runs `errand init`. When it is aborted, it has ended by the time that this rejects: it would make its directory again. */
async function init(
  executable: string,
  locations: readonly string[],
  options: Pick<ExecFileOptions, 'env' | 'signal'>,
): Promise<string> {
  const args = ['init', ...locations, '-o', 'json'];
  const running = promisify(execFile)(executable, args, {
    ...options,
    encoding: 'utf8',
    timeout: READY_MS,
    killSignal: 'SIGKILL',
  });
  const ended = new Promise<void>((resolve) => {
    running.child.once('close', () => resolve());
    running.child.once('error', () => {
      if (running.child.pid === undefined) resolve();
    });
  });
  try {
    return (await running).stdout;
  } finally {
    await ended;
  }
}

async function healthy(url: string, child: ChildProcess, signal: AbortSignal): Promise<void> {
  const until = performance.now() + READY_MS;
  for (;;) {
    signal.throwIfAborted();
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.status === 200) return;
    const how = child.pid === undefined ? 'could not be started' : endOf(child);
    if (how !== null) throw new Error(`The daemon ${how} before it was ready.`);
    if (performance.now() > until) throw new Error('The daemon was not ready within a minute.');
    await sleep(20);
  }
}

function endOf({ exitCode, signalCode }: ChildProcess): string | null {
  if (signalCode !== null) return `ended with ${signalCode}`;
  return exitCode === null ? null : `ended with code ${exitCode}`;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
