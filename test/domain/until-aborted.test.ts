import { expect, test } from 'vitest';
import { untilAborted } from '../../src/domain/until-aborted.ts';

test('an abort wins over work that never ends, and over its late failure', async () => {
  const controller = new AbortController();
  const work = Promise.withResolvers<void>();
  const raced = untilAborted(work.promise, controller.signal);
  controller.abort(new Error('stopped'));
  await expect(raced).rejects.toThrow('stopped');
  work.reject(new Error('too late'));
});
