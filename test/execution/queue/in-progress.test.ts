import { expect, test } from 'vitest';
import type { Execution } from '../../../src/execution/executor/executor.ts';
import { makeRunsInProgress } from '../../../src/execution/queue/in-progress.ts';

/** An execution that ends when the test says so; `aborts`: what it was asked. */
function execution(sessionSeq: number, runSeq: number) {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const aborts: string[] = [];
  const made: Execution = {
    runSeq,
    sessionSeq,
    ended,
    progress: () => ({ sessionSeq, runSeq, attempt: 1, workedMs: 0 }),
    abort: (why) => void aborts.push(why),
  };
  return { made, end, aborts };
}

test('the stop of a run that is not executing waits for one of its session that was asked before', async () => {
  const runs = makeRunsInProgress(() => undefined);
  const [first, other] = [execution(1, 1), execution(2, 9)];
  runs.add(first.made);
  runs.add(other.made);
  const order: string[] = [];
  const stops = [1, 2].map((runSeq) =>
    runs.stop({ sessionSeq: 1, runSeq }).then(() => void order.push(`stopped ${runSeq}`)),
  );
  await new Promise(setImmediate);
  order.push('the first ends');
  first.end();
  await Promise.all(stops);
  expect(order[0]).toBe('the first ends');
  expect([first.aborts, other.aborts]).toEqual([['stop'], []]);
});
