// Work of a stranger's making is stopped by the CPU time it takes, not by how busy the machine is.
import { expect, test } from 'vitest';
import { withinCpuTime } from '../../src/workers/cpu-time.ts';

/** Lets time pass without using any of the thread's. */
function waitIdly(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

test('work that waits for its turn longer than its CPU time is done', () => {
  let begun = 0;
  const done = withinCpuTime(200, () => {
    begun += 1;
    waitIdly(500);
    return 'done';
  });
  expect(done).toBe('done');
  expect(begun).toBe(2);
});

test('work that takes more than its CPU time is stopped, and what follows is done as if nothing had been', () => {
  const endless = () => {
    for (;;);
  };
  expect(() => withinCpuTime(20, endless)).toThrow('timed out');
  expect(withinCpuTime(200, () => 7)).toBe(7);
});

test('work that waits forever is stopped, too', () => {
  expect(() => withinCpuTime(5, () => waitIdly(600_000))).toThrow('timed out');
});

test("a throw of the work's own is passed on, and the work is not begun again", () => {
  let begun = 0;
  const failing = () => {
    begun += 1;
    throw new RangeError('too deep');
  };
  expect(() => withinCpuTime(200, failing)).toThrow(RangeError);
  expect(begun).toBe(1);
});
