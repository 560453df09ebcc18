// A daemon, as far as its process of one task can tell: starts it, and writes its pid once the task has begun.
import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import { BEGUN, inProcess } from '../../src/workers/in-process.ts';
import type { Deed } from './deeds.ts';

const { spawn } = childProcess;
childProcess.spawn = ((...args: Parameters<typeof spawn>) => {
  const child = spawn(...args);
  child.on('message', (said) => {
    if (said === BEGUN) process.stdout.write(`${child.pid}`);
  });
  return child;
}) as typeof spawn;
syncBuiltinESMExports();

const file = new URL('in-process-main.ts', import.meta.url);
const start = inProcess<Deed>({ file, heapMb: 64, memoryMb: 512, maxCpuMs: 60_000 });
start({ task: process.argv[2] as Deed, bytes: new Uint8Array() }, () => undefined);
