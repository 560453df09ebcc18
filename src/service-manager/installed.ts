// The service that is installed on this machine, by its unit and the drop-ins of that, running or not.
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { SERVICE_UNIT, SOCKET_UNIT } from './units.ts';

/** What the unit says of the installation. Paths are absolute. */
export interface Installed {
  readonly dataDir: string;
  readonly configDir: string;
  /** There only while the service runs. */
  readonly runtimeDir: string;
  readonly user: string;
  /** The file of the credential `master-key`; null without one. */
  readonly masterKeyFile: string | null;
  /** The unit in effect. */
  readonly unit: string;
  /** Whether there is a unit of a socket, enabled or not. */
  readonly hasSocket: boolean;
}

export const OWN_UNITS = '/etc/systemd/system';
/** Where a package installs units; `/lib` on systems that still have both. */
const PACKAGED_UNITS = ['/usr/lib/systemd/system', '/lib/systemd/system'];
/** As systemd searches them: the first that has a name wins. */
const UNIT_PATHS = [OWN_UNITS, '/run/systemd/system', '/usr/local/lib/systemd/system', ...PACKAGED_UNITS];

/** The path of a package's unit; null where no package has installed one. */
export function packagedUnit(name: string, root = '/'): string | null {
  const directory = PACKAGED_UNITS.find((one) => existsSync(path.join(root, one, name)));
  return directory === undefined ? null : path.join(root, directory, name);
}

/** The service of the machine whose root this is; null without one. */
export function findInstalled(root = '/'): Installed | null {
  const unit = findUnit(root, SERVICE_UNIT);
  if (unit === null) return null;
  const settings = readSettings([unit, ...dropInsOf(root, SERVICE_UNIT)]);
  const directory = (name: string, above: string) => path.join(root, above, firstWord(settings.get(name)) ?? 'errand');
  const variable = (name: string) => variableIn(settings.get('Environment') ?? [], name);
  return {
    dataDir: variable('ERRAND_DATA_DIR') ?? directory('StateDirectory', '/var/lib'),
    configDir: variable('ERRAND_CONFIG_DIR') ?? directory('ConfigurationDirectory', '/etc'),
    runtimeDir: directory('RuntimeDirectory', '/run'),
    user: settings.get('User')?.at(-1) ?? 'root',
    masterKeyFile: credentialIn(settings.get('LoadCredential') ?? [], 'master-key'),
    unit,
    hasSocket: findUnit(root, SOCKET_UNIT) !== null,
  };
}

function findUnit(root: string, name: string): string | null {
  const files = UNIT_PATHS.map((directory) => path.join(root, directory, name));
  return files.find((file) => existsSync(file) && !isMask(file)) ?? null;
}

/** A link to /dev/null hides what it is in the place of. */
const isMask = (file: string) => realpathSync(file) === '/dev/null';

/** In the order in which systemd reads them: by name, each name once. */
function dropInsOf(root: string, unit: string): readonly string[] {
  const found = new Map<string, string>();
  for (const directory of UNIT_PATHS.map((one) => path.join(root, one, `${unit}.d`))) {
    for (const name of namesIn(directory)) {
      if (name.endsWith('.conf') && !found.has(name)) found.set(name, path.join(directory, name));
    }
  }
  const names = [...found.keys()].sort();
  return names.map((name) => found.get(name)!).filter((file) => !isMask(file));
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** The values of each directive of `[Service]`. An empty one forgets those before it, as systemd does. */
function readSettings(files: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const settings = new Map<string, readonly string[]>();
  for (const file of files) {
    let section = '';
    for (const line of linesOf(file)) {
      section = /^\[(\w+)\]$/.exec(line)?.[1] ?? section;
      const [, name, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
      if (section !== 'Service' || name === undefined || value === undefined) continue;
      settings.set(name, value === '' ? [] : [...(settings.get(name) ?? []), value]);
    }
  }
  return settings;
}

/** A drop-in that only root can read says nothing here. */
function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => line.trim());
  } catch {
    return [];
  }
}

const firstWord = (values: readonly string[] = []) => values[0]?.split(/\s+/)[0];

function variableIn(values: readonly string[], name: string): string | null {
  const found = values.flatMap((value) => new RegExp(`(?:^|[\\s"'])${name}=([^\\s"']+)`).exec(value)?.[1] ?? []);
  return found.at(-1) ?? null;
}

function credentialIn(values: readonly string[], name: string): string | null {
  const found = values.findLast((value) => value.startsWith(`${name}:/`));
  return found?.slice(name.length + 1) ?? null;
}
