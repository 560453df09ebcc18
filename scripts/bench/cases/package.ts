// How fast the single executable starts, and what it needs at rest, against the program of the checkout.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { pause, quantile } from '../load.ts';
import { cpuMsOf, memoryMbOf } from '../process-figures.ts';
import type { Figures } from './scale.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const STARTS = 5;
const LOOK_MS = 5;
const REST_MS = 5_000;

interface Form {
  readonly name: 'packaged' | 'checkout';
  readonly argv: readonly string[];
}

/** Measures what `npm run package` has made; nothing when it has made none. */
export async function measurePackage(scratch: string, say: (text: string) => void): Promise<Figures> {
  const executable = globSync(`packages/errand-*-linux-${process.arch}`, { cwd: ROOT }).sort().at(-1);
  if (executable === undefined) {
    say(`no executable in packages/: npm run package -- ${process.arch}`);
    return {};
  }
  const forms: readonly Form[] = [
    { name: 'packaged', argv: [join(ROOT, executable)] },
    { name: 'checkout', argv: [process.execPath, join(ROOT, 'dist/main.js')] },
  ];
  const figures: Record<string, number> = {};
  for (const form of forms) Object.assign(figures, await measureForm(form, scratch));
  return figures;
}

async function measureForm({ name, argv }: Form, scratch: string): Promise<Figures> {
  const directory = mkdtempSync(join(scratch, 'package-'));
  const times: number[] = [];
  const cpu: number[] = [];
  let restMb = 0;
  try {
    // The first start also makes the data directory, and unpacks the program.
    for (let count = 0; count <= STARTS; count += 1) {
      const started = await start(argv, directory);
      times.push(started.readyMs);
      cpu.push(started.cpuMs);
      if (count === STARTS) {
        await pause(REST_MS);
        restMb = memoryMbOf(started.child.pid!, 'VmRSS');
      }
      const ended = once(started.child, 'exit');
      started.child.kill('SIGTERM');
      await ended;
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  const [first = 0, ...others] = times;
  return {
    [`${name}FirstMs`]: first,
    [`${name}StartMs`]: quantile(others, 0.5),
    [`${name}StartCpuMs`]: quantile(cpu.slice(1), 0.5),
    [`${name}RestMb`]: restMb,
  };
}

interface Started {
  readonly child: ChildProcess;
  readonly readyMs: number;
  /** Processor time until then. */
  readonly cpuMs: number;
}

async function start(argv: readonly string[], directory: string): Promise<Started> {
  const [program = '', ...args] = argv;
  const began = performance.now();
  const child = spawn(program, [...args, 'serve', '--data-dir', join(directory, 'data'), '--listen', '127.0.0.1:0'], {
    env: { PATH: process.env['PATH'], HOME: directory, NODE_ENV: 'production' },
    stdio: 'ignore',
  });
  while (!(await isReady(join(directory, 'data/errand.sock')))) {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode} before it was ready.`);
    await pause(LOOK_MS);
  }
  return { child, readyMs: performance.now() - began, cpuMs: cpuMsOf(child.pid!) };
}

function isReady(socketPath: string): Promise<boolean> {
  if (!existsSync(socketPath)) return Promise.resolve(false);
  return new Promise((resolve) => {
    request({ socketPath, path: '/readyz' }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    })
      .on('error', () => resolve(false))
      .end();
  });
}
