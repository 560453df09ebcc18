// Where a daemon's files and its socket are: by flags, environment, and the service of this machine.
import { existsSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { type Problem, problemOutside } from '../catalog/reading/problem.ts';
import { findInstalled, type Installed } from '../service-manager/installed.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { type Environment, type Flags, variable } from './environment.ts';
import { MAX_SOCKET_PATH_BYTES } from './listen-address.ts';

/** Absolute paths (J1, J6, K1, K6), and how the command reaches a daemon elsewhere. */
export interface Locations {
  readonly dataDir: string;
  readonly configDir: string;
  readonly socketPath: string;
  /** The directory of the service's credentials; null without them. */
  readonly credentialsDirectory: string | null;
  readonly masterKeyPath: string;
  /** Whether they are those of a system service, which systemd starts. */
  readonly isService: boolean;
  /** Whether a flag or a variable names the data directory. */
  readonly isNamed: boolean;
  readonly url: string | null;
  /** From `ERRAND_API_KEY`. */
  readonly apiKey: string | null;
  readonly tokenFile: string | null;
}

/** A directory that systemd made for the service; the first, if the unit asks for several. */
function serviceDirectory(environment: Environment, name: string): string | null {
  return variable(environment, name)?.split(':')[0] ?? null;
}

/** A path of the operator's, made absolute. */
const absolute = (given: string | null): string | null => (given === null ? null : path.resolve(given));

/** What takes part in finding the places. */
interface Search {
  readonly flags: Flags;
  readonly environment: Environment;
  readonly dataDir: string;
  /** The installed service, if it is the one that is meant. */
  readonly service: Installed | null;
}

function resolveConfigDir({ flags, environment, dataDir, service }: Search): string {
  const given = flags.configDir ?? variable(environment, 'ERRAND_CONFIG_DIR');
  if (given !== null) return path.resolve(given);
  // Not by $INVOCATION_ID: shells of a systemd session inherit it.
  if (variable(environment, 'STATE_DIRECTORY') === null) return service?.configDir ?? path.join(dataDir, 'config');
  return serviceDirectory(environment, 'CONFIGURATION_DIRECTORY') ?? '/etc/errand';
}

/** The service's runtime directory, unless it isn't there: then the service does not run, and another daemon may. */
function resolveSocket({ environment, dataDir, service }: Search): string {
  const given = serviceDirectory(environment, 'RUNTIME_DIRECTORY');
  const directory = given ?? (service !== null && existsSync(service.runtimeDir) ? service.runtimeDir : dataDir);
  return path.join(directory, 'errand.sock');
}

function resolveMasterKey({ environment, dataDir, service }: Search): string {
  const directory = variable(environment, 'CREDENTIALS_DIRECTORY');
  const credential = directory === null ? null : path.join(directory, 'master-key');
  if (credential !== null && existsSync(credential)) return credential;
  return service?.masterKeyFile ?? path.join(dataDir, 'master.key');
}

/** What a daemon leaves in its data directory. Another program's `./data` has neither. */
const isDataDirectory = (directory: string) =>
  ['errand.db', 'errand.lock', 'database-location'].some((name) => existsSync(path.join(directory, name)));

/** `./data`, unless there is none of Errand's and a service is installed. */
function usualDataDir(installed: Installed | null): string {
  return installed === null || isDataDirectory('data') ? 'data' : installed.dataDir;
}

function isSameLocation(one: string, other: string): boolean {
  if (one === other) return true;
  try {
    return realpathSync(one) === realpathSync(other);
  } catch {
    return false;
  }
}

/** The paths for these flags and this environment, on a machine with or without a service. Creates and checks nothing. */
export function resolveLocations(flags: Flags, environment: Environment, installed = findInstalled()): Locations {
  const named = flags.dataDir ?? variable(environment, 'ERRAND_DATA_DIR');
  const state = serviceDirectory(environment, 'STATE_DIRECTORY');
  const dataDir = path.resolve(named ?? state ?? usualDataDir(installed));
  const service = installed !== null && isSameLocation(dataDir, installed.dataDir) ? installed : null;
  const search: Search = { flags, environment, dataDir, service };
  return {
    dataDir,
    configDir: resolveConfigDir(search),
    socketPath: resolveSocket(search),
    credentialsDirectory: variable(environment, 'CREDENTIALS_DIRECTORY'),
    masterKeyPath: resolveMasterKey(search),
    isService: service !== null || (named === null && state !== null),
    isNamed: (named ?? state) !== null,
    url: flags.url ?? variable(environment, 'ERRAND_URL'),
    apiKey: variable(environment, 'ERRAND_API_KEY'),
    tokenFile: absolute(flags.tokenFile ?? null),
  };
}

/** What starts the daemon of these places. `call` is how this program is called for them. */
export function startOf({ isService }: Pick<Locations, 'isService'>, call = 'errand'): string {
  return isService ? 'systemctl start errand' : `${call} serve`;
}

/** What ends a daemon that hangs, and starts it again. */
export function restartOf(locations: Pick<Locations, 'isService' | 'dataDir'>): string {
  if (locations.isService) return 'systemctl restart errand';
  return `kill -KILL "$(cat ${shellWord(path.join(locations.dataDir, 'errand.pid'))})" && ${startOf(locations)}`;
}

/**
 * The problem of a file in place of the data directory, the config directory, or a directory above them. With such a
 * problem, it makes no sense to look into them.
 */
export function misplaced({ dataDir, configDir }: Locations): Problem[] {
  const problems = [dataDir, configDir].flatMap((directory) => {
    const file = fileOnTheWay(directory);
    if (file === null) return [];
    const whose = file === directory ? '' : `${directory}: `;
    return [problemOutside(`${whose}${file} is not a directory`)];
  });
  // One is usually inside the other, and then the same file is in the way of both.
  return problems.slice(0, 1);
}

/** The path itself, or one above it, that is a file; null when there is none. */
function fileOnTheWay(directory: string): string | null {
  for (let at = directory; ; at = path.dirname(at)) {
    const found = statOf(at);
    if (found !== undefined) return found.isDirectory() ? null : at;
    if (at === path.dirname(at)) return null;
  }
}

function statOf(file: string) {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch {
    // Whoever needs the path reports that it is not accessible.
    return undefined;
  }
}

export function checkLocations(locations: Locations): Problem[] {
  const length = Buffer.byteLength(locations.socketPath);
  if (length <= MAX_SOCKET_PATH_BYTES) return [];
  const limit = `${length} bytes long, and a socket's path can have at most ${MAX_SOCKET_PATH_BYTES}`;
  return [problemOutside(`${locations.socketPath}: is ${limit}; choose a shorter data directory`)];
}
