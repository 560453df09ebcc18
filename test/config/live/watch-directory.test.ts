// A watch of the config directory that fails is opened again, and the directory is read meanwhile.
import { expect, onTestFinished, test } from 'vitest';
import { makeWatch, type WatchCallbacks } from '../../../src/config/live/watch.ts';
import { NOT_WATCHED } from '../../../src/config/live/watch-directory.ts';
import { loggedLines } from '../../support/http/http-fixture.ts';
import { fakeClock } from '../../support/time/fake-clock.ts';

const settle = () => new Promise<void>((resolve) => void setImmediate(resolve));

/** A watch of a kernel that refuses some of the first requests. */
function openWatch(...refusals: readonly string[]) {
  const clock = fakeClock();
  const { log, lines } = loggedLines();
  const opened: WatchCallbacks[] = [];
  const left = [...refusals];
  let [reads, closed] = [0, 0];
  const watch = makeWatch({
    failure: NOT_WATCHED,
    reload: () => {
      reads += 1;
    },
    clock,
    log,
    open: async (callbacks) => {
      const refusal = left.shift();
      if (refusal !== undefined) throw new Error(refusal);
      opened.push(callbacks);
      return { close: async () => void (closed += 1) };
    },
  });
  onTestFinished(() => watch.stop());
  const pass = async (ms: number) => {
    clock.advance(ms);
    await settle();
  };
  return { watch, opened, lines, pass, reads: () => reads, closed: () => closed };
}

test('a watch that the kernel refuses is tried again, and each try reads the directory', async () => {
  const { watch, opened, lines, pass, reads } = openWatch('ENOSPC', 'ENOSPC');
  await watch.start();
  expect([opened.length, reads()]).toEqual([0, 1]);
  await pass(1_000);
  expect([opened.length, reads()]).toEqual([0, 2]);
  await pass(1_999);
  expect(opened).toHaveLength(0);
  await pass(1);
  expect([opened.length, reads()]).toEqual([1, 3]);
  expect(lines.map(({ msg }) => msg)).toEqual([
    expect.stringContaining('is not watched'),
    expect.stringContaining('is not watched'),
  ]);
  await pass(600_000);
  expect([opened.length, reads()]).toEqual([1, 3]);
});

test('a watch that fails later is closed and opened again, and what changed meanwhile is read', async () => {
  const { watch, opened, lines, pass, reads, closed } = openWatch();
  await watch.start();
  expect([opened.length, closed(), reads()]).toEqual([1, 0, 1]);
  opened[0]!.failed(new Error('EIO'));
  await settle();
  expect([opened.length, closed(), reads(), lines.length]).toEqual([1, 1, 2, 1]);
  await pass(1_000);
  expect([opened.length, closed(), reads(), lines.length]).toEqual([2, 1, 3, 1]);
});

test('a stopped watch is closed, and not opened again', async () => {
  const { watch, opened, pass, closed } = openWatch('ENOSPC');
  await watch.start();
  await pass(1_000);
  await watch.stop();
  opened[0]!.failed(new Error('EIO'));
  await pass(600_000);
  expect([opened.length, closed()]).toEqual([1, 1]);
});
