// Reads the whole configuration: flags, environment, and every file of the config directory.
import { existsSync } from 'node:fs';
import { TOOL_NAMES } from '../agent/tools/tool-names.ts';
import type { Definitions } from '../catalog/definitions.ts';
import { type Catalog, loadCatalog } from '../catalog/kinds/models.ts';
import { loadDefinitions } from '../catalog/load-definitions.ts';
import { type Problem, problemOutside } from '../catalog/reading/problem.ts';
import type { SecretLocations } from '../catalog/reading/secret-file.ts';
import type { Settings } from '../domain/settings.ts';
import type { Ways } from '../outbound/ways/ways.ts';
import { checkBlobFiles } from './blob-target.ts';
import { type Config, loadConfig, loadSettings } from './config.ts';
import type { Environment, Flags } from './environment.ts';
import { checkCertificate } from './live/live-certificate.ts';
import { misplaced, resolveLocations } from './locations.ts';
import { readWays } from './read-ways.ts';
import { checkDatabaseFile } from './store-location.ts';

/** What reading a file, or several, has given. */
export type Read<T> =
  /** `problems` of what is left out of the value. */
  | { readonly ok: true; readonly value: T; readonly problems?: readonly Problem[] }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** The configuration of a daemon. */
export interface Configuration {
  readonly config: Config;
  readonly catalog: Catalog;
  readonly definitions: Definitions;
}

export type LiveConfigLoad =
  /** `problems` are those of the skills and plugins that are left out. */
  | ({ readonly ok: true; readonly problems: readonly Problem[] } & Configuration)
  | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * The whole configuration, or the problems of flags, environment and every file of the config directory together (J2).
 * With `unresolved`, references to credentials that only the service has are collected there, and the result contains none
 * of these credentials.
 */
export function loadLiveConfig(flags: Flags, environment: Environment, unresolved?: Set<string>): LiveConfigLoad {
  const locations = resolveLocations(flags, environment);
  const wrong = misplaced(locations);
  if (wrong.length > 0) return { ok: false, problems: wrong };
  const loaded = loadConfig(flags, environment);
  const { configDir, credentialsDirectory } = locations;
  const read = loadCatalog(configDir, credentialsDirectory, unresolved);
  const secrets: SecretLocations = { configDir, credentialsDirectory, ...(unresolved && { unresolved }) };
  const defined = readDefinitions(secrets, read.ok ? read.catalog : null);
  const files = loaded.ok ? checkNamedFiles(loaded.config.settings, loaded.config.variables, secrets) : [];
  if (loaded.ok && read.ok && defined.ok && files.length === 0) {
    const { value: definitions, problems = [] } = defined;
    return { ok: true, config: loaded.config, catalog: read.catalog, definitions, problems };
  }
  const parts = [loaded, { problems: files }, read, defined];
  return { ok: false, problems: parts.flatMap((part) => ('problems' in part ? (part.problems ?? []) : [])) };
}

/** The problems of what the settings name: the bucket, the database, the certificate, trusted issuers, proxies. */
function checkNamedFiles(
  settings: Settings,
  variables: Config['variables'],
  locations: SecretLocations,
): readonly Problem[] {
  return [
    ...checkBlobFiles(settings, locations),
    ...checkDatabaseFile(settings, locations),
    ...checkCertificate(settings, locations),
    ...readWays(settings, variables, locations).problems,
  ];
}

/** The problem of a config directory that does not exist: a check that reads nothing must not pass. */
export function absentDirectory(configDir: string): Problem[] {
  return existsSync(configDir) ? [] : [problemOutside(`${configDir}: the directory does not exist`)];
}

export function readModels({ configDir, credentialsDirectory }: SecretLocations): Read<Catalog> {
  const loaded = loadCatalog(configDir, credentialsDirectory);
  return loaded.ok ? { ok: true, value: loaded.catalog } : loaded;
}

export function readDefinitions(
  locations: SecretLocations,
  catalog: Catalog | null,
  before?: Definitions,
): Read<Definitions> {
  const models = catalog === null ? null : new Set(catalog.models.keys());
  const loaded = loadDefinitions(locations, { models, tools: new Set(TOOL_NAMES) }, before);
  return loaded.ok ? { ok: true, value: loaded.definitions, problems: loaded.problems } : loaded;
}

/** The problems of all files together, as a start would find them. */
export function checkFiles({ locations, overrides, variables }: Config): readonly Problem[] {
  const { configDir, credentialsDirectory } = locations;
  const absent = absentDirectory(configDir);
  if (absent.length > 0) return absent;
  const settings = loadSettings(configDir, overrides);
  const read = loadCatalog(configDir, credentialsDirectory);
  const defined = readDefinitions({ configDir, credentialsDirectory }, read.ok ? read.catalog : null);
  const secrets = { configDir, credentialsDirectory };
  const files = settings.ok ? checkNamedFiles(settings.settings, variables, secrets) : [];
  return [settings, { problems: files }, read, defined].flatMap((part) =>
    'problems' in part ? (part.problems ?? []) : [],
  );
}

export function readWaysOf({ variables, locations }: Config, settings: Settings): Read<Ways> {
  const { ways, problems } = readWays(settings, variables, locations);
  return problems.length === 0 ? { ok: true, value: ways } : { ok: false, problems };
}
