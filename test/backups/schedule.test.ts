// Scheduled backups, by a clock that the test moves.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { BackupJobs } from '../../src/backups/jobs.ts';
import { fullDisk } from '../../src/backups/repository/full-disk.ts';
import { lastDueAt, makeBackupSchedule } from '../../src/backups/schedule.ts';
import type { Log } from '../../src/log/log.ts';
import { fakeClock } from '../support/time/fake-clock.ts';
import { temporaryDirectory } from '../support/files/temporary-directory.ts';

const HOUR_MS = 3_600_000;
const at = (day: number, hour: number) => new Date(2026, 2, day, hour, 0, 0, 0).getTime();
const idAt = (time: number) => `${new Date(time).toISOString().replace(/\.\d+|[-:]/g, '')}-4f9a1c`;

function scheduleFixture(startAt: number, backups: readonly number[] = []) {
  const repository = temporaryDirectory();
  const clock = fakeClock(startAt);
  const begun: number[] = [];
  const pruned: unknown[] = [];
  const fixture = { directory: repository, failure: null as Error | null };
  mkdirSync(join(repository, 'backups'));
  const add = (time: number) => writeFileSync(join(repository, 'backups', `${idAt(time)}.json`), '');
  for (const time of backups) add(time);
  const begin: BackupJobs['begin'] = () => {
    begun.push(clock.now());
    if (fixture.failure === null) add(clock.now());
    const done = fixture.failure === null ? Promise.resolve({}) : Promise.reject(fixture.failure);
    return { job: { id: idAt(clock.now()) }, done } as ReturnType<BackupJobs['begin']>;
  };
  const schedule = makeBackupSchedule({
    jobs: { begin, latest: () => undefined },
    backups: {
      prune: async (_, keep) => {
        pruned.push(keep);
        return { removed: [], kept: 1, objects: 0, bytes: 0 };
      },
    },
    settings: () => ({ backup: { directory: fixture.directory, at: '03:00', keepDays: 7, workspaces: true } }),
    clock,
    log: { error: () => undefined, info: () => undefined } as unknown as Log,
  });
  async function pass(hours: number): Promise<void> {
    for (let minute = 0; minute < hours * 60; minute += 10) {
      clock.advance(600_000);
      await schedule.settled();
    }
  }
  return { clock, begun, pruned, fixture, schedule, pass };
}

test('a backup is made each day at its time, and old ones are removed after it', async () => {
  const { begun, pruned, schedule, pass } = scheduleFixture(at(1, 12), [at(1, 3)]);
  schedule.wake();
  await schedule.settled();
  expect(begun).toEqual([]);
  await pass(48);
  expect(begun).toEqual([at(2, 3), at(3, 3)]);
  expect(pruned).toEqual([
    { days: 7, atLeast: 3 },
    { days: 7, atLeast: 3 },
  ]);
  expect(schedule.health()).toEqual({ lastAt: at(3, 3), failure: null });
});

test('what was missed while the daemon was off is made up for once', async () => {
  const { begun, schedule, pass } = scheduleFixture(at(9, 12), [at(5, 3)]);
  schedule.wake();
  await schedule.settled();
  await pass(10);
  expect(begun).toEqual([at(9, 12)]);
});

test('one that was made by hand since the time counts', async () => {
  const { begun, schedule, pass } = scheduleFixture(at(9, 12), [at(9, 11)]);
  schedule.wake();
  await schedule.settled();
  await pass(10);
  expect(begun).toEqual([]);
});

test('one that failed is tried again each hour, and its failure is known until one succeeds', async () => {
  const { begun, pruned, fixture, schedule, pass } = scheduleFixture(at(9, 12), [at(8, 3)]);
  fixture.failure = new Error('The backup failed.');
  schedule.wake();
  await schedule.settled();
  expect(schedule.health()).toEqual({ lastAt: at(8, 3), failure: 'The backup failed.' });
  await pass(2);
  expect(pruned).toEqual([]);
  expect(begun).toEqual([at(9, 12), at(9, 13), at(9, 14)]);
  fixture.failure = null;
  await pass(1);
  expect(schedule.health()).toEqual({ lastAt: at(9, 15), failure: null });
});

test('one that met a full disk makes room for the next', async () => {
  const { pruned, fixture, schedule } = scheduleFixture(at(9, 12), [at(8, 3)]);
  fixture.failure = fullDisk('There is no space left for the backup.');
  schedule.wake();
  await schedule.settled();
  expect(pruned).toEqual([{ days: 7, atLeast: 3 }]);
  expect(schedule.health()).toEqual({ lastAt: at(8, 3), failure: 'There is no space left for the backup.' });
});

test('without a directory nothing is made, until one is set', async () => {
  const { begun, fixture, schedule, pass } = scheduleFixture(at(9, 12));
  const repository = fixture.directory;
  fixture.directory = '';
  schedule.wake();
  await schedule.settled();
  await pass(48);
  expect([begun, schedule.health()]).toEqual([[], null]);
  fixture.directory = repository;
  schedule.wake();
  await schedule.settled();
  expect(begun.length).toBe(1);
});

test('a clock that is put forward makes a backup due within ten minutes', async () => {
  const { clock, begun, schedule, pass } = scheduleFixture(at(1, 12), [at(1, 3)]);
  schedule.wake();
  await schedule.settled();
  clock.jump(24 * HOUR_MS);
  await pass(1);
  expect(begun.length).toBe(1);
});

test('the time is that of the wall, also on days with 23 or 25 hours', () => {
  for (const day of [1, 29, 30]) expect(lastDueAt(at(day, 12), '03:00')).toBe(at(day, 3));
  expect(lastDueAt(at(2, 2), '03:00')).toBe(at(1, 3));
  expect(lastDueAt(at(2, 3), '03:00')).toBe(at(2, 3));
});
