// `errand config set`: changes one setting in errand.yaml, where the daemon takes it up by itself.
import { lchownSync, readFileSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import path from 'node:path';
import type { Command } from 'commander';
import { isClientFailure } from '../../../client/transport/client-error.ts';
import { codeOf, messageOf } from '../../../domain/errors.ts';
import { writeAtomically } from '../../../files/blobs/write-atomically.ts';
import { shellWord } from '../../../terminal/shell-word.ts';
import { act, type Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import { makeUnitsFollow } from './units-follow.ts';

const USUAL_MODE = 0o644;

/** Adds the verb. */
export function addConfigSet(config: Command, io: Io): void {
  config
    .command('set <setting> [value]')
    .description(
      'Change a setting in errand.yaml, and keep everything else in the file. A list is written as JSON. A running daemon ' +
        'takes it up at once, except "listen" and "metrics.listen". For the installed service, "backup.directory" and "listen" also ' +
        'change its units, by drop-ins.',
    )
    .option('--default', 'remove the setting from the file, so that its default is in effect')
    .addHelpText('after', EXAMPLES)
    .action(act(io, set));
}

const EXAMPLES = `
Examples:
  errand config set log.level debug
  errand config set public_url https://errand.example.com
  errand config set trusted_proxies '["127.0.0.1"]'
  errand config set model.max_steps --default`;

async function set(
  context: Context,
  name: string,
  value: string | undefined,
  { default: isDefault }: { readonly default?: true },
): Promise<void> {
  if ((value === undefined) !== (isDefault === true))
    throw new CommandError('usage', 'Give a value, or --default, and not both.');
  const { writeSetting } = await import('../../../config/write-setting.ts');
  const configDir = await configDirOf(context);
  const file = path.join(configDir, 'errand.yaml');
  const asRoot = commandAsRoot(context, configDir, [name, value ?? '--default']);
  try {
    const written = writeSetting(textOf(file), name, value ?? null);
    if (!written.ok) throw new CommandError('usage', written.why);
    replace(file, written.text);
  } catch (error) {
    throw error instanceof CommandError ? error : refusalOf(error, { file, asRoot, user: userInfo().username });
  }
  context.out.hint(`${name} is ${value === undefined ? 'at its default' : 'set'} in ${file}.`);
  await makeUnitsFollow(context, { name, value: value ?? null, configDir, asRoot });
  await hintAtOverride(context, name);
}

/** Of the daemon that answers, which may use another directory than this shell would. */
async function configDirOf({ client, locations, flags }: Context): Promise<string> {
  if (locations.url !== null)
    throw new CommandError('usage', 'The file is on the machine of the daemon: run this there.');
  if (flags.configDir !== undefined) return locations.configDir;
  try {
    return (await client().status()).config_dir;
  } catch (error) {
    if (isClientFailure(error, 'unreachable')) return locations.configDir;
    throw error;
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  }
}

function replace(file: string, text: string): void {
  const before = statSync(file, { throwIfNoEntry: false });
  writeAtomically(file, text, (before?.mode ?? USUAL_MODE) & 0o777);
  // Root must not take the file away from the daemon.
  if (before !== undefined && process.getuid?.() === 0) lchownSync(file, before.uid, before.gid);
}

/** Names the directory, because root could find another one while no daemon runs. */
function commandAsRoot({ call, flags }: Context, configDir: string, words: readonly string[]): string {
  const place = flags.configDir === undefined ? ` --config-dir ${shellWord(configDir)}` : '';
  return `sudo ${call}${place} config set ${words.map(shellWord).join(' ')}`;
}

const NOT_PERMITTED: ReadonlySet<string | undefined> = new Set(['EACCES', 'EPERM']);

/** What to say when the file can't be changed: the service's user reads its configuration, and writes none of it. */
export function refusalOf(
  error: unknown,
  { file, asRoot, user }: { readonly file: string; readonly asRoot: string; readonly user: string },
): CommandError {
  if (NOT_PERMITTED.has(codeOf(error)) && user !== 'root')
    return new CommandError('failure', `The user ${user} can't change ${file}.`, `Change it as root: ${asRoot}`);
  return new CommandError('failure', `${file} can't be changed: ${messageOf(error)}`);
}

/** A variable or a flag of the daemon wins over the file. */
async function hintAtOverride({ client, out }: Context, name: string): Promise<void> {
  try {
    const row = (await client().configuration()).settings.find((setting) => setting.name === name);
    if (row?.origin === 'environment' || row?.origin === 'flag')
      out.hint(`The daemon was started with ${row.source}, which wins over the file.`);
  } catch {
    // Without a daemon, nothing overrides the file yet.
  }
}
