// The daemon's paths and its settings: flags, environment, errand.yaml and defaults combined.
import { existsSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { type Problem, problemOutside } from '../catalog/reading/problem.ts';
import { readYamlFile } from '../catalog/reading/yaml-file.ts';
import { isJsonObject, type JsonObject } from '../domain/json.ts';
import type { Settings } from '../domain/settings.ts';
import { haveSameHost, MAX_SOCKET_PATH_BYTES, parseListen } from './listen-address.ts';
import { shellWord } from '../terminal/shell-word.ts';
import { readServiceEnvironment, type ServiceEnvironment } from '../service-manager/environment.ts';
import { findInstalled, type Installed } from '../service-manager/installed.ts';
import type { ListenerSettings, SettingName, Value } from './option.ts';
import { OPTIONS } from './options.ts';
import { readWayVariables, type WayVariables } from './read-ways.ts';
import { checkOverrides, type Override, readOverrides } from './overrides.ts';
import { environmentName, readText, SETTING_NAMES, settingsSchema } from './setting-texts.ts';

export const SETTINGS_FILE = 'errand.yaml';
const SETTINGS_SCHEMA = settingsSchema();

/** The command line's global flags and those of `serve`, as given (K4, K5). */
export interface Flags {
  readonly dataDir?: string;
  readonly configDir?: string;
  readonly listen?: string;
  readonly publicUrl?: string;
  readonly noWorkers?: boolean;
  readonly url?: string;
  readonly tokenFile?: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** The process's environment: the only place that reads it. */
export function readEnvironment(): Environment {
  return process.env;
}

/** Libraries that are slower and remember more for those who develop with them look here when they are loaded. */
export function preferProductionBuilds(): void {
  process.env['NODE_ENV'] ??= 'production';
}

/** Absolute paths (J1, J6, K1, K6), and how the command reaches a daemon elsewhere. */
export interface Places {
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

/** The value of a variable; null when it is unset or empty. */
function variable(environment: Environment, name: string): string | null {
  const value = environment[name];
  return value === undefined || value === '' ? null : value;
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
  ['errand.db', 'errand.lock'].some((name) => existsSync(path.join(directory, name)));

/** `./data`, unless there is none of Errand's and a service is installed. */
function usualDataDir(installed: Installed | null): string {
  return installed === null || isDataDirectory('data') ? 'data' : installed.dataDir;
}

function isSamePlace(one: string, other: string): boolean {
  if (one === other) return true;
  try {
    return realpathSync(one) === realpathSync(other);
  } catch {
    return false;
  }
}

/** The paths for these flags and this environment, on a machine with or without a service. Creates and checks nothing. */
export function resolvePlaces(flags: Flags, environment: Environment, installed = findInstalled()): Places {
  const named = flags.dataDir ?? variable(environment, 'ERRAND_DATA_DIR');
  const state = serviceDirectory(environment, 'STATE_DIRECTORY');
  const dataDir = path.resolve(named ?? state ?? usualDataDir(installed));
  const service = installed !== null && isSamePlace(dataDir, installed.dataDir) ? installed : null;
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
export function startOf({ isService }: Pick<Places, 'isService'>, call = 'errand'): string {
  return isService ? 'systemctl start errand' : `${call} serve`;
}

/** What ends a daemon that hangs, and starts it again. */
export function restartOf(places: Pick<Places, 'isService' | 'dataDir'>): string {
  if (places.isService) return 'systemctl restart errand';
  return `kill -KILL "$(cat ${shellWord(path.join(places.dataDir, 'errand.pid'))})" && ${startOf(places)}`;
}

export type Origin = 'flag' | 'environment' | 'file' | 'default';

/** Paths and settings. `origins` contains every setting's name (J2). */
export interface Config {
  readonly places: Places;
  readonly settings: Settings;
  readonly origins: ReadonlyMap<SettingName, Origin>;
  /** False with `--no-workers`. */
  readonly workers: boolean;
  /** What a service manager asks of this process. */
  readonly service: ServiceEnvironment;
  /** What the environment says of proxies and trust. */
  readonly variables: WayVariables;
  /** From flags and environment; unaffected by changes of errand.yaml. */
  readonly overrides: readonly Override[];
}

export type ConfigLoad =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly problems: readonly Problem[] };

function valueIn(file: JsonObject, name: SettingName): unknown {
  return name.split('.').reduce<unknown>((at, key) => (isJsonObject(at) ? at[key] : undefined), file);
}

const camelCase = (name: string) => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The settings' names are their paths in `Settings`, as the type of the option table guarantees. */
function assemble(values: ReadonlyMap<SettingName, Value>): Settings {
  const settings: Branch = {};
  for (const [name, value] of values) {
    const keys = name.split('.').map(camelCase);
    const section = keys.slice(0, -1).reduce((at, key) => (at[key] ??= {}) as Branch, settings);
    section[keys.at(-1)!] = value;
  }
  return settings as unknown as Settings;
}

/** Settings as a tree whose leaves are their values. */
interface Branch {
  [key: string]: Value | Branch;
}

type Chosen = { readonly settings: Settings; readonly origins: ReadonlyMap<SettingName, Origin> };

function choose(file: JsonObject, overrides: readonly Override[]): Chosen {
  const overrideOf = (name: SettingName) => overrides.findLast((candidate) => candidate.name === name);
  /** Undefined when it isn't written anywhere; null counts as not written. */
  const writtenIn = (name: SettingName): Value | undefined => {
    const override = overrideOf(name);
    const written = override === undefined ? valueIn(file, name) : readText(name, override.text);
    if (written === undefined || written === null) return undefined;
    return OPTIONS[name].read?.(written) ?? (written as Value);
  };
  const listener: ListenerSettings = {
    listen: (writtenIn('listen') ?? OPTIONS.listen.fallback) as string,
    isSecure: (writtenIn('tls.cert_file') ?? '') !== '',
  };
  const values = new Map<SettingName, Value>();
  const origins = new Map<SettingName, Origin>();
  for (const name of SETTING_NAMES) {
    const { fallback } = OPTIONS[name];
    values.set(name, writtenIn(name) ?? (typeof fallback === 'function' ? fallback(listener) : fallback));
    origins.set(name, overrideOf(name)?.origin ?? (valueIn(file, name) === undefined ? 'default' : 'file'));
  }
  return { settings: assemble(values), origins };
}

export type SettingsLoad =
  | ({ readonly ok: true } & Chosen)
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Reads errand.yaml again under the same overrides. Returns all problems at once. */
export function loadSettings(configDir: string, overrides: readonly Override[]): SettingsLoad {
  const file = readYamlFile(configDir, SETTINGS_FILE, SETTINGS_SCHEMA);
  const problems = [...file.problems, ...checkOverrides(overrides)];
  if (problems.length > 0) return { ok: false, problems };
  const chosen = choose(file.value, overrides);
  const contradictions = contradictionsIn(chosen.settings).map(({ at, mustBe }) => file.problemAt([at], mustBe));
  return contradictions.length > 0 ? { ok: false, problems: contradictions } : { ok: true, ...chosen };
}

/** Settings that are right alone and wrong together. */
function contradictionsIn({ sso, publicUrl, shareOrigin, tls, listen }: Settings) {
  const found: { readonly at: string; readonly mustBe: string }[] = [];
  if ((sso.provider === '') !== (sso.userinfoUrl === ''))
    found.push({ at: 'sso', mustBe: 'must have both provider and userinfo_url, or neither' });
  if ((tls.certFile === '') !== (tls.keyFile === ''))
    found.push({ at: 'tls', mustBe: 'must have both cert_file and key_file, or neither' });
  if (tls.certFile !== '' && parseListen(listen)?.kind === 'unix')
    found.push({ at: 'tls', mustBe: 'must be empty where listen is a Unix socket: its proxy speaks TLS' });
  if (shareOrigin !== '' && haveSameHost(shareOrigin, publicUrl))
    found.push({ at: 'share_origin', mustBe: 'must have another host than public_url' });
  return found;
}

/**
 * The problem of a file in place of the data directory, the config directory, or a directory above them. With such a
 * problem, it makes no sense to look into them.
 */
export function misplaced({ dataDir, configDir }: Places): Problem[] {
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

function checkPlaces(places: Places): Problem[] {
  const length = Buffer.byteLength(places.socketPath);
  if (length <= MAX_SOCKET_PATH_BYTES) return [];
  const limit = `${length} bytes long, and a socket's path can have at most ${MAX_SOCKET_PATH_BYTES}`;
  return [problemOutside(`${places.socketPath}: is ${limit}; choose a shorter data directory`)];
}

/**
 * The whole configuration, or every problem of flags, environment and errand.yaml at once.
 * Precedence: flag, environment, file, default (J2).
 */
export function loadConfig(flags: Flags, environment: Environment): ConfigLoad {
  const places = resolvePlaces(flags, environment);
  const wrong = misplaced(places);
  if (wrong.length > 0) return { ok: false, problems: wrong };
  const overrides = readOverrides(flags, (name) => variable(environment, name));
  const loaded = loadSettings(places.configDir, overrides);
  const problems = [...checkPlaces(places), ...(loaded.ok ? [] : loaded.problems)];
  if (!loaded.ok || problems.length > 0) return { ok: false, problems };
  const { settings, origins } = loaded;
  const service = readServiceEnvironment(environment, process.pid);
  const variables = readWayVariables((name) => variable(environment, name));
  const workers = flags.noWorkers !== true;
  return { ok: true, config: { places, settings, origins, workers, service, variables, overrides } };
}

/** One setting as `errand config show` shows it. `source` is the flag, variable or file that it comes from. */
export interface SettingRow {
  readonly name: SettingName;
  readonly value: Value;
  readonly origin: Origin;
  readonly source: string | null;
  /** Its name in the environment. */
  readonly environment: string;
  readonly about: string;
}

/** Every setting in effect and where it comes from, in the order of the table (J2). Addresses without the values of their parameters. */
export function describeSettings(config: Config): readonly SettingRow[] {
  return SETTING_NAMES.map((name) => {
    const tree = config.settings as unknown as Branch;
    const keys = name.split('.').map(camelCase);
    const origin = config.origins.get(name) ?? 'default';
    const override = config.overrides.findLast((candidate) => candidate.name === name);
    const file = origin === 'file' ? path.join(config.places.configDir, SETTINGS_FILE) : null;
    return {
      name,
      value: withoutParameters(keys.reduce<Value | Branch>((at, key) => (at as Branch)[key]!, tree) as Value),
      origin,
      source: override?.label ?? file,
      environment: environmentName(name),
      about: OPTIONS[name].about,
    };
  });
}

/** The query of an address may contain a key. */
function withoutParameters(value: Value): Value {
  const isAddress = typeof value === 'string' && /^https?:.*\?/.test(value);
  return isAddress ? value.replaceAll(/([?&][^=&]*=)[^&]+/g, '$1[removed]') : value;
}
