// A daemon of this very program on a scratch data directory: started, killed and started again.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

export interface ScratchDaemon {
  readonly url: string;
  readonly apiKey: string;
  readonly dataDir: string;
  /** Milliseconds from each start to the first reply of `/healthz`. */
  readonly startsMs: readonly number[];
  start(): Promise<void>;
  /** Ends the daemon with SIGKILL, and what it has started. */
  kill(): Promise<void>;
  /** Ends it with SIGTERM; returns its exit code, null when it had to be killed. */
  stop(): Promise<number | null>;
  /** The end of what it wrote on standard error. */
  log(): string;
}

export interface ScratchWish {
  readonly executable: string;
  readonly directory: string;
  readonly modelUrl: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const READY_MS = 60_000;
const STOP_MS = 60_000;
const LOG_CHARACTERS = 1_000_000;

/** What would lead the program to the real installation. */
const OF_THE_HOUSE =
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
export async function makeScratchDaemon(wish: ScratchWish): Promise<ScratchDaemon> {
  const { executable, directory, modelUrl } = wish;
  const env = Object.fromEntries(Object.entries(wish.environment).filter(([name]) => !OF_THE_HOUSE.test(name)));
  const [dataDir, configDir] = [join(directory, 'data'), join(directory, 'config')];
  const places = ['--data-dir', dataDir, '--config-dir', configDir];
  const { stdout } = await promisify(execFile)(executable, ['init', ...places, '-o', 'json'], {
    env,
    timeout: READY_MS,
  });
  const created = JSON.parse(stdout) as { api_key: { key: string } };
  await writeFile(join(configDir, 'models.yaml'), modelsYaml(modelUrl));
  await writeFile(join(configDir, 'errand.yaml'), ERRAND_YAML);
  const listen = `127.0.0.1:${await freePort()}`;
  const url = `http://${listen}`;
  const startsMs: number[] = [];
  let child: ChildProcess | undefined;
  let log = '';
  const kill = async () => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    // Its group: threads die with it, and so must the processes that it began.
    process.kill(-child.pid!, 'SIGKILL');
    await ended;
  };
  return {
    url,
    apiKey: created.api_key.key,
    dataDir,
    startsMs,
    start: async () => {
      const startedAt = performance.now();
      const args = ['serve', ...places, '--listen', listen];
      child = spawn(executable, args, { env, detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
      child.stderr!.setEncoding('utf8').on('data', (text: string) => (log = (log + text).slice(-LOG_CHARACTERS)));
      child.once('error', () => undefined);
      await healthy(url, child, startedAt);
      startsMs.push(Math.round(performance.now() - startedAt));
    },
    kill,
    stop: async () => {
      if (child === undefined || child.exitCode !== null) return child?.exitCode ?? null;
      const ended = once(child, 'exit').then(([code]) => code as number | null);
      child.kill('SIGTERM');
      const code = await Promise.race([ended, sleep(STOP_MS, 'late' as const)]);
      if (code !== 'late') return code;
      await kill();
      return null;
    },
    log: () => log,
  };
}

async function healthy(url: string, child: ChildProcess, startedAt: number): Promise<void> {
  for (;;) {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.status === 200) return;
    if (child.exitCode !== null || child.pid === undefined) throw new Error('The daemon ended before it was ready.');
    if (performance.now() - startedAt > READY_MS) throw new Error('The daemon was not ready within a minute.');
    await sleep(20);
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
