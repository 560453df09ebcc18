// Backups as the management interface shows them.
import { array, object } from '../shapes/composites.ts';
import { endpoints, pathText } from '../endpoint.ts';
import { made, record, request } from '../shapes/record.ts';
import { boolean, integer, line, oneOf, string, text, time } from '../shapes/scalars.ts';
import { type JsonOf, named, nullable, orElse } from '../shapes/shape.ts';
import { backupId, leftOutFile } from './manifest.ts';

const count = integer({ from: 0 });

/**
 * A backup. `bytes`: what a restore writes; `added_bytes`: what the backup itself has added to its repository. `left_out_files`: the
 * first of those that `left_out` counts.
 */
const backup = named(
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
export type BackupWire = JsonOf<typeof backup>;

/** Without `directory`, that of the settings. With a passphrase, the master key is part of it, encrypted. */
const directory = orElse(nullable(line({ max: 4_000 })), null);
const contents = {
  workspaces: orElse(nullable(boolean), null),
  passphrase: orElse(nullable(text({ min: 12, max: 1_000 })), null),
};
const newBackup = named('NewBackup', request({ directory, ...contents }));
export const newBackupArchive = named('NewBackupArchive', request(contents));
export type NewBackupArchiveWire = JsonOf<typeof newBackupArchive>;

const PHASES = ['database', 'blobs', 'workspaces', 'configuration', 'finishing'] as const;

interface Progressing {
  readonly progress: {
    readonly phase: (typeof PHASES)[number];
    readonly done: number;
    readonly total: number;
    readonly bytes: number;
  } | null;
}

/** A backup in progress, or how the last one ended. `done` of `total` are of the phase; `bytes` were read so far. */
const backupJob = named(
  'BackupJob',
  record({
    id: backupId,
    directory: nullable(string),
    state: oneOf(['running', 'completed', 'failed']),
    startedAt: time,
    phase: made(nullable(oneOf(PHASES)), ({ progress }: Progressing) => progress?.phase ?? null),
    done: made(count, ({ progress }: Progressing) => progress?.done ?? 0),
    total: made(count, ({ progress }: Progressing) => progress?.total ?? 0),
    bytes: made(count, ({ progress }: Progressing) => progress?.bytes ?? 0),
    error: nullable(string),
    backup: nullable(backup),
  }),
);
export type BackupJobWire = JsonOf<typeof backupJob>;

const backupPruning = named(
  'BackupPruning',
  request({
    directory,
    keepDays: orElse(nullable(integer({ from: 0, to: 36_500 })), null),
    keepAtLeast: orElse(nullable(integer({ from: 1, to: 100_000 })), null),
  }),
);

const prunedBackups = named(
  'PrunedBackups',
  object({ removed: array(backupId), kept: count, objects: count, bytes: count }),
);
export type PrunedBackupsWire = JsonOf<typeof prunedBackups>;

/** Removals in a large place take their time. */
const PRUNING_MS = 3_600_000;

/** Backups, for administrators. */
// biome-ignore format: a table reads best with one endpoint a line
export const backups = endpoints('admin', 'envelope', {
  create: { route: 'POST /api/v1/backups', summary: 'Begin a backup into a directory of the daemon', operation: 'createBackup', body: newBackup, bodyIsOptional: true, reply: backupJob, statuses: [202] },
  latest: { route: 'GET /api/v1/backups/latest', summary: 'How far the backup in progress is, or how the last one ended', operation: 'getBackupJob', reply: backupJob },
  archive: { route: 'POST /api/v1/backups/archive', summary: 'Take a backup as a tar archive', body: newBackupArchive, bodyIsOptional: true, sendsFile: true },
  cancel: { route: 'POST /api/v1/backups/:id/cancel', summary: 'Cancel a backup in progress', operation: 'cancelBackup', params: { id: pathText }, reply: backupJob },
  prune: { route: 'POST /api/v1/backups/prune', summary: 'Remove old backups', operation: 'pruneBackups', body: backupPruning, bodyIsOptional: true, reply: prunedBackups, patienceMs: PRUNING_MS },
});
