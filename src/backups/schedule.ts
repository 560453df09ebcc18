// Scheduled backups: one a day, and old ones are removed after it.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../domain/clock.ts';
import { codeOf, messageOf } from '../domain/errors.ts';
import type { Settings } from '../domain/settings.ts';
import type { Log } from '../log/log.ts';
import { makeService, type Service } from '../services/service.ts';
import type { BackupJobs } from './jobs.ts';
import type { Backups } from './backups.ts';
import { isFullDisk } from './repository/full-disk.ts';
import { idOf, timeOfId } from './repository/repository.ts';

export interface ScheduleParts {
  readonly jobs: Pick<BackupJobs, 'begin' | 'latest'>;
  readonly backups: Pick<Backups, 'prune'>;
  readonly settings: () => Pick<Settings, 'backup'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** How scheduled backups are doing. */
export interface BackupHealth {
  /** When the newest complete one was begun; null when there is none. */
  readonly lastAt: number | null;
  /** Why the last attempt failed; null when it didn't. */
  readonly failure: string | null;
}

export interface BackupSchedule extends Service {
  /** Null while no directory is set. */
  health(): BackupHealth | null;
}

/** The newest backups that stay, however old they are. */
export const KEEP_AT_LEAST = 3;
const RETRY_MS = 3_600_000;
/** Due times are of the wall clock, which may be set. */
const LOOK_MS = 600_000;

/** Makes the service. What was missed while the daemon was off is made up for once, at its start. Wake it when settings change. */
export function makeBackupSchedule({ jobs, backups, settings, clock, log }: ScheduleParts): BackupSchedule {
  let health: BackupHealth | null = null;
  let notBefore = 0;

  async function work(stopping: AbortSignal): Promise<number | null> {
    const { directory, at, keepDays, workspaces } = settings().backup;
    if (directory === '') {
      health = null;
      return null;
    }
    const lastAt = await newestIn(directory);
    health = { lastAt, failure: health?.failure ?? null };
    const now = clock.now();
    const due = lastDueAt(now, at);
    if (lastAt !== null && lastAt >= due) {
      health = { lastAt, failure: null };
      return Math.min(nextDueAt(due) - now, LOOK_MS);
    }
    const waitMs = notBefore - now;
    if (waitMs > 0 && waitMs <= RETRY_MS) return Math.min(waitMs, LOOK_MS);
    notBefore = now + RETRY_MS;
    try {
      const { job, done } = jobs.begin({ to: directory, workspaces, passphrase: null }, stopping);
      await done;
      health = { lastAt: timeOfId(job.id), failure: null };
      await backups.prune(directory, { days: keepDays, atLeast: KEEP_AT_LEAST });
    } catch (error) {
      // One that was asked for is in progress: it counts as well.
      health = { ...health, failure: messageOf(error) };
      log.error(
        { err: error },
        'the scheduled backup could not be made or old ones not be removed; it is tried again in an hour',
      );
      if (isFullDisk(error)) await makeRoom(directory, keepDays);
    }
    return LOOK_MS;
  }

  /** What the failed one has left, and backups that are due to be removed after the next one. */
  async function makeRoom(directory: string, days: number): Promise<void> {
    try {
      const { removed, bytes } = await backups.prune(directory, { days, atLeast: KEEP_AT_LEAST });
      log.info({ removed, bytes }, 'room was made for the next scheduled backup');
    } catch (error) {
      log.error({ err: error }, 'no room could be made for the next scheduled backup');
    }
  }

  const failure = 'the backups could not be looked through';
  return { ...makeService({ work, failure, maxRetryMs: LOOK_MS, clock, log }), health: () => health };
}

async function newestIn(repository: string): Promise<number | null> {
  const names = await readdir(join(repository, 'backups')).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  });
  const newest = names
    .flatMap((name) => idOf(name) ?? [])
    .sort()
    .at(-1);
  return newest === undefined ? null : timeOfId(newest);
}

/** The last moment up to now when a clock on this machine's wall showed the time. */
export function lastDueAt(now: number, at: string): number {
  const [hours, minutes] = at.split(':').map(Number) as [number, number];
  const due = new Date(now);
  due.setHours(hours, minutes, 0, 0);
  if (due.getTime() > now) due.setDate(due.getDate() - 1);
  return due.getTime();
}

function nextDueAt(last: number): number {
  const next = new Date(last);
  next.setDate(next.getDate() + 1);
  return next.getTime();
}
