// What every command starts with: the global flags, a client, and a signal for Ctrl-C.
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { type Client, makeClient } from '../../client/client.ts';
import type { Address } from '../../client/transport/transport.ts';
import { defined } from '../../domain/defined.ts';
import { messageOf } from '../../domain/errors.ts';
import type { Flags } from '../../config/environment.ts';
import { type Locations, resolveLocations } from '../../config/locations.ts';
import { findInstalled } from '../../service-manager/installed.ts';
import { callOf } from './command-name.ts';
import { CommandError } from './exit-codes.ts';
import type { Io } from './io.ts';
import { type Format, makeOutput, type Output } from './output.ts';

/** The global flags, and those of `serve`, as commander reads them (K4). */
interface GivenFlags {
  readonly dataDir?: string;
  readonly configDir?: string;
  readonly url?: string;
  readonly tokenFile?: string;
  readonly output?: Format;
  readonly wide?: boolean;
  readonly yes?: boolean;
  readonly listen?: string;
  readonly publicUrl?: string;
  readonly workers?: boolean;
}

/** One command in progress. */
export interface Context {
  readonly io: Io;
  readonly out: Output;
  readonly flags: Flags;
  readonly locations: Locations;
  /** How to call the command for the same daemon, flags included; for lines to paste. */
  readonly call: string;
  /** True with `--yes`. */
  readonly yes: boolean;
  /** Aborted by Ctrl-C, SIGTERM, or a reader that closed the pipe. */
  readonly signal: AbortSignal;
  /** A client of the daemon that the flags select, until a signal: its own unless given. Throws `usage` or `badConfiguration`. */
  client(until?: AbortSignal): Client;
}

/** Makes a commander action of a command's work, which receives its context first, then arguments and options. */
export function act<Arguments extends unknown[]>(
  io: Io,
  work: (context: Context, ...given: Arguments) => Promise<void>,
): (...given: [...Arguments, Command]) => Promise<void> {
  return async (...given) => {
    const command = given.at(-1) as Command;
    const interruption = interruptionOf(io);
    try {
      const context = makeContext(io, command.optsWithGlobals<GivenFlags>(), interruption.signal);
      await work(context, ...(given.slice(0, -1) as Arguments));
    } catch (error) {
      throw interruption.signal.aborted && !(error instanceof CommandError) ? interruption.signal.reason : error;
    } finally {
      interruption.end();
    }
  };
}

/** The key for the conversation endpoints: `ERRAND_API_KEY`, otherwise the token file. Throws `usage`. */
export function requireApiKey({ call, locations }: Context): string {
  const key = locations.apiKey ?? readToken(locations);
  if (key !== null) return key;
  const how = `Create one with: ${call} keys create --user NAME --scope global`;
  throw new CommandError('usage', 'ERRAND_API_KEY must contain an API key.', how);
}

/**
 * The same, or what makes the operator behind the control socket act as a user, with the key that the user was given last (0057). Throws
 * `usage`.
 */
export function requireApiKeyOrUser(context: Context, username: string | undefined): string {
  if (username === undefined) return requireApiKey(context);
  if (context.locations.url === null) return `as:${encodeURIComponent(username)}`;
  throw new CommandError('usage', '--as works beside the daemon, on its control socket: without --url.');
}

/** The address of the daemon: that of `--url`, otherwise the socket in the data directory (K1). */
function addressOf(locations: Locations): Address {
  if (locations.url === null) return { socketPath: locations.socketPath };
  const url = URL.parse(locations.url);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new CommandError(
      'usage',
      `--url must be an http or https address, its port at most 65535, not ${locations.url}`,
    );
  }
  return { url: locations.url, token: readToken(locations) ?? locations.apiKey };
}

function readToken({ tokenFile }: Locations): string | null {
  if (tokenFile === null) return null;
  let token: string;
  try {
    token = readFileSync(tokenFile, 'utf8').trim();
  } catch (error) {
    throw new CommandError('usage', `--token-file cannot be read: ${messageOf(error)}`);
  }
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new CommandError('usage', '--token-file must contain an API key and nothing else.');
}

function makeContext(io: Io, given: GivenFlags, signal: AbortSignal): Context {
  const flags = flagsOf(given);
  const locations = resolveLocations(flags, io.environment);
  return {
    io,
    out: makeOutput(io, { format: given.output, wide: given.wide === true }),
    flags,
    locations,
    call: callOf(io.commandName, { ...given, dataDir: given.dataDir ?? dataDirOfOwnService(locations, io) }),
    yes: given.yes === true,
    signal,
    client: (until = signal) => makeClient(addressOf(locations), until),
  };
}

/** From the service manager's variable, which the readers of its output do not have; null where commands find it without. */
function dataDirOfOwnService({ dataDir }: Locations, { environment }: Io): string | undefined {
  if (!environment['STATE_DIRECTORY'] || environment['ERRAND_DATA_DIR']) return undefined;
  return findInstalled()?.dataDir === dataDir ? undefined : dataDir;
}

function flagsOf({ dataDir, configDir, url, tokenFile, listen, publicUrl, workers }: GivenFlags): Flags {
  return {
    ...defined({ dataDir, configDir, url, tokenFile, listen, publicUrl }),
    ...(workers === false && { noWorkers: true }),
  };
}

/** Whatever ends a command early, as one signal whose reason is the error to end with. */
function interruptionOf(io: Io): { readonly signal: AbortSignal; end(): void } {
  const controller = new AbortController();
  const quiet = (name: 'ok' | 'interrupted' | 'terminated') => controller.abort(new CommandError(name, ''));
  const stopListening = io.onSignal((signal) => quiet(signal === 'SIGINT' ? 'interrupted' : 'terminated'));
  // A reader such as `head` that stops reading isn't a failure.
  const onError = (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') quiet('ok');
  };
  io.stdout.on('error', onError);
  return {
    signal: controller.signal,
    end() {
      stopListening();
      io.stdout.off('error', onError);
    },
  };
}
