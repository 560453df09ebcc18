// The room that the briefs of one thread have together.
import { expect, test } from 'vitest';
import { briefBytes, shareBytes, threadBytes } from '../../../src/execution/brief/brief-room.ts';

const MEGABYTE = 1024 * 1024;

test('the briefs of all runs of a thread together have at most an eighth of its memory', () => {
  expect(threadBytes({ memoryMb: 512 })).toBe(64 * MEGABYTE);
  for (const runsPerThread of [8, 32, 100])
    expect(shareBytes({ memoryMb: 512, runsPerThread }) * runsPerThread).toBeLessThanOrEqual(64 * MEGABYTE);
  expect(shareBytes({ memoryMb: 512, runsPerThread: 1 })).toBe(16 * MEGABYTE);
});

test('a turn within its share leaves the rest of it to its history, a large one has a share for that', () => {
  const workers = { memoryMb: 512, runsPerThread: 32 };
  const share = shareBytes(workers);
  expect([0, share].map((own) => briefBytes(own, workers))).toEqual([share, share]);
  expect(briefBytes(share + 1, workers)).toBe(2 * share + 1);
});
