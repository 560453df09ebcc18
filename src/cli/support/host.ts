// Facts of the machine and of the service, from the programs that know them; what isn't there says so.
import { execFile } from 'node:child_process';
import { readFileSync, statfsSync } from 'node:fs';
import { availableParallelism, freemem, loadavg, release, totalmem, uptime } from 'node:os';
import type { Environment } from '../../config/environment.ts';
import { MB } from '../../domain/byte-units.ts';

/** Runs a program and returns what it prints. Rejects when it isn't there, or takes too long. */
export type RunProgram = (command: string, args: readonly string[]) => Promise<string>;

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 4 * MB;
const UNIT = 'errand.service';

/** Runs a program with limits. A program that fails still has its output: that is what one wants to read. */
export const runProgram: RunProgram = (command, args) =>
  new Promise((resolve, reject) => {
    execFile(command, [...args], { timeout: TIMEOUT_MS, maxBuffer: MAX_BYTES }, (error, stdout, stderr) => {
      const said = `${stdout}${stderr}`;
      if (error === null || said !== '') resolve(said);
      else reject(error);
    });
  });

/** The machine, as far as the daemon depends on it. */
export function machineFacts(dataDir: string, environment: Environment): object {
  return {
    system: first('/etc/os-release', /^PRETTY_NAME="?([^"\n]*)/m),
    kernel: release(),
    architecture: process.arch,
    node_version: process.versions.node,
    processors: availableParallelism(),
    load: loadavg(),
    uptime_seconds: Math.round(uptime()),
    memory: { total_bytes: totalmem(), free_bytes: freemem() },
    data_disk: diskOf(dataDir),
    open_files: first('/proc/self/limits', /^Max open files +(\S+ +\S+)/m),
    user_namespaces: first('/proc/sys/user/max_user_namespaces', /(\d+)/),
    // Their values may be secret.
    environment: Object.keys(environment)
      .filter((name) =>
        /^(ERRAND_|OPENAPI_|MAX_UPLOAD|NODE_|(STATE|RUNTIME|CONFIGURATION|CREDENTIALS)_DIRECTORY)/.test(name),
      )
      .sort(),
  };
}

/** Null when the directory can't be reached. */
function diskOf(directory: string): object | null {
  try {
    const { bavail, bsize, blocks, type } = statfsSync(directory);
    return { free_bytes: bavail * bsize, total_bytes: blocks * bsize, type: type.toString(16) };
  } catch {
    return null;
  }
}

function first(file: string, pattern: RegExp): string | null {
  try {
    return pattern.exec(readFileSync(file, 'utf8'))?.[1] ?? null;
  } catch {
    return null;
  }
}

/** The unit with its drop-ins, its state, and what systemd says of it. */
export async function unitFacts(run: RunProgram): Promise<string> {
  const asked: readonly (readonly [string, ...string[]])[] = [
    ['systemctl', 'cat', UNIT],
    [
      'systemctl',
      'show',
      UNIT,
      '--property=ActiveState,SubState,NRestarts,MemoryCurrent,MemoryPeak,TasksCurrent,ExecMainStatus',
    ],
    ['systemd-analyze', 'verify', UNIT],
  ];
  const answers = await Promise.all(asked.map(async ([command, ...args]) => answerOf(run, command, args)));
  return answers.join('\n');
}

async function answerOf(run: RunProgram, command: string, args: readonly string[]): Promise<string> {
  const said = await run(command, args).catch((error: NodeJS.ErrnoException) =>
    error.code === 'ENOENT' ? `${command} is not installed here.\n` : `${error.message}\n`,
  );
  return `$ ${[command, ...args].join(' ')}\n${said || 'It says nothing.\n'}`;
}

/** Recent lines of the service's log in the journal. */
export function journalLines(run: RunProgram, count: number): Promise<string> {
  return run('journalctl', ['--unit', UNIT, '--lines', String(count), '--no-pager', '--output', 'short-iso']);
}
