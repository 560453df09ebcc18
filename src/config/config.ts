// The daemon's settings: flags, environment, errand.yaml and defaults combined.
import path from 'node:path';
import type { Problem } from '../catalog/reading/problem.ts';
import { readYamlFile } from '../catalog/reading/yaml-file.ts';
import { isJsonObject, type JsonObject } from '../domain/json.ts';
import type { Settings } from '../domain/settings.ts';
import { withoutPassword } from '../store/engine/postgres/connections/address.ts';
import { haveSameHost, parseListen } from './listen-address.ts';
import { readServiceEnvironment, type ServiceEnvironment } from '../service-manager/environment.ts';
import { type Environment, type Flags, variable } from './environment.ts';
import type { ListenerSettings, SettingName, Value } from './option.ts';
import { OPTIONS } from './options.ts';
import { readWayVariables, type WayVariables } from './read-ways.ts';
import { checkLocations, misplaced, type Locations, resolveLocations } from './locations.ts';
import { checkOverrides, type Override, readOverrides } from './overrides.ts';
import { environmentName, readText, SETTING_NAMES, settingsSchema } from './setting-texts.ts';

export const SETTINGS_FILE = 'errand.yaml';
const SETTINGS_SCHEMA = settingsSchema();

export type Origin = 'flag' | 'environment' | 'file' | 'default';

/** Paths and settings. `origins` contains every setting's name (J2). */
export interface Config {
  readonly locations: Locations;
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
  const contradictions = contradictionsIn(chosen.settings).map(({ at, mustBe }) =>
    file.problemAt(at.split('.'), mustBe),
  );
  return contradictions.length > 0 ? { ok: false, problems: contradictions } : { ok: true, ...chosen };
}

/** Settings that are right alone and wrong together. */
function contradictionsIn({ blobs, database, databaseFile, sso, publicUrl, shareOrigin, tls, listen }: Settings) {
  const found: { readonly at: string; readonly mustBe: string }[] = [];
  if (database !== '' && databaseFile !== '')
    found.push({ at: 'database_file', mustBe: 'must be empty where database is set' });
  if ((sso.provider === '') !== (sso.userinfoUrl === ''))
    found.push({ at: 'sso', mustBe: 'must have both provider and userinfo_url, or neither' });
  if ((tls.certFile === '') !== (tls.keyFile === ''))
    found.push({ at: 'tls', mustBe: 'must have both cert_file and key_file, or neither' });
  if (tls.certFile !== '' && parseListen(listen)?.kind === 'unix')
    found.push({ at: 'tls', mustBe: 'must be empty where listen is a Unix socket: its proxy speaks TLS' });
  if (shareOrigin !== '' && haveSameHost(shareOrigin, publicUrl))
    found.push({ at: 'share_origin', mustBe: 'must have another host than public_url' });
  const { endpoint, bucket, keyFile } = blobs.s3;
  if (new Set([endpoint, bucket, keyFile].map((value) => value === '')).size > 1)
    found.push({ at: 'blobs.s3', mustBe: 'must have endpoint, bucket and key_file, or none of them' });
  return found;
}

/**
 * The whole configuration, or every problem of flags, environment and errand.yaml at once.
 * Precedence: flag, environment, file, default (J2).
 */
export function loadConfig(flags: Flags, environment: Environment): ConfigLoad {
  const locations = resolveLocations(flags, environment);
  const wrong = misplaced(locations);
  if (wrong.length > 0) return { ok: false, problems: wrong };
  const overrides = readOverrides(flags, (name) => variable(environment, name));
  const loaded = loadSettings(locations.configDir, overrides);
  const problems = [...checkLocations(locations), ...(loaded.ok ? [] : loaded.problems)];
  if (!loaded.ok || problems.length > 0) return { ok: false, problems };
  const { settings, origins } = loaded;
  const service = readServiceEnvironment(environment, process.pid);
  const variables = readWayVariables((name) => variable(environment, name));
  const workers = flags.noWorkers !== true;
  return { ok: true, config: { locations, settings, origins, workers, service, variables, overrides } };
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
    const file = origin === 'file' ? path.join(config.locations.configDir, SETTINGS_FILE) : null;
    return {
      name,
      value: withoutSecrets(keys.reduce<Value | Branch>((at, key) => (at as Branch)[key]!, tree) as Value),
      origin,
      source: override?.label ?? file,
      environment: environmentName(name),
      about: OPTIONS[name].about,
    };
  });
}

/** The query of an address may contain a key, and that of a database a password. */
function withoutSecrets(value: Value): Value {
  if (typeof value !== 'string') return value;
  return /^https?:.*\?/.test(value) ? value.replaceAll(/([?&][^=&]*=)[^&]+/g, '$1[removed]') : withoutPassword(value);
}
