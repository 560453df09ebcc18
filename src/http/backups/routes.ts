// The paths of backups: for administrators.
import type { Operations } from '../../operations/operations.ts';
import { backupJob, backupPruning, newBackup, newBackupArchive, prunedBackups } from '../../wire/backups/backup.ts';
import { type Route, routesWith } from '../frame/route.ts';
import { makeBackupHandlers } from './backups.ts';

const ofAdmin = routesWith('admin', 'envelope');

/** The rows of the table of routes. */
export function backupRoutes(operations: Operations): Route[] {
  const backups = makeBackupHandlers(operations);
  // biome-ignore format: a table reads best with one route a line
  return [
    ofAdmin('POST /api/v1/backups', 'Begin a backup into a directory of the daemon', { body: newBackup, bodyIsOptional: true, reply: backupJob, statuses: [202], handler: backups.create }),
    ofAdmin('GET /api/v1/backups/latest', 'How far the backup in progress is, or how the last one ended', { reply: backupJob, handler: backups.latest }),
    ofAdmin('POST /api/v1/backups/archive', 'Take a backup as a tar archive', { body: newBackupArchive, bodyIsOptional: true, sendsFile: true, handler: backups.send }),
    ofAdmin('POST /api/v1/backups/:id/cancel', 'Cancel a backup in progress', { reply: backupJob, handler: backups.cancel }),
    ofAdmin('POST /api/v1/backups/prune', 'Remove old backups', { body: backupPruning, bodyIsOptional: true, reply: prunedBackups, handler: backups.prune }),
  ];
}
