// A daemon, as far as its process of one task can tell: starts it, and writes its pid.
import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import { inProcess } from '../../src/workers/in-process.ts';
import type { Deed } from './deeds.ts';

const { spawn } = childProcess;
childProcess.spawn = ((...args: Parameters<typeof spawn>) => {
  const child = spawn(...args);
  setTimeout(() => process.stdout.write(`${child.pid}`), 500);
  return child;
}) as typeof spawn;
syncBuiltinESMExports();

const file = new URL('in-process-main.ts', import.meta.url);
const start = inProcess<Deed>({ file, heapMb: 64, memoryMb: 256, maxCpuSeconds: 3 });
start({ task: process.argv[2] as Deed, bytes: new Uint8Array() }, () => undefined);
