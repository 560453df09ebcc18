// A thread for many requests that does with each message what the message says.
import { parentPort, threadId } from 'node:worker_threads';
import { type Numbered, READY } from '../../src/workers/resident.ts';

/** `wait`: nothing, until it is cancelled. */
export type Deed = 'answer' | 'ask' | 'wait' | 'cancel' | 'spin' | 'eat' | 'throw' | 'exit';

export interface Answer {
  readonly said: Deed;
  readonly threadId: number;
}

const eaten: unknown[] = [];

const deeds: Readonly<Partial<Record<Deed, () => void>>> = {
  spin: () => {
    for (;;);
  },
  eat: () => {
    for (;;) eaten.push(Array.from({ length: 10_000 }, (_, i) => ({ i })));
  },
  throw: () => {
    throw new TypeError('the request is impossible');
  },
  exit: () => process.exit(3),
};

parentPort?.on('message', ({ id, message: said }: Numbered<Deed>) => {
  parentPort?.postMessage({ id, message: { said, threadId } } satisfies Numbered<Answer>, []);
  deeds[said]?.();
});
parentPort?.postMessage(READY, []);
