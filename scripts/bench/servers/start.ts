// Starts the compared servers, each in its own process, all in front of one scripted model server.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { DaemonProcess } from '../../../test/support/daemon/daemon-process.ts';
import { startDaemonProcess } from '../../../test/support/daemon/daemon-process.ts';
import { waitFor } from '../../../test/support/time/wait-for.ts';
import type { Target } from '../load.ts';

/** How long the event loop was blocked, in milliseconds; `maxBusyMs` in processor time of its thread. */
export interface LoopDelay {
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly maxBusyMs: number;
}

/** A running server and how to inspect it. */
export interface MeasuredServer {
  readonly target: Target;
  pid(): number;
  /** Watches the event loop while `work` runs. */
  loopDelay(work: () => Promise<void>): Promise<LoopDelay>;
  close(): Promise<void>;
}

const LOOP_DELAY = new URL('./loop-delay.mjs', import.meta.url).href;
const MODEL_SERVER = new URL('../../../test/support/model/model-server-main.ts', import.meta.url).href;
const PASS_THROUGH = new URL('./pass-through.ts', import.meta.url).href;
const FAN_OUT = new URL('./fan-out.ts', import.meta.url).href;
const HOOK_SINK = new URL('./hook-sink.ts', import.meta.url).href;
const BARE_SENDER = new URL('./bare-sender.ts', import.meta.url).href;
const FILE_SERVER = new URL('./file-server.ts', import.meta.url).href;
const KOA_SERVER = new URL('./koa-server.ts', import.meta.url).href;
const SDK_SERVER = new URL('./sdk-server.ts', import.meta.url).href;

/** The model server itself, which is behind every other server. */
export function startModel(scratch: string): Promise<MeasuredServer> {
  return startScript({ name: 'model server', script: MODEL_SERVER, args: [], path: '/v1/chat/completions', scratch });
}

/** A bare `node:http` server that forwards everything. */
export function startPassThrough(modelUrl: string, scratch: string): Promise<MeasuredServer> {
  return startScript({ name: 'pass-through', script: PASS_THROUGH, args: [modelUrl], path: '/', scratch });
}

/** A bare `node:http` server that sends events to all watchers. */
export function startFanOut(channels: number, everyMs: number, scratch: string): Promise<MeasuredServer> {
  const args = [String(channels), String(everyMs)];
  return startScript({ name: 'fan-out', script: FAN_OUT, args, path: '', scratch });
}

/** Receivers of webhooks. */
export function startHookSink(scratch: string): Promise<MeasuredServer> {
  return startScript({ name: 'hook sink', script: HOOK_SINK, args: [], path: '', scratch });
}

/** A bare loop over undici, which sends on request. */
export function startBareSender(scratch: string): Promise<MeasuredServer> {
  return startScript({ name: 'bare sender', script: BARE_SENDER, args: [], path: '', scratch });
}

/** A bare `node:http` server that sends the files of a folder. */
export function startFileServer(folder: string, scratch: string): Promise<MeasuredServer> {
  return startScript({ name: 'file server', script: FILE_SERVER, args: [folder], path: '', scratch });
}

/** A bare `node:http` server around the AI SDK's loop. */
export function startSdk(modelUrl: string, scratch: string): Promise<MeasuredServer> {
  return startScript({ name: 'AI SDK', script: SDK_SERVER, args: [modelUrl], path: '/', scratch });
}

/** A Koa handler that keeps each turn in SQLite. */
export function startKoa(modelUrl: string, scratch: string): Promise<MeasuredServer> {
  return startScript({ name: 'Koa + SQLite', script: KOA_SERVER, args: [modelUrl, scratch], path: '/', scratch });
}

interface ScriptStart {
  readonly name: string;
  readonly script: string;
  readonly args: readonly string[];
  readonly path: string;
  readonly scratch: string;
}

async function startScript({ name, script, args, path, scratch }: ScriptStart): Promise<MeasuredServer> {
  const loopFile = loopFileOf(name, scratch);
  const child = spawn(process.execPath, ['--import', LOOP_DELAY, fileURLToPath(script), ...args], {
    env: { ...process.env, NODE_ENV: 'production', BENCH_LOOP_FILE: loopFile },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const ended = once(child, 'exit');
  const [line] = (await Promise.race([
    once(createInterface(child.stdout), 'line'),
    ended.then(() => Promise.reject(new Error(`${name} ended before it was ready.`))),
  ])) as [string];
  const { url, pid } = JSON.parse(line) as { url: string; pid: number };
  return {
    target: { name, url: url + path, headers: {} },
    pid: () => pid,
    loopDelay: (work) => watchLoop(pid, loopFile, work),
    close: async () => {
      process.off('exit', kill);
      kill();
      await ended;
    },
  };
}

/**
 * Room for every stream of the widest case, on connections that all come from one address while those of the case before are
 * closing. Everything else stays at its default.
 */
export const ROOMY = `workers: { threads: 2, runs_per_thread: 128 }
limits: { connections_per_address: 1000 }
`;

/** Errand's own process and how to talk to it. */
export interface ErrandServer extends MeasuredServer {
  readonly daemon: DaemonProcess;
  /** Starts it again under another errand.yaml. */
  restartWith(errandYaml: string): Promise<void>;
}

/** Errand's real binary, with a key of scope `global`. */
export async function startErrand(
  modelUrl: string,
  scratch: string,
  errandYaml = ROOMY,
  name = 'errand',
): Promise<ErrandServer> {
  const loopFile = loopFileOf(name, scratch);
  const daemon = await startDaemonProcess({
    modelServerUrl: modelUrl,
    errandYaml,
    env: { NODE_OPTIONS: `--import=${LOOP_DELAY}`, BENCH_LOOP_FILE: loopFile },
  });
  const made = await daemon.admin('POST', '/api/v1/keys', { user: daemon.adminName, scope: 'global', name: 'bench' });
  const { key } = made as { key: string };
  return {
    daemon,
    target: {
      name,
      url: `${daemon.url}/openapi/v1/chat/completions`,
      headers: { authorization: `Bearer ${key}` },
    },
    pid: () => daemon.pid(),
    loopDelay: (work) => watchLoop(daemon.pid(), loopFile, work),
    restartWith: async (yaml) => {
      writeFileSync(join(daemon.configDir, 'errand.yaml'), yaml);
      await daemon.restart();
    },
    close: () => daemon.close(),
  };
}

const loopFileOf = (name: string, scratch: string): string => join(scratch, `${name.replaceAll(/\W/g, '-')}.loop.json`);

async function watchLoop(pid: number, file: string, work: () => Promise<void>): Promise<LoopDelay> {
  rmSync(file, { force: true });
  process.kill(pid, 'SIGUSR2');
  await work();
  process.kill(pid, 'SIGUSR2');
  const seen = await waitFor(() => existsSync(file) && readFileSync(file, 'utf8').trim(), { what: 'the loop figures' });
  return JSON.parse(seen) as LoopDelay;
}
