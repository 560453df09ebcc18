// Hosts tasks that each have a thread or a process of their own: a hostile or broken task costs only that.
import type { Clock } from '../domain/clock.ts';
import type { TaskEnd, TaskFailure } from './task-end.ts';

/** What executes one task. */
export interface Executor {
  /** Ends it at once. Resolves when it has ended. */
  terminate(): Promise<unknown>;
}

/**
 * Starts what executes a task: `onThread` or `inProcess`. Calls `end` when the task ends; the first call counts. Throws when the
 * system refuses it.
 */
export type Start<Task> = (task: Task, end: (end: TaskEnd<unknown>) => void) => Executor;

export interface OneShotParts<Task> {
  readonly clock: Clock;
  readonly start: Start<Task>;
  /** Tasks in progress. */
  readonly maxAtOnce: number;
  /** Tasks in progress and waiting; one more is `busy`. */
  readonly maxTasks?: number;
}

export interface OneShotLimits {
  /** Deadline of the task itself, without the time that it waits. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal;
}

export interface OneShotHost<Task, Result> {
  /**
   * Executes a task. `prepare` is called when its turn has come; its rejection is passed on. Resolves once what executed the
   * task has ended.
   */
  run(prepare: () => Promise<Task>, limits: OneShotLimits): Promise<TaskEnd<Result>>;
  /** Ends what executes tasks; those in progress and new ones are `stopped`. */
  stop(): Promise<void>;
}

export function makeOneShotHost<Task, Result>(parts: OneShotParts<Task>): OneShotHost<Task, Result> {
  const { maxAtOnce, maxTasks = Infinity } = parts;
  const stopping = new AbortController();
  const executing = new Set<Promise<unknown>>();
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

  function calledOff({ signal }: OneShotLimits): TaskFailure | undefined {
    if (stopping.signal.aborted) return { kind: 'stopped' };
    return signal?.aborted === true ? { kind: 'cancelled' } : undefined;
  }

  async function executeTracked(task: Task, limits: OneShotLimits): Promise<TaskEnd<Result>> {
    const execution = execute<Task, Result>(task, { ...parts, ...limits, stopping: stopping.signal });
    executing.add(execution);
    try {
      return await execution;
    } finally {
      executing.delete(execution);
    }
  }

  return {
    run: async (prepare, limits) => {
      if (!stopping.signal.aborted && inProgress >= maxTasks) return { kind: 'busy' };
      await takeTurn();
      try {
        const before = calledOff(limits);
        if (before !== undefined) return before;
        const task = await prepare();
        return calledOff(limits) ?? (await executeTracked(task, limits));
      } finally {
        giveTurn();
      }
    },
    stop: async () => {
      stopping.abort();
      await Promise.all(executing);
    },
  };
}

interface Execution<Task> extends OneShotLimits, Pick<OneShotParts<Task>, 'clock' | 'start'> {
  readonly stopping: AbortSignal;
}

async function execute<Task, Result>(task: Task, execution: Execution<Task>): Promise<TaskEnd<Result>> {
  const { clock, start, deadlineMs, signal, stopping } = execution;
  const { promise, resolve } = Promise.withResolvers<TaskEnd<Result>>();
  const end = (how: TaskEnd<unknown>) => resolve(how as TaskEnd<Result>);
  const cancel = () => end({ kind: 'cancelled' });
  const stop = () => end({ kind: 'stopped' });
  let executor: Executor;
  try {
    executor = start(task, end);
  } catch (error) {
    return { kind: 'not_started', error: error as Error };
  }
  signal?.addEventListener('abort', cancel);
  stopping.addEventListener('abort', stop);
  const timer = clock.after(deadlineMs, () => end({ kind: 'timeout' }));
  try {
    return await promise;
  } finally {
    timer.cancel();
    signal?.removeEventListener('abort', cancel);
    stopping.removeEventListener('abort', stop);
    await executor.terminate();
  }
}
