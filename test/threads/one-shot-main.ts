// A thread that does with its one task what the task says.
import { parentPort, workerData } from 'node:worker_threads';

export type Deed = 'answer' | 'hang' | 'spin' | 'eat' | 'eat-bytes' | 'throw' | 'exit';

const eaten: unknown[] = [];

const deeds: Readonly<Record<Deed, () => void>> = {
  answer: () => parentPort?.postMessage(`answer of ${process.env['NAME'] ?? 'the daemon'}`, []),
  hang: () => void setInterval(() => undefined, 1_000),
  spin: () => {
    for (;;);
  },
  eat: () => {
    for (;;) eaten.push(Array.from({ length: 10_000 }, (_, i) => ({ i })));
  },
  'eat-bytes': () => {
    eaten.push(Buffer.alloc(64 * 1_048_576, 'x'));
    deeds.hang();
  },
  throw: () => {
    throw new TypeError('the task is impossible');
  },
  exit: () => process.exit(3),
};

deeds[workerData as Deed]();
