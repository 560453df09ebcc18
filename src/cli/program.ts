// The whole command line: global flags, every noun, and how a command ends.
import { setTimeout as pause } from 'node:timers/promises';
import { Command, Option } from 'commander';
import type { Flags } from '../config/environment.ts';
import { resolveLocations, startOf } from '../config/locations.ts';
import { VERSION } from '../version.ts';
import { act } from './frame/context.ts';
import { callOf } from './frame/command-name.ts';
import { type Calling, type Ending, endingOf, EXIT } from './frame/exit-codes.ts';
import type { Io } from './frame/io.ts';
import { addNouns } from './all-nouns.ts';
import { showOverview } from './overview.ts';
import { paint, wantsColours } from '../terminal/colours.ts';
import { safeText } from '../terminal/text.ts';

/** Builds the root of the tree of commands. Parsing throws where commander would end the process. */
export function makeProgram(io: Io): Command {
  const program = new Command('errand')
    .description('Errand runs autonomous AI agents for your users, who talk to them with OpenAI and Anthropic clients.')
    .version(VERSION, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show help; "errand NOUN VERB --help" shows more')
    .helpCommand('help [command]', 'show help for a command')
    .showHelpAfterError('Add --help to see the usage.')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      outputError: (text, write) => write(safeText(text.replace(/^error: /, 'errand: '))),
      getOutHelpWidth: () => io.columns,
      getErrHelpWidth: () => io.columns,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .exitOverride();
  addGlobalFlags(program);
  return program.addHelpText('after', HELP_END);
}

const HELP_END = `
Environment:
  ERRAND_API_KEY     key for "errand chat", and for --url without --token-file
  ERRAND_DATA_DIR, ERRAND_CONFIG_DIR, ERRAND_URL, ERRAND_LISTEN, ERRAND_PUBLIC_URL
                     the same as the flags of these names; flags override them
  NO_COLOR           disables colours; FORCE_COLOR enables them where the output is not a terminal

Exit codes:
  0 ok   1 failure   2 usage   3 daemon not reachable   4 not permitted   5 not found
  6 conflict   7 timed out   8 a check failed   78 bad configuration   130 interrupted

Examples:
  errand serve
  errand users create alice --full-name "Alice Doe"
  errand keys create --user alice --scope global --expires 90d
  errand chat --stream Write a limerick to /limerick.txt`;

/** Global flags work before and after the noun (K4). */
function addGlobalFlags(program: Command): void {
  program
    .option('--data-dir <dir>', 'data directory of the daemon')
    .option('--config-dir <dir>', 'directory of its configuration')
    .option('--url <url>', 'address of the daemon, in place of its socket')
    .option('--token-file <file>', 'file with the API key for --url')
    .addOption(new Option('-o, --output <format>', 'format of results').choices(['table', 'json']))
    .option('--wide', 'show every column in full, even when the terminal is too narrow')
    .option('-y, --yes', 'do not ask for confirmation');
}

/** Runs one command line (without node and script) and returns the exit code. Never throws. */
export async function runProgram(args: readonly string[], io: Io): Promise<number> {
  const closings = watchOutput(io);
  let ending: Ending = { code: EXIT.ok, message: '' };
  const program = makeProgram(io);
  try {
    // Throws for global flags without their value.
    const { operands, unknown } = program.parseOptions([...args]);
    await addNouns(program, io, operands[0]);
    if (operands.length === 0 && unknown.length === 0) program.action(act(io, showOverview));
    await program.parseAsync([...args], { from: 'user' });
  } catch (error) {
    ending = endingOf(error, callingOf(io, program.opts()));
  }
  report(io, ending);
  const failure = await closings.flushed();
  if (failure === undefined) return ending.code;
  report(io, { code: EXIT.failure, message: `The output could not be written: ${failure}` });
  return ending.code === EXIT.ok ? EXIT.failure : ending.code;
}

function callingOf(io: Io, given: Flags): Calling {
  const call = callOf(io.commandName, given);
  const { isService } = resolveLocations(given, io.environment);
  return { call, isService, start: startOf({ isService }, call) };
}

function report(io: Io, { message, hint }: Ending): void {
  const name = wantsColours(io.terminal.stderr, io.environment) ? paint('errand:', 'red') : 'errand:';
  if (message !== '') io.stderr.write(`${name} ${safeText(message)}\n`);
  if (hint !== undefined && hint !== '') io.stderr.write(`${safeText(hint)}\n`);
}

/** Limit on writing the last lines to standard error. */
const LAST_WORDS_MS = 2000;

/** Keeps a closed pipe from being an uncaught error; `flushed` returns any other error of writing the output. */
function watchOutput({ stdout, stderr }: Io): { flushed(): Promise<string | undefined> } {
  let failure: string | undefined;
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') failure ??= error.message;
  });
  stderr.on('error', () => undefined);
  return {
    async flushed() {
      const written = [stdout, stderr].map((stream) => new Promise((resolve) => stream.write('', resolve)));
      // A reader of the log that has stopped reading must not keep a daemon from ending.
      await Promise.all([written[0], Promise.race([written[1], pause(LAST_WORDS_MS)])]);
      // An error arrives one turn of the event loop after its write has failed.
      await new Promise((resolve) => setImmediate(resolve));
      return failure;
    },
  };
}
