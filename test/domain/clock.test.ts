import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { isoTime, makeFollowingClock, pause, within } from '../../src/domain/clock.ts';
import { fakeClock } from '../support/time/fake-clock.ts';

/** Around the ends of minutes, days and leap years, before 1970, and with a part of a millisecond. */
const MOMENTS = [
  0, -1, 1, 59_999, 60_000, 86_399_999, 86_400_000, 951_782_399_999, 951_782_400_000, -62_198_755_200_001,
]
  .concat([1_772_323_199_999, 253_402_300_800_000, 1_772_323_199_999.9, -0.5, 8.64e15])
  .concat(Array.from({ length: 2_000 }, (_, at) => at * 86_399_123_457 - 62_000_000_000_000));

test('a moment is rendered as the engine would render it', () => {
  for (const at of MOMENTS) expect(isoTime(at)).toBe(new Date(at).toISOString());
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, 8.64e15 + 86_400_000, -8.64e15 - 86_400_000])(
  '%s is no moment',
  (at) => {
    expect(() => isoTime(at)).toThrow(RangeError);
  },
);

test('a pause ends after its time, or when the signal aborts', async () => {
  const clock = fakeClock();
  const stopping = new AbortController();
  const ended: string[] = [];
  void pause(clock, 1_000).then(() => ended.push('time'));
  void pause(clock, 60_000, stopping.signal).then(() => ended.push('signal'));
  clock.advance(1_000);
  await Promise.resolve();
  expect(ended).toEqual(['time']);
  stopping.abort();
  await pause(clock, 60_000, stopping.signal);
  expect(ended).toEqual(['time', 'signal']);
});

test.each([
  ['pause', ''],
  ['pauseAlive', 'over'],
])('a process that nothing else keeps alive and the end of %s: "%s"', (name, printed) => {
  const file = JSON.stringify(new URL('../../src/domain/clock.ts', import.meta.url));
  const program = `import { ${name}, systemClock } from ${file}; ${name}(systemClock, 20).then(() => process.stdout.write('over'))`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  expect(stdout).toBe(printed);
});

test('work is waited for within its time', async () => {
  const clock = fakeClock();
  const work = Promise.withResolvers<string>();
  const first = within(clock, 1_000, work.promise, 'late');
  clock.advance(1_000);
  expect(await first).toBe('late');
  const second = within(clock, 1_000, work.promise, 'late');
  work.resolve('done');
  expect(await second).toBe('done');
});

test('a failure in time is thrown, and one that comes later harms nothing', async () => {
  const clock = fakeClock();
  await expect(within(clock, 1_000, Promise.reject(new Error('No.')), 'late')).rejects.toThrow('No.');
  const work = Promise.withResolvers<string>();
  const waited = within(clock, 1_000, work.promise, 'late');
  clock.advance(1_000);
  work.reject(new Error('No.'));
  expect(await waited).toBe('late');
});

test('a clock that follows another one has its wall time, whose answers may come late, and its own monotonic time', {
  tags: ['L3'],
}, () => {
  const own = fakeClock();
  const clock = makeFollowingClock(own);
  expect(clock.now()).toBe(own.now());
  clock.follow(own.now() + 3_600_000 - 40);
  expect(clock.now()).toBe(own.now() + 3_600_000 - 40);
  clock.follow(own.now() + 3_600_000);
  clock.follow(own.now() + 3_600_000 - 500);
  expect([clock.now(), clock.monotonic()]).toEqual([own.now() + 3_600_000, own.monotonic()]);
  // It was set back.
  for (let at = 0; at < 64; at += 1) clock.follow(own.now() - 1_000);
  expect(clock.now()).toBe(own.now() - 1_000);
});
