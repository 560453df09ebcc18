// The side of the process that executes one task, see `in-process.ts`.
import { once } from 'node:events';
import process from 'node:process';
import { buffer } from 'node:stream/consumers';
import type { ProcessAnswer } from './in-process.ts';

/** Does the task that this process was started for, and answers with the result, or with what was thrown. */
export async function doTask<Task, Result>(
  work: (task: Task, bytes: Uint8Array<ArrayBuffer>) => Promise<Result>,
): Promise<void> {
  const [[{ task }], bytes] = await Promise.all([
    once(process, 'message') as Promise<[{ readonly task: Task }]>,
    buffer(process.stdin),
  ]);
  answer(
    await work(task, bytes).then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    ),
  );
}

function answer(said: ProcessAnswer): void {
  process.send?.(said, () => process.disconnect());
}
