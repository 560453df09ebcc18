// `errand backup`: what is needed when the machine is gone.
import type { Command } from 'commander';
import { openSource } from '../../../backups/source.ts';
import { summaryOf } from '../../../backups/summary.ts';
import { defined } from '../../../domain/defined.ts';
import { messageOf } from '../../../domain/errors.ts';
import { integerIn } from '../../frame/arguments.ts';
import { act, type Context } from '../../frame/context.ts';
import type { Io } from '../../frame/io.ts';
import { type Given, option, perform } from '../../frame/options.ts';
import type { OptionsFor } from '../../frame/noun.ts';
import { BACKUPS, PRUNED } from './columns.ts';
import { create, CREATE } from './create.ts';
import { hintLeftOut } from './left-out.ts';
import { RESTORE, restoreBackup, VERIFY, verifyBackup } from './restore.ts';
import { sourcePath } from './source-path.ts';

const PRUNE = {
  keep_days: option(
    '--keep-days <days>',
    'remove those that are older (default: as in the settings)',
    integerIn({ from: 0, to: 36_500 }),
  ),
  keep_at_least: option(
    '--keep <count>',
    'so many of the newest stay, however old (default: 1)',
    integerIn({ from: 1, to: 100_000 }),
  ),
} satisfies OptionsFor<'backups', 'prune'>;

const FROM = 'the directory or archive (default: backup.directory of the settings)';
const NEWEST = 'the backup (default: the newest)';

/** Adds the noun and its verbs. */
export function addBackup(program: Command, io: Io): void {
  const backup = program.command('backup').summary('backups: make, verify, restore').description(ABOUT);
  perform(backup.command('create'), io, CREATE, create)
    .description('Make a backup of the running daemon. Each after the first adds only what has changed.')
    .addHelpText('after', CREATE_EXAMPLES);
  backup
    .command('list')
    .argument('[from]', FROM)
    .description('List the backups of a directory or an archive. Requires no daemon.')
    .action(act(io, list));
  const verify = backup.command('verify').argument('[from]', FROM).argument('[id]', NEWEST);
  perform(verify, io, VERIFY, verifyBackup).description(
    'Verify a backup: every byte, the database, and each of its rows. Exits with 8 when something is wrong.',
  );
  const restore = backup.command('restore').argument('<from>', 'the directory or archive').argument('[id]', NEWEST);
  perform(restore, io, RESTORE, restoreBackup)
    .description('Restore a backup into an empty data directory. Requires no daemon.')
    .addHelpText('after', RESTORE_HELP);
  const directory = "a directory of the daemon's machine (default: backup.directory of the settings)";
  perform(backup.command('prune').argument('[directory]', directory), io, PRUNE, prune).description(
    'Remove old backups, and what no other backup needs.',
  );
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

async function prune({ client, out }: Context, directory: string | undefined, given: Given<typeof PRUNE>) {
  const pruned = await client().backups.prune({ ...given, ...defined({ directory }) });
  out.record(pruned, PRUNED, pruned);
}
