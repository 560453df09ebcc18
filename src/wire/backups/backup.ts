// Backups as the management interface shows them.
import { array, object } from '../composites.ts';
import { boolean, integer, line, oneOf, string, text, time } from '../scalars.ts';
import { named, nullable, nullish, type Static } from '../shape.ts';
import { backupId, leftOutFile } from './manifest.ts';

const count = integer({ from: 0 });

/**
 * A backup. `bytes`: what a restore writes; `added_bytes`: what the backup itself has added to its repository. `left_out_files`: the
 * first of those that `left_out` counts.
 */
export const backup = named(
  'Backup',
  object({
    id: backupId,
    created_at: time,
    errand_version: string,
    schema_version: count,
    files: count,
    bytes: count,
    added_bytes: count,
    workspaces: boolean,
    master_key: boolean,
    missing_blobs: count,
    left_out: count,
    left_out_files: array(leftOutFile),
    changing: count,
  }),
);
export type BackupWire = Static<typeof backup>;

const passphrase = nullish(text({ min: 12, max: 1_000 }));

/** Without `directory`, that of the settings. With a passphrase, the master key is part of it, encrypted. */
export const newBackup = named(
  'NewBackup',
  object({ directory: nullish(line({ max: 4_000 })), workspaces: nullish(boolean), passphrase }),
);
export type NewBackupWire = Static<typeof newBackup>;

export const newBackupArchive = named('NewBackupArchive', object({ workspaces: nullish(boolean), passphrase }));
export type NewBackupArchiveWire = Static<typeof newBackupArchive>;

/** A backup in progress, or how the last one ended. `done` of `total` are of the phase; `bytes` were read so far. */
export const backupJob = named(
  'BackupJob',
  object({
    id: backupId,
    directory: nullable(string),
    state: oneOf(['running', 'completed', 'failed']),
    started_at: time,
    phase: nullable(oneOf(['database', 'blobs', 'workspaces', 'configuration', 'finishing'])),
    done: count,
    total: count,
    bytes: count,
    error: nullable(string),
    backup: nullable(backup),
  }),
);
export type BackupJobWire = Static<typeof backupJob>;

export const backupPruning = named(
  'BackupPruning',
  object({
    directory: nullish(line({ max: 4_000 })),
    keep_days: nullish(integer({ from: 0, to: 36_500 })),
    keep_at_least: nullish(integer({ from: 1, to: 100_000 })),
  }),
);
export type BackupPruningWire = Static<typeof backupPruning>;

export const prunedBackups = named(
  'PrunedBackups',
  object({ removed: array(backupId), kept: count, objects: count, bytes: count }),
);
export type PrunedBackupsWire = Static<typeof prunedBackups>;
