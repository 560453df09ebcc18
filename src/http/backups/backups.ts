// The handlers of backups.
import type { ServerResponse } from 'node:http';
import type { BackupJob } from '../../backups/jobs.ts';
import { summaryOf } from '../../backups/summary.ts';
import { isoTime } from '../../domain/clock.ts';
import type { Administrator } from '../../domain/people/user.ts';
import type { Operations } from '../../operations/operations.ts';
import type {
  BackupJobWire,
  BackupPruningWire,
  NewBackupArchiveWire,
  NewBackupWire,
} from '../../wire/backups/backup.ts';
import type { Exchange } from '../frame/exchange.ts';
import { pauseOf } from '../replies/backlog.ts';
import { limitStall, writeHead } from '../replies/head.ts';
import { ok } from '../replies/reply.ts';
import { untilGone } from '../frame/until-gone.ts';

/** The handlers by name; `routes.ts` assigns their paths. */
export function makeBackupHandlers(operations: Operations) {
  return {
    create: async ({ body }: Exchange<unknown, NewBackupWire>, caller: Administrator) => {
      const { directory = null, workspaces = null, passphrase = null } = body;
      return {
        status: 202,
        body: renderJob(await operations.createBackup(caller, { directory, workspaces, passphrase })),
      };
    },

    latest: (_exchange: Exchange, caller: Administrator) => ok(renderJob(operations.getBackupJob(caller))),

    cancel: async ({ params }: Exchange, caller: Administrator) =>
      ok(renderJob(await operations.cancelBackup(caller, params['id']!))),

    prune: async ({ body }: Exchange<unknown, BackupPruningWire>, caller: Administrator) => {
      const { directory = null, keep_days: keepDays = null, keep_at_least: keepAtLeast = null } = body;
      return ok(await operations.pruneBackups(caller, { directory, keepDays, keepAtLeast }));
    },

    /** What fails before the first byte is refused; later, the archive breaks off. */
    send: async (exchange: Exchange<unknown, NewBackupArchiveWire>, caller: Administrator) => {
      const { res, body } = exchange;
      const { workspaces = null, passphrase = null } = body;
      const take = async (bytes: Uint8Array) => write(res, bytes);
      try {
        await operations.sendBackup(caller, { workspaces, passphrase }, take, untilGone(exchange));
        res.end();
      } catch (error) {
        if (!res.headersSent) throw error;
        res.destroy();
      }
      return undefined;
    },
  };
}

/** Resolves when the client wants more. */
async function write(res: ServerResponse, bytes: Uint8Array): Promise<void> {
  if (res.destroyed) throw new Error('The client has disconnected.');
  if (!res.headersSent) {
    writeHead(res, 200, { 'Content-Type': 'application/x-tar', 'Cache-Control': 'no-store' });
    limitStall(res);
  }
  res.write(bytes);
  await pauseOf(res);
  if (res.destroyed) throw new Error('The client has disconnected.');
}

function renderJob({ id, directory, state, startedAt, progress, error, manifest }: BackupJob): BackupJobWire {
  return {
    id,
    directory,
    state,
    started_at: isoTime(startedAt),
    phase: progress?.phase ?? null,
    done: progress?.done ?? 0,
    total: progress?.total ?? 0,
    bytes: progress?.bytes ?? 0,
    error,
    backup: manifest === null ? null : summaryOf(manifest),
  };
}
