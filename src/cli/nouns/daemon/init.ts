// `errand init`: a data directory with an administrator, ready for `errand serve`.
import type { Command } from 'commander';
import { notEmpty } from '../../frame/arguments.ts';
import { requireConfiguration } from '../../frame/configuration.ts';
import { act, type Context } from '../../frame/context.ts';
import { startOf } from '../../../config/locations.ts';
import { requireOwnDirectory } from '../../frame/creation.ts';
import { COST_OF_NEW_KEY } from '../../../files/master-key.ts';
import { createdWire } from '../../terminal/created-wire.ts';
import type { Created, Io } from '../../frame/io.ts';
import { type Column, column } from '../../../terminal/columns.ts';
import { credentialsText } from '../../terminal/welcome.ts';

const FIELDS: readonly Column<Created>[] = [
  column('data_dir', (created) => created.dataDir),
  column('config_dir', (created) => created.configDir),
  column('user_id', (created) => created.admin.userId),
  column('username', (created) => created.admin.username),
  column('password', (created) => created.admin.password),
  column('api_key_id', (created) => created.apiKey.id),
  column('api_key', (created) => created.apiKey.key),
];

/** Adds the command. */
export function addInit(program: Command, io: Io): void {
  program
    .command('init')
    .summary('create a data directory')
    .description(
      'Create a data directory: database, master key, commented configuration files, an administrator and an API key. ' +
        'The password and the key are shown once. "errand serve" does the same when the directory is empty.',
    )
    .option('--admin <name>', "the administrator's user name", notEmpty, 'admin')
    .option('--new-master-key', 'make a new master key if the old one is permanently lost')
    .addHelpText('after', '\nExample:\n  errand init --data-dir /srv/errand -o json > credentials.json')
    .action(act(io, init));
}

const OTHER_NODES = 'Other nodes of the installation need a copy of it.';

interface InitOptions {
  readonly admin: string;
  readonly newMasterKey?: boolean;
}

async function init(context: Context, { admin, newMasterKey }: InitOptions): Promise<void> {
  await requireOwnDirectory(context, newMasterKey === true ? 'init --new-master-key' : 'init');
  const { config } = await requireConfiguration(context);
  const { initialize, renewMasterKey } = await context.io.loadDaemon(config.locations.dataDir);
  if (newMasterKey === true) {
    await renewMasterKey(config);
    context.out.hint(`${config.locations.masterKeyPath} is a new master key. ${COST_OF_NEW_KEY} ${OTHER_NODES}`);
    return;
  }
  showCreated(context, await initialize(config, admin));
  context.out.hint(`Next: ${startOf(config.locations, context.call)}`);
}

/** Shows the credentials of a new data directory: for people, in columns, or as a document. */
function showCreated({ io, out }: Context, created: Created): void {
  if (out.format === 'table' && io.terminal.stdout) out.text(credentialsText(created));
  else out.record(created, FIELDS, createdWire(created));
}
