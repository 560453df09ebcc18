// Threads and processes that the system refuses, or that are started otherwise than asked for.
import type childProcess from 'node:child_process';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import type { Worker } from 'node:worker_threads';
import { onTestFinished } from 'vitest';

export type WorkerClass = typeof Worker;
type WorkerArguments = ConstructorParameters<WorkerClass>;

const threadModule = createRequire(import.meta.url)('node:worker_threads') as { Worker: WorkerClass };

/** Makes every thread from now on one of this class, until the test ends or the result is called. */
export function replaceThreads(make: (real: WorkerClass) => WorkerClass): () => void {
  const real = threadModule.Worker;
  const set = (made: WorkerClass) => {
    threadModule.Worker = made;
    syncBuiltinESMExports();
  };
  set(make(real));
  const restore = () => set(real);
  onTestFinished(restore);
  return restore;
}

export const REFUSAL = 'Worker initialization failure: EAGAIN';

/** Refuses every thread from now on, as the system does at its limit, until the test ends or the result is called. */
export function refuseThreads(): () => void {
  return replaceThreads(
    (real) =>
      class extends real {
        constructor(...args: WorkerArguments) {
          if (args.length > 0) throw new Error(REFUSAL);
          super(...args);
        }
      },
  );
}

const processModule = createRequire(import.meta.url)('node:child_process') as { spawn: typeof childProcess.spawn };

/** Makes every process from now on one of a program that isn't there, until the test ends or the result is called. */
export function refuseProcesses(): () => void {
  const { spawn } = processModule;
  const set = (made: typeof spawn) => {
    processModule.spawn = made;
    syncBuiltinESMExports();
  };
  set(((_: string, ...rest: [readonly string[], childProcess.SpawnOptions]) =>
    spawn('/nowhere/program', ...rest)) as typeof spawn);
  const restore = () => set(spawn);
  onTestFinished(restore);
  return restore;
}
