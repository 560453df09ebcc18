// Backups that administrators ask for.
import { isAbsolute, resolve } from 'node:path';
import type { BackupJob, BackupJobs } from '../../backups/jobs.ts';
import type { Backups, BackupRequest } from '../../backups/backups.ts';
import type { Pruned } from '../../backups/prune.ts';
import { summaryOf } from '../../backups/summary.ts';
import { ErrandError, notFound, unprocessable } from '../../domain/errors.ts';
import type { Settings } from '../../domain/settings.ts';
import type { Administrator } from '../../domain/people/user.ts';
import type { BackupWire } from '../../wire/backups/backup.ts';
import type { Audit } from '../audit/audit.ts';
import { type LeadParts, requireLead } from '../lead.ts';

/** Null: what the settings say. */
export interface NewBackup {
  readonly directory: string | null;
  readonly workspaces: boolean | null;
  /** With one, the master key is part of it. */
  readonly passphrase: string | null;
}

export interface Pruning {
  readonly directory: string | null;
  readonly keepDays: number | null;
  readonly keepAtLeast: number | null;
}

export interface BackupOperationParts extends LeadParts {
  readonly backups: { readonly jobs: BackupJobs; readonly prune: Backups['prune'] };
  readonly audit: Pick<Audit, 'act'>;
  readonly settings: () => Pick<Settings, 'backup'>;
}

/** A backup in progress, or the last one, with what a completed one has. */
export interface BackupReport extends Readonly<BackupJob> {
  readonly backup: BackupWire | null;
}

const KEEP_AT_LEAST = 1;

/** The verbs. Each throws `conflict` while another backup is in progress, and those on one throw as `requireLead` does. */
export function makeBackupOperations(parts: BackupOperationParts) {
  const { backups, audit, settings } = parts;
  const requireHere = () => requireLead(parts, 'Backups are made');
  const { jobs } = backups;

  async function begin(
    caller: Administrator,
    target: string,
    request: Omit<BackupRequest, 'id'>,
    signal?: AbortSignal,
  ) {
    requireHere();
    if (jobs.latest()?.state === 'running') throw new ErrandError('conflict', 'Another backup is in progress.');
    await audit.act(caller, 'backup.create', target);
    return jobs.begin(request, signal);
  }

  return {
    /** Begins a backup into a directory. Throws `unprocessable` and `forbidden` for its path. */
    createBackup: async (
      caller: Administrator,
      { directory, workspaces, passphrase }: NewBackup,
    ): Promise<BackupReport> => {
      const to = directoryFor(caller, settings().backup.directory, directory);
      const request = { to, workspaces: workspaces ?? settings().backup.workspaces, passphrase };
      return reportOf((await begin(caller, to, request)).job);
    },

    /** Sends a backup as an archive; resolves when all of it was taken. */
    sendBackup: async (
      caller: Administrator,
      { workspaces, passphrase }: Omit<NewBackup, 'directory'>,
      to: (bytes: Uint8Array) => Promise<void>,
      signal: AbortSignal,
    ): Promise<void> => {
      const request = { to, workspaces: workspaces ?? settings().backup.workspaces, passphrase };
      await (await begin(caller, 'archive', request, signal)).done;
    },

    /** The backup in progress, otherwise the last one since the daemon started. Throws `not_found` when there was none. */
    getBackupJob: (_caller: Administrator): BackupReport => {
      requireHere();
      const job = jobs.latest();
      if (job === undefined) throw notFound('Backup');
      return reportOf(job);
    },

    /** Cancels the backup of an id if it is in progress, and resolves when it has ended. Throws `not_found` for an older one. */
    cancelBackup: async (caller: Administrator, id: string): Promise<BackupReport> => {
      requireHere();
      const job = jobs.latest();
      if (job?.id !== id) throw notFound('Backup');
      await audit.act(caller, 'backup.cancel', id);
      if (job.state === 'running') await jobs.cancel();
      return reportOf(job);
    },

    /** Removes old backups. */
    pruneBackups: async (caller: Administrator, pruning: Pruning): Promise<Pruned> => {
      const path = directoryFor(caller, settings().backup.directory, pruning.directory);
      const { keepDays } = settings().backup;
      await audit.act(caller, 'backup.prune', path);
      return backups.prune(path, {
        days: pruning.keepDays ?? keepDays,
        atLeast: pruning.keepAtLeast ?? KEEP_AT_LEAST,
      });
    },
  };
}

const reportOf = (job: BackupJob): BackupReport => ({ ...job, backup: job.manifest && summaryOf(job.manifest) });

/** Who isn't the operator can't have the daemon write wherever it may. */
function directoryFor(caller: Administrator, usual: string, directory: string | null): string {
  const path = directory ?? usual;
  if (path === '') throw unprocessable('directory', 'must be given, as the setting backup.directory is empty');
  if (!isAbsolute(path)) throw unprocessable('directory', 'must be an absolute path');
  // Not below it either: a folder there would make it no directory for backups any more.
  const isUsual = usual !== '' && resolve(usual) === resolve(path);
  if (caller.kind !== 'operator' && !isUsual)
    throw new ErrandError('forbidden', 'Directories other than backup.directory are for the control socket only.');
  return resolve(path);
}
