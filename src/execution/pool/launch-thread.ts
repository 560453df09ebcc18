// Starts a worker thread, by a pool of Piscina of its own with one task, which lasts as long as the thread.
//
// Piscina gives one task to each run, and one pool to all threads. Neither fits:
// - A task for each run costs each a port and an answer, which both threads pay for; all runs of a thread share its port instead.
// - A pool keeps the tasks of threads that die while they start, or that the system refuses, and would give them to others, or to nobody.
import { Piscina } from 'piscina';
import type { ThreadTask } from '../../agent/port/protocol.ts';
import { messageOf } from '../../domain/errors.ts';
import { heapLimits } from '../../workers/heap-limits.ts';
import { workerFile } from '../../workers/worker-file.ts';

const WORKER_FILE = workerFile('../../agent/worker.ts', import.meta.url);

export interface Launch {
  readonly task: ThreadTask;
  /** V8 heap limit of the thread. */
  readonly memoryMb: number;
  /** Called with an error of the thread while it doesn't have its task. */
  failed(error: unknown): void;
  /** Called when the thread is gone, perhaps more than once. */
  lost(why: string): void;
  /** Called when there is no thread, also when it is gone. */
  refused(why: string): void;
}

/** Starts the thread. Undefined when the system refuses it, which the pool throws rather than reports. */
export function launchThread({ task, memoryMb, failed, lost, refused }: Launch): Piscina<ThreadTask, void> | undefined {
  const pool = new Piscina<ThreadTask, void>({
    filename: WORKER_FILE.href,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: 0,
    // The default lets an idle thread sleep on a lock, which would also stop its timers and sockets.
    atomics: 'disabled',
    recordTiming: false,
    resourceLimits: heapLimits(memoryMb),
  });
  let fault = 'its worker thread did not start';
  // Without a listener it would end the daemon.
  pool.on('error', (error: unknown) => {
    fault = messageOf(error);
    failed(error);
  });
  // The task of a thread that had started rejects meanwhile. One that had not has read nothing of its runs: the system lacked memory or
  // descriptors for it, which it reports in different ways.
  pool.on('workerDestroy', () => setImmediate(() => refused(fault)));
  try {
    pool.run(task, { transferList: [task.port] }).then(
      () => lost('it ended'),
      (error: unknown) => lost(messageOf(error)),
    );
    return pool;
  } catch (error) {
    // Without the pool, which would reject the task when it is ended, with nobody to hear of it.
    refused(messageOf(error));
    return undefined;
  }
}
