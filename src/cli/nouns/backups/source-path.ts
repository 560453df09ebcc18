// Where backups are read from when a command names no directory.
import { requireConfiguration } from '../../frame/configuration.ts';
import type { Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';

/** The given path, otherwise the directory of the settings. Throws `usage`. */
export async function sourcePath(context: Context, from: string | undefined): Promise<string> {
  if (from !== undefined) return from;
  const { directory } = (await requireConfiguration(context)).config.settings.backup;
  if (directory !== '') return directory;
  throw new CommandError('usage', 'Name the directory of the backups: the setting backup.directory is empty.');
}
