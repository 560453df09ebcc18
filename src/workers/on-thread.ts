// Executes one task on a thread of its own: for what Errand and its administrators wrote, since V8 can end the whole process with it.
import { Worker } from 'node:worker_threads';
import { heapLimits } from './heap-limits.ts';
import type { Start } from './one-shot.ts';
import { failureOf } from './task-end.ts';

export interface ThreadParts {
  /** Executed with the task as `workerData`. Its first message is the result. */
  readonly file: URL;
  /** V8 heap limit, see `heapLimits`. */
  readonly memoryMb: number;
}

export function onThread<Task>({ file, memoryMb }: ThreadParts): Start<Task> {
  return (task, end) => {
    const thread = new Worker(file, { workerData: task, resourceLimits: heapLimits(memoryMb) });
    thread.once('message', (value: unknown) => end({ kind: 'done', value }));
    thread.on('messageerror', (error) => end({ kind: 'crashed', error }));
    thread.on('error', (error) => end(failureOf(error as NodeJS.ErrnoException)));
    thread.once('exit', () => end({ kind: 'crashed' }));
    return thread;
  };
}
