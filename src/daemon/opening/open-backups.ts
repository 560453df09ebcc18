// The services of backups, wired together.
import { rmSync } from 'node:fs';
import { makeBackups, stagingOf } from '../../backups/backups.ts';
import { makeBackupJobs } from '../../backups/jobs.ts';
import { makeBackupSchedule } from '../../backups/schedule.ts';
import type { Config } from '../../config/config.ts';
import type { LiveConfig } from '../../config/live/live-config.ts';
import { storeLocationOf } from '../../config/store-location.ts';
import { MB } from '../../domain/byte-units.ts';
import type { Clock } from '../../domain/clock.ts';
import type { BlobStore } from '../../files/blobs/blobs.ts';
import type { DeriveKey } from '../../files/master-key.ts';
import type { Log } from '../../log/log.ts';
import { VERSION } from '../../version.ts';
import { masterKeyLocation } from '../data/own-key.ts';

export interface BackupServiceParts {
  readonly config: Config;
  readonly live: Pick<LiveConfig, 'settings' | 'onChange'>;
  readonly blobs: BlobStore;
  readonly deriveKey: DeriveKey;
  readonly clock: Clock;
  readonly log: Log;
}

/** Makes the services. None of them works before `start`. */
export function openBackups({ config, live, blobs, deriveKey, clock, log }: BackupServiceParts) {
  const { settings } = live;
  const { dataDir, configDir } = config.locations;
  const backups = makeBackups({
    dataDir,
    configDir,
    database: storeLocationOf(config),
    masterKey: masterKeyLocation(config.locations),
    errandVersion: VERSION,
    blobs,
    deriveKey,
    keepFreeBytes: () => settings().disk.keepFreeMb * MB,
    clock,
    log,
  });
  // The copy of the database of an archive that was interrupted by the end of a daemon.
  rmSync(stagingOf(dataDir), { recursive: true, force: true });
  const jobs = makeBackupJobs({ backups, clock, log });
  const schedule = makeBackupSchedule({ jobs, backups, settings, clock, log });
  let isStarted = false;
  live.onChange(() => {
    if (isStarted) schedule.wake();
  });
  return {
    jobs,
    prune: backups.prune,
    health: schedule.health,
    start: () => {
      isStarted = true;
      schedule.wake();
    },
    stop: async () => {
      await backups.stop();
      await schedule.stop();
    },
  };
}
