// What a task of the tests of one-shot hosts does, on a thread or in a process.

const eaten: unknown[] = [];

const DEEDS = {
  answer: () => 'answer',
  hang: () => new Promise<never>(() => setInterval(() => undefined, 1_000)),
  /** What nobody will end. */
  forget: () => new Promise<never>(() => undefined),
  spin: () => {
    for (;;);
  },
  /** Fills the heap in small steps. */
  eat: () => {
    for (;;) eaten.push(Array.from({ length: 10_000 }, (_, i) => ({ i })));
  },
  /** Fills the heap with objects that are larger than what is left at its limit. */
  gorge: () => {
    for (;;) eaten.push(Array.from({ length: 5_000_000 }, (_, i) => i + 0.5));
  },
  eatBytes: () => {
    eaten.push(Buffer.alloc(128 * 1_048_576, 'x'));
    return DEEDS.hang();
  },
  throw: () => {
    throw new TypeError('the task is impossible');
  },
  exit: () => process.exit(3),
  /** Of the whole process. */
  kill: () => {
    process.kill(process.pid, 'SIGKILL');
    return DEEDS.hang();
  },
  abandon: () => {
    setImmediate(() => {
      throw new RangeError('nobody waits for this');
    });
    return DEEDS.hang();
  },
} as const;

export type Deed = keyof typeof DEEDS;

export async function doDeed(deed: Deed): Promise<string> {
  return DEEDS[deed]();
}
