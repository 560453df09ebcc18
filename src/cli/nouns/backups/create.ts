// `errand backup create`: begins a backup in the daemon and follows it, or writes an archive to stdout.
import { setTimeout as sleep } from 'node:timers/promises';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { defined } from '../../../domain/defined.ts';
import { messageOf } from '../../../domain/errors.ts';
import { lostWhile } from '../../../client/transport/transport.ts';
import type { BackupJobWire } from '../../../wire/backups/backup.ts';
import type { Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import { flag, type Given, option } from '../../frame/options.ts';
import { readableSize } from '../../../terminal/sizes.ts';
import { makeProgressBar } from '../../terminal/progress.ts';
import { BACKUPS } from './columns.ts';
import { hintLeftOut } from './left-out.ts';
import { readPassphrase } from './passphrase.ts';

export const CREATE = {
  to: option('--to <directory>', "where to: a directory of the daemon's machine, or - for a tar archive on stdout"),
  withoutWorkspaces: flag('--without-workspaces', "leave out the agents' files"),
  withMasterKey: flag('--with-master-key', 'include the master key, encrypted with a passphrase'),
  passphraseFile: option('--passphrase-file <file>', 'a file with the passphrase, - for stdin; typed when absent'),
};

const POLL_MS = 250;
const CANCEL_TIMEOUT_MS = 10_000;

export async function create(context: Context, options: Given<typeof CREATE>): Promise<void> {
  const { to, withoutWorkspaces, withMasterKey, passphraseFile } = options;
  if (passphraseFile !== undefined && !withMasterKey)
    throw new CommandError('usage', '--passphrase-file needs --with-master-key.');
  const request = {
    ...(withoutWorkspaces && { workspaces: false }),
    ...(withMasterKey && { passphrase: await readPassphrase(context, passphraseFile, true) }),
  };
  if (to === '-') await writeArchive(context, request);
  else await follow(context, { ...request, ...defined({ directory: to && resolve(to) }) });
}

type Request = NonNullable<Parameters<ReturnType<Context['client']>['backups']['create']>[0]>;

async function follow(context: Context, request: Request): Promise<void> {
  const { io, signal, client } = context;
  const { backups } = client();
  const bar = makeProgressBar(io);
  let job = await backups.create(request);
  const { id } = job;
  try {
    while (job.state === 'running') {
      bar.show(job.phase ?? 'beginning', job.done, job.total, job.bytes > 0 ? readableSize(job.bytes) : '');
      await sleep(POLL_MS, undefined, { signal });
      job = await backups.latest();
      if (job.id !== id)
        throw new CommandError('failure', 'The daemon has begun another backup meanwhile; see its log.');
    }
  } catch (error) {
    bar.end();
    if (signal.aborted) await cancel(context, id);
    throw error;
  }
  bar.end();
  show(context, job);
}

/** Ctrl-C is for the backup as well, which would otherwise hold up the next one. */
async function cancel({ client, out }: Context, id: string): Promise<void> {
  const limit = AbortSignal.timeout(CANCEL_TIMEOUT_MS);
  try {
    const { state } = await client(limit).backups.cancel(id);
    out.hint(state === 'completed' ? 'The backup was completed before.' : 'The backup is stopped.');
  } catch (error) {
    out.hint(`The daemon may continue the backup: ${messageOf(error)}`);
  }
}

function show({ out }: Context, { backup, error, directory }: BackupJobWire): void {
  if (backup === null) throw new CommandError('failure', error ?? 'The backup failed.');
  out.record(backup, BACKUPS, { ...backup, directory });
  hintLeftOut(out, 'is left out of the backup', { count: backup.left_out, named: backup.left_out_files });
  if (backup.missing_blobs > 0)
    out.hint(
      `${backup.missing_blobs} files are missing that the database names: the data directory itself is damaged.`,
    );
}

async function writeArchive(context: Context, request: Omit<Request, 'directory'>): Promise<void> {
  const { io, out, signal, client } = context;
  if (io.terminal.stdout) throw new CommandError('usage', 'An archive is not for a terminal: redirect stdout.');
  const reply = await client().backups.archive(request);
  try {
    await pipeline(reply, io.stdout, { signal, end: false });
  } catch (error) {
    out.hint('The archive is not complete.');
    throw lostWhile(error, { requestId: undefined, sessionId: undefined, runId: undefined });
  }
}
