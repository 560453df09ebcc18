// The watch of a daemon's loop must see whatever its main thread has done, to the last turn.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { watchLoop } from './loop-watch.ts';

const BLOCKED_MS = 80;

/** Answers each line after a while of calm, then works without a break. */
const PROGRAM = `
  process.stdin.on('data', () => setTimeout(() => {
    process.stdout.write('answered');
    const before = process.threadCpuUsage().user;
    while (process.threadCpuUsage().user - before < ${BLOCKED_MS} * 1_000);
  }, 500));
`;

test('a turn that is still running when the work has its answer is measured', async () => {
  const loop = watchLoop({ heapMb: 64 });
  const env = { ...process.env, ...loop.env };
  const watched = spawn(process.execPath, ['--eval', PROGRAM], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    watched.stdin.write('Are you there?\n');
    await once(watched.stdout, 'data');
    const { longestMs, peakRssMb } = await loop.during({ pid: () => watched.pid! }, async () => {
      watched.stdin.write('Work.\n');
      await once(watched.stdout, 'data');
    });
    expect(longestMs).toBeGreaterThanOrEqual(BLOCKED_MS);
    expect(peakRssMb).toBeGreaterThan(0);
    const calm = await loop.during({ pid: () => watched.pid! }, async () => undefined);
    expect(calm.longestMs).toBeLessThan(BLOCKED_MS);
  } finally {
    watched.kill();
    await once(watched, 'exit');
    loop.close();
  }
});
