// `errand serve`: the daemon, from its start to a clean stop.
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { messageOf } from '../../../domain/errors.ts';
import { writeAtomically } from '../../../files/blobs/write-atomically.ts';
import { flagHelp } from '../../../config/setting-texts.ts';
import { requireConfiguration } from '../../frame/configuration.ts';
import { act, type Context } from '../../frame/context.ts';
import { requireOwnDirectory } from '../../frame/creation.ts';
import { createdWire } from '../../terminal/created-wire.ts';
import { CommandError, type ExitName } from '../../frame/exit-codes.ts';
import type { Created, Daemon, Io, StopSignal } from '../../frame/io.ts';
import { shellWord } from '../../../terminal/shell-word.ts';
import { credentialsText, firstStepsText } from '../../terminal/welcome.ts';

/** In the data directory; only its owner can read it. */
const FIRST_CREDENTIALS_FILE = 'first-credentials';

/** Limit on a halt. */
const HALT_TIMEOUT_MS = 2000;

/** Adds the command. */
export function addServe(program: Command, io: Io): void {
  program
    .command('serve')
    .summary('run the daemon')
    .description(
      'Run the daemon in the foreground. In an empty data directory, it first creates everything it needs and shows the ' +
        'credentials once: on a terminal, or otherwise in the file first-credentials there. ' +
        'SIGTERM or Ctrl-C stops it when its runs have ended or can be resumed; a second one stops it at once. On SIGHUP ' +
        'it reads its configuration again; when its terminal closes, it stops as on SIGTERM.',
    )
    .option('--listen <address>', flagHelp('listen'))
    .option('--public-url <url>', flagHelp('public_url'))
    .option('--no-workers', 'answer requests, but execute no runs')
    .addHelpText(
      'after',
      '\nAll settings are in errand.yaml in the config directory; "errand config show" lists them.\n\nExample:\n  errand serve --data-dir /srv/errand --listen 0.0.0.0:8484',
    )
    .action(act(io, serve));
}

async function serve(context: Context): Promise<void> {
  await requireOwnDirectory(context, 'serve');
  const configuration = await requireConfiguration(context);
  const { startDaemon } = await context.io.loadDaemon(configuration.config.locations.dataDir);
  const stops = listenForStops(context.io);
  try {
    // A second signal must also end a hanging start.
    const daemon = await Promise.race([startDaemon(configuration), stops.second.then(halted)]);
    stops.onReload(daemon.reload);
    greet(context, daemon);
    await daemon.ready();
    await untilStopped(daemon, stops);
  } finally {
    stops.end();
  }
}

interface Stops {
  readonly first: Promise<StopSignal>;
  readonly second: Promise<StopSignal>;
  /** Sets what SIGHUP does; if one has already arrived, does it now. */
  onReload(reload: () => void): void;
  /** Whether the second has arrived. */
  isHalt(): boolean;
  end(): void;
}

function listenForStops(io: Io): Stops {
  const first = Promise.withResolvers<StopSignal>();
  const second = Promise.withResolvers<StopSignal>();
  let count = 0;
  let isAsked = false;
  let reload = (): void => {
    isAsked = true;
  };
  const stop = (signal: StopSignal) => {
    count += 1;
    (count === 1 ? first : second).resolve(signal);
  };
  // A terminal that closes sends SIGHUP too, and must not leave an invisible daemon behind.
  const endings = [io.onSignal(stop), io.onHangup(() => (io.terminal.stdin ? stop('SIGTERM') : reload()))];
  return {
    first: first.promise,
    second: second.promise,
    onReload: (listener) => {
      reload = listener;
      if (isAsked) reload();
    },
    isHalt: () => count > 1,
    end: () => endings.forEach((end) => end()),
  };
}

async function untilStopped(daemon: Daemon, stops: Stops): Promise<void> {
  const ended = untilEnded(daemon, stops.first);
  const halted = stops.second.then((signal) => halt(daemon, signal));
  await Promise.race([Promise.allSettled([ended]), halted]);
  // A halt ends the daemon as well; the order of the two must not decide the exit code.
  await (stops.isHalt() ? halted : ended);
}

async function untilEnded(daemon: Daemon, first: Promise<StopSignal>): Promise<void> {
  // Waits for both: a drain that fails must not count as a clean end.
  const drained = first.then(() => daemon.drain());
  try {
    await Promise.race([daemon.ended, drained]);
    await daemon.ended;
  } catch (error) {
    throw new CommandError('failure', `The daemon failed: ${messageOf(error)}`);
  }
}

async function halt(daemon: Daemon, signal: StopSignal): Promise<never> {
  // Whatever happens, the process ends now.
  await Promise.race([daemon.halt().catch(() => undefined), pause(HALT_TIMEOUT_MS)]);
  return halted(signal);
}

const HALTED: Readonly<Record<StopSignal, ExitName>> = { SIGINT: 'interrupted', SIGTERM: 'terminated' };

function halted(signal: StopSignal): never {
  throw new CommandError(HALTED[signal], '');
}

function greet(context: Context, daemon: Daemon): void {
  const { io, out } = context;
  if (daemon.created === null) {
    // Programs read the log, which says the same.
    if (io.terminal.stderr) out.hint(`Errand listens on ${daemon.url}`);
  } else if (out.format === 'json') {
    out.json(createdWire(daemon.created));
  } else if (io.terminal.stdout) {
    out.text(welcome(context, daemon.url, daemon.created));
  } else {
    keepWelcome(context, daemon.url, daemon.created);
  }
}

/** Without a terminal, the output may be a log that many read: secrets go into a file of their own. */
function keepWelcome(context: Context, url: string, created: Created): void {
  const { call, out } = context;
  const file = join(created.dataDir, FIRST_CREDENTIALS_FILE);
  try {
    writeAtomically(file, welcome(context, url, created), 0o600);
    out.text(`The administrator's password and API key are in ${file}. Store them elsewhere, and remove the file.\n`);
    const key = `$(sed -n 's/^ *API key *//p' ${shellWord(file)})`;
    out.text(firstStepsText({ url, key, command: call }));
  } catch (error) {
    out.hint(`The first credentials could not be written to ${file}: ${messageOf(error)}`);
    out.hint(`Create new ones: ${call} users passwd admin; ${call} keys create --user admin --scope admin`);
  }
}

function welcome({ call }: Context, url: string, created: Created): string {
  return `${credentialsText(created)}\n${firstStepsText({ url, key: created.apiKey.key, command: call })}`;
}
