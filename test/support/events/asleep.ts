// Services that no occasion wakes, for tests of those that one does.
import type { Wakers } from '../../../src/events/wakes.ts';

const sleep = () => undefined;

export const ASLEEP: Wakers = {
  queue: sleep,
  queueWait: sleep,
  questionWatch: sleep,
  collector: sleep,
  sweeper: sleep,
  leftCopies: sleep,
  planner: sleep,
  sender: sleep,
  upkeep: sleep,
  scheduler: sleep,
  publisher: sleep,
  pageSweeper: sleep,
};
