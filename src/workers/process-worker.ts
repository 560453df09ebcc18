// The first code of a process with one task, see `in-process.ts`: has the task done on a thread, so that it can watch it, and answers
// with how it ended.
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import process from 'node:process';
import { arrayBuffer } from 'node:stream/consumers';
import { MB } from '../domain/byte-units.ts';
import { BEGUN, type ProcessOrder, type ProcessTask } from './in-process.ts';
import { onThread } from './on-thread.ts';
import type { TaskEnd } from './task-end.ts';

/** How often its use is compared with the limits. */
const LOOK_MS = 100;

// The daemon is gone, or has its answer.
process.once('disconnect', () => process.exit());
preferredByKernel();
const [[order], bytes] = await Promise.all([
  once(process, 'message') as Promise<[ProcessOrder]>,
  arrayBuffer(process.stdin),
]);
process.send?.(BEGUN);
const end = await execute(order, bytes);
process.send?.(end.kind === 'done' ? { ...end, cpuMs: cpuMs() } : sendable(end), () => process.disconnect());

/** When memory is short, the kernel ends this process before the daemon. */
function preferredByKernel(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // Another kernel chooses by itself.
  }
}

function execute({ file, heapMb, task, ...limits }: ProcessOrder, bytes: ArrayBuffer): Promise<TaskEnd<unknown>> {
  return new Promise((resolve) => {
    const start = onThread<ProcessTask<unknown>>({ file: new URL(file), heapMb, transfer: () => [bytes] });
    start({ task, bytes: new Uint8Array(bytes) }, resolve);
    setInterval(() => look(limits, resolve), LOOK_MS);
  });
}

/** An error of a thread is no error for the channel, which would leave out what it says. */
function sendable(end: TaskEnd<unknown>): TaskEnd<unknown> {
  if (!('error' in end)) return end;
  const { name, message, stack } = end.error;
  return { ...end, error: Object.assign(new Error(message), { name, stack }) };
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function look(
  { memoryMb, maxCpuMs }: Pick<ProcessOrder, 'memoryMb' | 'maxCpuMs'>,
  end: (how: TaskEnd<never>) => void,
): void {
  if (cpuMs() > maxCpuMs) end({ kind: 'out_of_time' });
  if (process.memoryUsage.rss() > memoryMb * MB)
    end({ kind: 'out_of_memory', error: new Error(`it used more than ${memoryMb} MB`) });
}
