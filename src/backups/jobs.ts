// The backup in progress, and how the last one ended: one at a time, whoever asked for it.
import type { Clock } from '../domain/clock.ts';
import { ErrandError, messageOf } from '../domain/errors.ts';
import type { Log } from '../log/log.ts';
import type { Manifest } from '../wire/backups/manifest.ts';
import type { Backups, BackupRequest } from './backups.ts';
import type { Progress } from './thread-messages.ts';

export interface BackupJob {
  readonly id: string;
  /** Null: it is sent as an archive. */
  readonly directory: string | null;
  readonly startedAt: number;
  state: 'running' | 'completed' | 'failed';
  progress: Progress | null;
  /** Once it has completed. */
  manifest: Manifest | null;
  /** Why it failed. */
  error: string | null;
}

export interface BackupJobs {
  /** Begins a backup. Throws `conflict` while another is in progress. `done` rejects when it fails. */
  begin(
    request: Omit<BackupRequest, 'id'>,
    signal?: AbortSignal,
  ): { readonly job: BackupJob; readonly done: Promise<Manifest> };
  /** The one in progress, otherwise the last since the daemon started. */
  latest(): BackupJob | undefined;
  /** Cancels the one in progress, and resolves when it has ended: it leaves nothing that counts as a backup. */
  cancel(): Promise<void>;
}

export interface JobParts {
  readonly backups: Pick<Backups, 'newId' | 'take'>;
  readonly clock: Clock;
  readonly log: Log;
}

export function makeBackupJobs({ backups, clock, log }: JobParts): BackupJobs {
  let latest: BackupJob | undefined;
  let current: { readonly ender: AbortController; readonly done: Promise<unknown> } | undefined;

  async function carryOut(job: BackupJob, request: BackupRequest, signal: AbortSignal): Promise<Manifest> {
    try {
      const onProgress = (progress: Progress) => {
        job.progress = progress;
      };
      const manifest = await backups.take(request, { onProgress, signal });
      job.manifest = manifest;
      job.state = 'completed';
      const { added, left_out, left_out_files, changing, missing_blobs } = manifest;
      const counts = { left_out, ...(left_out > 0 && { left_out_files }), changing, missing_blobs };
      const facts = { backup_id: job.id, added_bytes: added.bytes, ...counts };
      if (missing_blobs > 0) log.warn(facts, 'a backup was made; files are missing that the database names');
      else log.info(facts, 'a backup was made');
      return manifest;
    } catch (error) {
      job.state = 'failed';
      job.error = error instanceof ErrandError ? error.message : 'The backup failed; the log says why.';
      log.error({ backup_id: job.id, err: error, reason: messageOf(error) }, 'a backup failed');
      throw error;
    }
  }

  return {
    begin: (request, signal) => {
      if (latest?.state === 'running') throw new ErrandError('conflict', 'Another backup is in progress.');
      const id = backups.newId();
      const directory = typeof request.to === 'string' ? request.to : null;
      const fresh = { state: 'running', progress: null, manifest: null, error: null } as const;
      const job: BackupJob = { id, directory, startedAt: clock.now(), ...fresh };
      latest = job;
      const ender = new AbortController();
      const either = signal === undefined ? ender.signal : AbortSignal.any([ender.signal, signal]);
      const done = carryOut(job, { ...request, id }, either);
      // Whoever doesn't wait for it reads the job.
      current = { ender, done: done.catch(() => undefined) };
      return { job, done };
    },
    latest: () => latest,
    cancel: async () => {
      current?.ender.abort();
      await current?.done;
    },
  };
}
