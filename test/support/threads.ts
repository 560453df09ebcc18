// Threads that the system refuses, or that are started otherwise than asked for.
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
