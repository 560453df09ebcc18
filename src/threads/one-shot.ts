// Hosts threads that do one task each: a hostile or broken task costs only its thread.
import { type Transferable, Worker } from 'node:worker_threads';
import type { Clock } from '../domain/clock.ts';
import { heapLimits } from './heap-limits.ts';
import { failureOf, type ThreadEnd, type ThreadFailure } from './thread-end.ts';

export interface OneShotParts {
  readonly clock: Clock;
  /** Executed with the task as `workerData`. Its first message is the result. */
  readonly file: URL;
  /** V8 heap limit of one thread. */
  readonly memoryMb: number;
  /** Limit of the bytes outside the heap, which V8's limit doesn't count. */
  readonly maxExternalBytes?: number;
  readonly maxCpuMs?: number;
  /** The threads' environment; the daemon's own by default. */
  readonly env?: Readonly<Record<string, string>>;
  /** Concurrent threads. */
  readonly maxAtOnce: number;
  /** Tasks in progress and waiting; one more is `busy`. */
  readonly maxTasks?: number;
}

/** A task, and what is transferred to its thread. */
export interface Prepared<Task> {
  readonly task: Task;
  readonly transfer?: readonly Transferable[];
}

export interface OneShotLimits {
  /** Deadline of the thread itself, without the time that the task waits. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal;
}

export interface OneShotHost<Task, Result> {
  /**
   * Executes a task on its own thread. `prepare` is called when its turn has come; its rejection is passed on. Resolves once
   * the thread has ended.
   */
  run(prepare: () => Promise<Prepared<Task>>, limits: OneShotLimits): Promise<ThreadEnd<Result>>;
  /** Ends the threads; tasks in progress and new ones are `stopped`. */
  stop(): Promise<void>;
}

/** How often the use of a thread is compared with its limits. */
const LOOK_MS = 100;

export function makeOneShotHost<Task, Result>(parts: OneShotParts): OneShotHost<Task, Result> {
  const { maxAtOnce, maxTasks = Infinity } = parts;
  const stopping = new AbortController();
  const threads = new Set<Promise<unknown>>();
  const waiting: (() => void)[] = [];
  let inProgress = 0;

  async function takeTurn(): Promise<void> {
    inProgress += 1;
    if (inProgress > maxAtOnce) await new Promise<void>((resolve) => waiting.push(resolve));
  }

  function giveTurn(): void {
    inProgress -= 1;
    waiting.shift()?.();
  }

  function calledOff({ signal }: OneShotLimits): ThreadFailure | undefined {
    if (stopping.signal.aborted) return { kind: 'stopped' };
    return signal?.aborted === true ? { kind: 'cancelled' } : undefined;
  }

  async function runOnThread(prepared: Prepared<Task>, limits: OneShotLimits): Promise<ThreadEnd<Result>> {
    const worker = startThread(parts, prepared);
    if (worker instanceof Error) return { kind: 'not_started', error: worker };
    const thread = runThread<Result>(worker, { ...parts, ...limits, stopping: stopping.signal });
    threads.add(thread);
    try {
      return await thread;
    } finally {
      threads.delete(thread);
    }
  }

  return {
    run: async (prepare, limits) => {
      if (!stopping.signal.aborted && inProgress >= maxTasks) return { kind: 'busy' };
      await takeTurn();
      try {
        const before = calledOff(limits);
        if (before !== undefined) return before;
        const prepared = await prepare();
        return calledOff(limits) ?? (await runOnThread(prepared, limits));
      } finally {
        giveTurn();
      }
    },
    stop: async () => {
      stopping.abort();
      await Promise.all(threads);
    },
  };
}

/** Returns the error when the system refuses a thread, which Node.js throws rather than reports. */
function startThread<Task>(
  { file, memoryMb, env }: OneShotParts,
  { task, transfer = [] }: Prepared<Task>,
): Worker | Error {
  const options = { workerData: task, transferList: [...transfer], ...(env === undefined ? {} : { env }) };
  try {
    return new Worker(file, { ...options, resourceLimits: heapLimits(memoryMb) });
  } catch (error) {
    return error as Error;
  }
}

interface Limits extends OneShotLimits, Pick<OneShotParts, 'clock' | 'maxCpuMs' | 'maxExternalBytes'> {
  readonly stopping: AbortSignal;
}

async function runThread<Result>(worker: Worker, limits: Limits): Promise<ThreadEnd<Result>> {
  const { clock, deadlineMs, signal, stopping } = limits;
  const { promise, resolve: end } = Promise.withResolvers<ThreadEnd<Result>>();
  const cancel = () => end({ kind: 'cancelled' });
  const stop = () => end({ kind: 'stopped' });
  worker.once('message', (value: Result) => end({ kind: 'done', value }));
  worker.on('messageerror', (error) => end({ kind: 'crashed', error }));
  worker.on('error', (error) => end(failureOf(error as NodeJS.ErrnoException)));
  worker.once('exit', () => end({ kind: 'crashed' }));
  signal?.addEventListener('abort', cancel);
  stopping.addEventListener('abort', stop);
  const timer = clock.after(deadlineMs, () => end({ kind: 'timeout' }));
  const watch = setInterval(() => void look(worker, limits, end), LOOK_MS);
  try {
    return await promise;
  } finally {
    timer.cancel();
    clearInterval(watch);
    signal?.removeEventListener('abort', cancel);
    stopping.removeEventListener('abort', stop);
    await worker.terminate();
  }
}

/** Ends a thread that has exceeded a limit. One that has just ended does not respond. */
async function look(
  worker: Worker,
  { maxCpuMs = Infinity, maxExternalBytes = Infinity }: Limits,
  end: (failure: ThreadEnd<never>) => void,
): Promise<void> {
  const [heap, cpu] = await Promise.allSettled([worker.getHeapStatistics(), worker.cpuUsage()]);
  if (heap.status === 'fulfilled' && heap.value.external_memory > maxExternalBytes) end({ kind: 'out_of_memory' });
  if (cpu.status === 'fulfilled' && cpu.value.user + cpu.value.system > maxCpuMs * 1_000) end({ kind: 'timeout' });
}
