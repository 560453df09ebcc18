// `errand service`: the daemon as a service of systemd, for those who have no package that installs it.
import path from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { loadSettings } from '../../../config/config.ts';
import { streamOf } from '../../../config/listen-address.ts';
import { formatProblem } from '../../../catalog/reading/problem.ts';
import { DATA, type Installation, planInstallation, planRemoval } from '../../../service-manager/installation.ts';
import { thisMachine } from '../../../service-manager/machine.ts';
import type { Step } from '../../../service-manager/steps.ts';
import { act, type Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';

/** Adds the noun and its verbs. */
export function addService(program: Command, io: Io): void {
  const service = program
    .command('service')
    .summary('the daemon as a system service')
    .description(
      'Run the daemon as a service of systemd: installs its units for this program. Not needed with the Debian package, ' +
        'which has them. Units that you have changed are replaced only with --yes.',
    );
  const withLocation = (name: string) =>
    service
      .command(name)
      .option('--prefix <dir>', 'write below this directory, such as that of an image, and call no program', '/')
      .option('--dry-run', 'only show the steps');

  withLocation('install')
    .description('Add a system user, directories and units, then start the service. Does only what is not done yet.')
    .option('--user <name>', 'user that the daemon runs as', toUser, 'errand')
    .option('--no-socket', 'let the daemon listen by itself: connections are refused while it restarts')
    .addHelpText('after', '\nExample:\n  sudo errand service install --dry-run')
    .action(act(io, install));

  withLocation('uninstall')
    .description('Stop the service and remove its units. Its data, configuration and user stay.')
    .addHelpText('after', '\nExample:\n  sudo errand service uninstall')
    .action(act(io, uninstall));
}

interface PlaceOptions {
  readonly prefix: string;
  readonly dryRun?: true;
}

interface InstallOptions extends PlaceOptions {
  readonly user: string;
  readonly socket: boolean;
}

/** Directories that the service does not see: ProtectHome= and PrivateTmp= hide them. */
const HIDDEN = ['/home', '/root', '/run/user', '/tmp', '/var/tmp'];

async function install(context: Context, { user, socket, ...place }: InstallOptions): Promise<void> {
  const { root, replaces, machine } = placeFor(context, place);
  const { executable } = context.io;
  requireVisible(executable);
  const steps = await planInstallation({
    root,
    replaces,
    machine,
    executable,
    user,
    listen: socket ? listenIn(root) : null,
  });
  await perform(context, steps, place);
  if (root !== '/') context.out.hint(`To be done there: add the user ${user}; systemctl enable errand.socket errand`);
  else context.out.hint('errand.service runs the daemon. Its first credentials: /var/lib/errand/first-credentials');
}

async function uninstall(context: Context, place: PlaceOptions): Promise<void> {
  await perform(context, await planRemoval(placeFor(context, place)), place);
  context.out.hint(`${DATA}, /etc/errand and the user of the service are left as they are.`);
}

function placeFor(
  { yes }: Context,
  { prefix, dryRun }: PlaceOptions,
): Pick<Installation, 'root' | 'replaces' | 'machine'> {
  const root = path.resolve(prefix);
  const machine = root === '/' ? thisMachine : null;
  if (machine !== null) {
    if (!machine.hasSystemd())
      throw new CommandError('failure', 'systemd does not run here.', 'Write the units elsewhere with --prefix DIR.');
    if (dryRun !== true && !machine.isRoot())
      throw new CommandError('notPermitted', 'Only root can install a service.', 'See its steps with --dry-run.');
  }
  return { root, replaces: yes, machine };
}

function requireVisible(executable: string): void {
  const hidden = HIDDEN.find((directory) => executable.startsWith(`${directory}/`));
  if (hidden !== undefined) {
    throw new CommandError(
      'failure',
      `A service can't run ${executable}: ${hidden} is hidden from it.`,
      'Install the program for all users first, such as in /usr/local.',
    );
  }
  // Other characters have a meaning in units.
  if (!/^[\w./+@-]+$/.test(executable))
    throw new CommandError(
      'failure',
      `A service can't run ${executable}: its path has a space or a special character.`,
    );
}

/** The address of the settings; null when it isn't one that systemd can listen on in the daemon's place. */
function listenIn(root: string): string | null {
  const loaded = loadSettings(path.join(root, 'etc/errand'), []);
  if (!loaded.ok) throw new CommandError('badConfiguration', loaded.problems.map(formatProblem).join('\n'));
  return streamOf(loaded.settings.listen);
}

async function perform({ out, signal }: Context, steps: readonly Step[], { dryRun }: PlaceOptions): Promise<void> {
  if (steps.length === 0) out.hint('There is nothing to do.');
  for (const step of steps) {
    signal.throwIfAborted();
    out.text(`${step.line}\n`);
    if (dryRun !== true) await step.perform();
  }
}

/** A name that useradd takes. */
function toUser(name: string): string {
  if (/^[a-z_][a-z0-9_-]{0,31}$/.test(name)) return name;
  throw new InvalidArgumentError('It must begin with a letter, with letters, digits, "-" and "_" only, at most 32.');
}
