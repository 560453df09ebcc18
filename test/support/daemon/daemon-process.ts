// Runs the real binary on a data directory of its own: started, crashed, restarted and cleaned up as a test needs.
import type { ChildProcess } from 'node:child_process';
import { execFile, spawn } from 'node:child_process';
import { copyFileSync, cpSync, lstatSync, mkdirSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../http/free-port.ts';
import { isAlive } from '../is-alive.ts';
import { isPostgres } from '../postgres/shared-cluster.ts';
import { BINARY, type Created, databaseOf, initialized } from './initialized.ts';

const READY_TIMEOUT_MS = 120_000;
const TAIL_CHARACTERS = 1_000_000;

export interface DaemonOptions {
  /** Base address of a model server, without `/v1`: writes a models.yaml with the one model `scripted` on it. */
  readonly modelServerUrl?: string;
  /** Wire protocol of `modelServerUrl`; `openai` when absent. */
  readonly modelKind?: 'openai' | 'anthropic';
  /** Whole text of models.yaml, in place of the two above. Without any the daemon keeps what `init` wrote. */
  readonly modelsYaml?: string;
  /** Whole text of errand.yaml. */
  readonly errandYaml?: string;
  /** More environment of the daemon; no `ERRAND_` variable of the tests' own environment reaches it. */
  readonly env?: Readonly<Record<string, string>>;
  /** More arguments of `errand serve`. */
  readonly args?: readonly string[];
  readonly adminName?: string;
  /** Address of a PostgreSQL database for its rows. When absent, one of the tests' server where they run on that engine. */
  readonly database?: string;
  /** A daemon whose installation it joins, with the master key in a data directory of its own; name its database and its bucket, too. */
  readonly joins?: Pick<DaemonProcess, 'dataDir' | 'apiKey' | 'adminUserId' | 'adminName' | 'adminPassword'>;
  /** A daemon whose data directory it has a copy of, as it is now; name what the other one's environment had, too. */
  readonly copies?: DaemonOptions['joins'];
  /** Directory that its own directory is made in; the system's for temporary files when absent. */
  readonly within?: string;
}

/** How a daemon's process ended. */
interface DaemonExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A daemon in its own process. What changes with a restart is read through functions. */
export interface DaemonProcess {
  readonly url: string;
  readonly dataDir: string;
  readonly configDir: string;
  readonly socketPath: string;
  /** Secret of the key that `init` made, of scope `admin`. */
  readonly apiKey: string;
  readonly adminUserId: string;
  readonly adminName: string;
  readonly adminPassword: string;
  pid(): number;
  /** Milliseconds from spawn to the first 200 of /healthz, at the last start. */
  startMs(): number;
  /** What all starts wrote on standard error; only the end when it is long. */
  stderr(): string;
  stdout(): string;
  /** Stops reading the running process's standard error, or continues. */
  readStderr(reads: boolean): void;
  /** Calls the management API as the first administrator and answers `data`; throws on any other status than 2xx. */
  admin(method: string, path: string, body?: object): Promise<unknown>;
  /** Signals the daemon and waits for its end; SIGTERM when no signal is given. */
  stop(signal?: NodeJS.Signals): Promise<DaemonExit>;
  /** SIGKILL to the daemon alone, as a crash. */
  kill(): Promise<DaemonExit>;
  /** Starts again on the same directories and address, as another program from then on if one is named; stops first when still running. */
  restart(options?: { env?: Readonly<Record<string, string>>; program?: string }): Promise<void>;
  /** Resolves when the running process ends by itself. */
  exited(): Promise<DaemonExit>;
  /** Kills the daemon with all its children and removes its directory. */
  close(): Promise<void>;
}

interface Life {
  child: ChildProcess;
  readonly exit: Promise<DaemonExit>;
  readonly startMs: number;
}

/** The end of what a process wrote. */
interface Tail {
  add(text: string): void;
  read(): string;
}

interface Output {
  readonly stdout: Tail;
  readonly stderr: Tail;
}

function makeTail(): Tail {
  let chunks: string[] = [];
  let size = 0;
  return {
    add: (text) => {
      chunks.push(text);
      size += text.length;
      // Cut only now and then: a daemon under load writes many small chunks.
      if (size > 2 * TAIL_CHARACTERS) chunks = [chunks.join('').slice(-TAIL_CHARACTERS)];
      if (chunks.length === 1) size = chunks[0]?.length ?? 0;
    },
    read: () => chunks.join(''),
  };
}

const living = new Set<ChildProcess>();
// The last resort when a test run is interrupted: nothing asynchronous runs any more.
process.once('exit', () => {
  for (const child of living) killGroup(child);
});

/** Runs the binary once and answers what it printed; rejects on any exit code but 0, with its standard error. */
export async function runErrand(
  args: readonly string[],
  options: { env?: Readonly<Record<string, string>> } = {},
): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)(BINARY, args, { env: environment(options.env ?? {}), maxBuffer: 64 * 1024 * 1024 });
}

/** Makes an initialised data directory, writes the given configuration, and starts `errand serve` on it. */
export async function startDaemonProcess(options: DaemonOptions = {}): Promise<DaemonProcess> {
  const root = await mkdtemp(join(options.within ?? tmpdir(), 'errand-test-'));
  try {
    return await startIn(root, options);
  } catch (error) {
    await rm(root, { recursive: true, force: true });
    throw error;
  }
}

async function startIn(root: string, options: DaemonOptions): Promise<DaemonProcess> {
  const dataDir = join(root, 'data');
  const configDir = join(dataDir, 'config');
  const { joins, copies } = options;
  const other = joins ?? copies;
  const created = other === undefined ? initialized(dataDir, options) : createdBy(other);
  if (joins !== undefined) joining(dataDir, joins);
  if (copies !== undefined) cpSync(copies.dataDir, dataDir, { recursive: true, filter: isNoSocket });
  const database = options.database ?? (isPostgres ? databaseOf((other ?? { dataDir }).dataDir) : undefined);
  const own = { ...(database !== undefined && { ERRAND_DATABASE: database }), ...options.env };
  await writeConfiguration(configDir, options);
  const listen = `127.0.0.1:${await freePort()}`;
  const url = `http://${listen}`;
  const output: Output = { stdout: makeTail(), stderr: makeTail() };
  const args = ['serve', '--data-dir', dataDir, '--listen', listen, ...(options.args ?? [])];
  let program = BINARY;
  const start = (env: Readonly<Record<string, string>>): Promise<Life> =>
    startLife({ program, args, url, output, env: { ...own, ...env } });
  let life = await start({});

  const stop = async (signal: NodeJS.Signals): Promise<DaemonExit> => {
    life.child.kill(signal);
    return life.exit;
  };
  return {
    url,
    dataDir,
    configDir,
    socketPath: join(dataDir, 'errand.sock'),
    apiKey: created.api_key.key,
    adminUserId: created.admin.user_id,
    adminName: created.admin.username,
    adminPassword: created.admin.password,
    pid: () => life.child.pid ?? 0,
    startMs: () => life.startMs,
    stderr: () => output.stderr.read(),
    stdout: () => output.stdout.read(),
    readStderr: (reads) => void (reads ? life.child.stderr?.resume() : life.child.stderr?.pause()),
    admin: (method, path, body) =>
      callAdmin({ url, key: created.api_key.key }, method, path, body).catch(async (error: unknown) => {
        if (living.has(life.child)) throw error;
        // One that was killed, as where memory runs out, has said nothing.
        const how = wordsOf(await life.exit);
        throw new Error(`the daemon has ${how}:\n${output.stderr.read().slice(-4_000)}`, { cause: error });
      }),
    stop: (signal = 'SIGTERM') => stop(signal),
    kill: () => stop('SIGKILL'),
    restart: async ({ env = {}, program: named = program } = {}) => {
      program = named;
      if (living.has(life.child)) await stop('SIGTERM');
      life = await start(env);
    },
    exited: () => life.exit,
    close: async () => {
      killGroup(life.child);
      await life.exit;
      await rm(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** A data directory with the master key of another one alone. */
function joining(dataDir: string, joins: NonNullable<DaemonOptions['joins']>): void {
  mkdirSync(join(dataDir, 'config'), { recursive: true, mode: 0o700 });
  copyFileSync(join(joins.dataDir, 'master.key'), join(dataDir, 'master.key'));
}

const isNoSocket = (path: string) => !lstatSync(path).isSocket();

/** What is known of an installation by one of its daemons. */
const createdBy = (daemon: NonNullable<DaemonOptions['joins']>): Created => ({
  admin: { user_id: daemon.adminUserId, username: daemon.adminName, password: daemon.adminPassword },
  api_key: { key: daemon.apiKey },
});

async function writeConfiguration(configDir: string, options: DaemonOptions): Promise<void> {
  const { modelServerUrl, modelKind = 'openai' } = options;
  const models =
    options.modelsYaml ?? (modelServerUrl === undefined ? null : scriptedModels(modelServerUrl, modelKind));
  if (models !== null) await writeFile(join(configDir, 'models.yaml'), models);
  if (options.errandYaml !== undefined) await writeFile(join(configDir, 'errand.yaml'), options.errandYaml);
}

/** A models.yaml with the one model `scripted`. */
function scriptedModels(url: string, kind: 'openai' | 'anthropic'): string {
  return [
    'endpoints:',
    `  scripted: { kind: ${kind}, base_url: "${url}/v1" }`,
    'models:',
    '  scripted: { endpoint: scripted, model: scripted, context_window: 128000, max_output_tokens: 4096 }',
    'scenarios:',
    '  general: { model: scripted }',
    'default_scenario: general',
    '',
  ].join('\n');
}

interface Start {
  readonly program: string;
  readonly args: readonly string[];
  readonly url: string;
  readonly output: Output;
  readonly env: Readonly<Record<string, string>>;
}

async function startLife({ program, args, url, output, env }: Start): Promise<Life> {
  const startedAt = performance.now();
  // A group of its own, so that cleaning up reaches every process the daemon began.
  const child = spawn(program, args, { env: environment(env), detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  living.add(child);
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => output[name].add(text));
  }
  const exit = new Promise<DaemonExit>((resolve) => {
    child.once('close', (code, signal) => {
      living.delete(child);
      resolve({ code, signal });
    });
  });
  try {
    await healthy(url, exit);
  } catch (error) {
    killGroup(child);
    await exit;
    const message = `errand ${args.join(' ')} did not get ready: ${String(error)}`;
    throw new Error(`${message}\n${output.stderr.read().slice(-4_000)}`, { cause: error });
  }
  return { child, exit, startMs: performance.now() - startedAt };
}

async function healthy(url: string, exit: Promise<DaemonExit>): Promise<void> {
  let ended: DaemonExit | undefined;
  void exit.then((how) => (ended = how));
  const begin = performance.now();
  for (;;) {
    // A connection that is kept would be taken by a later request, perhaps as the daemon closes it.
    const asked = { headers: { connection: 'close' }, signal: AbortSignal.timeout(5_000) };
    const response = await fetch(`${url}/healthz`, asked).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.status === 200) return;
    if (ended !== undefined) throw new Error(`it ${wordsOf(ended)}`);
    const waitedMs = performance.now() - begin;
    if (waitedMs > READY_TIMEOUT_MS) throw new Error(`no 200 of /healthz within ${READY_TIMEOUT_MS} ms`);
    // To look takes of the processor what the start needs.
    await new Promise((resolve) => setTimeout(resolve, Math.max(10, Math.min(50, waitedMs / 20))));
  }
}

const wordsOf = ({ code, signal }: DaemonExit) => `ended with ${signal ?? `code ${code}`}`;

interface ApiTarget {
  readonly url: string;
  readonly key: string;
}

async function callAdmin(target: ApiTarget, method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(target.url + path, {
    method,
    // A connection that is kept may be one to the process before, or be closed at the moment of the request.
    headers: { authorization: `Bearer ${target.key}`, 'content-type': 'application/json', connection: 'close' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return (JSON.parse(text) as { data: unknown }).data;
}

/** The tests' own environment without anything that would configure a daemon. */
function environment(more: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const configures =
    /^(ERRAND_|STATE_DIRECTORY$|RUNTIME_DIRECTORY$|CREDENTIALS_DIRECTORY$|CONFIGURATION_DIRECTORY$|NODE_OPTIONS$|VITEST|MAX_UPLOAD_SIZE_MB$|OPENAPI_LOGIN_TOKEN_TTL_SECONDS$)/;
  const own = Object.entries(process.env).filter(([name]) => name === 'ERRAND_NODE' || !configures.test(name));
  return { ...Object.fromEntries(own), NODE_ENV: 'production', ...more };
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  // What has its number after its end is another test's.
  if (!living.has(child) && isAlive(child.pid)) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group has already ended.
  }
}
