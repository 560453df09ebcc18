// Executes one task on a thread of its own. Where others chose the bytes, the thread is in a process of its own, see `in-process.ts`.
import { type Transferable, Worker } from 'node:worker_threads';
import { heapLimits } from './heap-limits.ts';
import type { Start } from './one-shot.ts';
import { failureOf } from './task-end.ts';

export interface ThreadParts<Task> {
  /** Executed with the task as `workerData`. Its first message is the result. */
  readonly file: URL;
  readonly heapMb: number;
  /** What of the task is moved to the thread rather than copied. */
  transfer?(task: Task): readonly Transferable[];
}

/** Starts threads. One that ends without an answer has crashed. */
export function onThread<Task>({ file, heapMb, transfer }: ThreadParts<Task>): Start<Task> {
  return (task, end) => {
    const transferList = [...(transfer?.(task) ?? [])];
    const thread = new Worker(file, { workerData: task, transferList, resourceLimits: heapLimits(heapMb) });
    thread.once('message', (value: unknown) => end({ kind: 'done', value }));
    thread.on('messageerror', (error) => end({ kind: 'crashed', error }));
    thread.on('error', (error) => end(failureOf(error as NodeJS.ErrnoException)));
    thread.once('exit', (code) =>
      end({ kind: 'crashed', error: new Error(`it exited with ${code}, without an answer`) }),
    );
    return thread;
  };
}
