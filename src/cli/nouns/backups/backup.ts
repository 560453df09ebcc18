// `errand backup`: what is needed when the machine is gone.
import type { Command } from 'commander';
import { openSource } from '../../../backups/source.ts';
import { summaryOf } from '../../../backups/summary.ts';
import { messageOf } from '../../../domain/errors.ts';
import { integerIn } from '../../frame/arguments.ts';
import { act, type Context } from '../../frame/context.ts';
import type { Io } from '../../frame/io.ts';
import { BACKUPS, PRUNED } from './columns.ts';
import { create } from './create.ts';
import { hintLeftOut } from './left-out.ts';
import { restoreBackup, verifyBackup } from './restore.ts';
import { sourcePath } from './source-path.ts';

const KEY_FILE = '--passphrase-file <file>';

/** Adds the noun and its verbs. */
export function addBackup(program: Command, io: Io): void {
  const backup = program.command('backup').summary('backups: make, verify, restore').description(ABOUT);
  backup
    .command('create')
    .description('Make a backup of the running daemon. Each after the first adds only what has changed.')
    .option('--to <directory>', "where to: a directory of the daemon's machine, or - for a tar archive on stdout")
    .option('--without-workspaces', "leave out the agents' files")
    .option('--with-master-key', 'include the master key, encrypted with a passphrase')
    .option(KEY_FILE, 'a file with the passphrase, - for stdin; typed when absent')
    .addHelpText('after', CREATE_EXAMPLES)
    .action(act(io, create));
  backup
    .command('list')
    .description('List the backups of a directory or an archive. Requires no daemon.')
    .argument('[from]', 'the directory or archive (default: backup.directory of the settings)')
    .action(act(io, list));
  backup
    .command('verify')
    .description(
      'Verify a backup: every byte, the database, and each of its rows. Exits with 8 when something is wrong.',
    )
    .argument('[from]', 'the directory or archive (default: backup.directory of the settings)')
    .argument('[id]', 'the backup (default: the newest)')
    .option(
      '--scratch <directory>',
      'where the database is unpacked meanwhile (default: the folder for temporary files)',
    )
    .action(act(io, verifyBackup));
  backup
    .command('restore')
    .description('Restore a backup into an empty data directory. Requires no daemon.')
    .argument('<from>', 'the directory or archive')
    .argument('[id]', 'the backup (default: the newest)')
    .requiredOption('--to <directory>', 'the data directory; missing or empty')
    .option('--paused', 'disable webhooks and scheduled tasks, for a copy beside the original')
    .option('--owner <user>', 'the user that the daemon runs as (default: the owner of the data directory)')
    .option('--without-master-key', 'leave out the master key of the backup')
    .option(KEY_FILE, 'a file with the passphrase of the master key, - for stdin; typed when absent')
    .addHelpText('after', RESTORE_HELP)
    .action(act(io, restoreBackup));
  backup
    .command('prune')
    .description('Remove old backups, and what no other backup needs.')
    .argument('[directory]', "a directory of the daemon's machine (default: backup.directory of the settings)")
    .option(
      '--keep-days <days>',
      'remove those that are older (default: as in the settings)',
      integerIn({ from: 0, to: 36_500 }),
    )
    .option(
      '--keep <count>',
      'so many of the newest stay, however old (default: 1)',
      integerIn({ from: 1, to: 100_000 }),
    )
    .action(act(io, prune));
}

const ABOUT =
  'Backups of the database, the files and the configuration, made while the daemon runs. The settings of "backup" make one ' +
  'each day.';
const CREATE_EXAMPLES = `
Examples:
  errand backup create --to /mnt/backup/errand
  errand backup create --to - | ssh vault 'cat > errand.tar'`;
const RESTORE_HELP = `
The configuration is restored into the directory of --config-dir, otherwise into "config" of the data
directory. Without the master key in the backup, put master.key there yourself before you start the daemon.

Example:
  errand backup restore /mnt/backup/errand --to /var/lib/errand --config-dir /etc/errand --owner errand`;

async function list(context: Context, from: string | undefined): Promise<void> {
  const source = openSource(await sourcePath(context, from));
  try {
    const items = source.ids.toReversed().flatMap((id) => {
      try {
        return summaryOf(source.manifest(id));
      } catch (error) {
        context.out.hint(messageOf(error));
        return [];
      }
    });
    context.out.list(items, BACKUPS, { items, total: items.length });
    // Of the newest: the others have mostly the same.
    const [newest] = items;
    if (newest !== undefined)
      hintLeftOut(context.out, `was left out of ${newest.id}`, {
        count: newest.left_out,
        named: newest.left_out_files,
      });
  } finally {
    source.close();
  }
}

interface PruneOptions {
  readonly keepDays?: number;
  readonly keep?: number;
}

async function prune({ client, out }: Context, directory: string | undefined, { keepDays, keep }: PruneOptions) {
  const pruned = await client().backups.prune({
    ...(directory !== undefined && { directory }),
    ...(keepDays !== undefined && { keep_days: keepDays }),
    ...(keep !== undefined && { keep_at_least: keep }),
  });
  out.record(pruned, PRUNED, pruned);
}
