// Keeps settings, catalog and definitions as the config directory has them now; a broken file leaves the last valid state in effect (J1).
import { existsSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { definedBy } from '../../catalog/defined.ts';
import type { Definitions } from '../../catalog/definitions.ts';
import { type Catalog, MODELS_FILE } from '../../catalog/kinds/models.ts';
import type { Problem } from '../../catalog/reading/problem.ts';
import type { LookUp } from '../../domain/capabilities/look-up.ts';
import type { Defined } from '../../domain/capabilities/pin.ts';
import type { Clock } from '../../domain/clock.ts';
import { type Settings, usesTls } from '../../domain/settings.ts';
import type { Log } from '../../log/log.ts';
import type { Ways } from '../../outbound/ways/ways.ts';
import { type Config, describeSettings, loadSettings, type SettingRow, SETTINGS_FILE } from '../config.ts';
import { withoutPassword } from '../../store/engine/postgres/connections/address.ts';
import { publicUrlFor } from '../listen-address.ts';
import type { SettingName } from '../option.ts';
import {
  checkFiles,
  type Configuration,
  type Read,
  readDefinitions,
  readModels,
  readWaysOf,
} from '../read-configuration.ts';
import { readWays } from '../read-ways.ts';
import { makeLookUp } from './look-again.ts';
import { makeWatch } from './watch.ts';
import { NOT_WATCHED, openDirectoryWatch } from './watch-directory.ts';

/** What happens to the configuration of a running daemon, for its log. */
export type ConfigEvent =
  | { readonly kind: 'accepted'; readonly file: string }
  /** The last valid state stays in effect. Reported once for the same problems. */
  | { readonly kind: 'rejected'; readonly file: string; readonly problems: readonly Problem[] }
  /** Only these are left out, or stay as they were; the rest is in effect. Reported once for the same problems. */
  | { readonly kind: 'left-out'; readonly problems: readonly Problem[] }
  | {
      readonly kind: 'restart-needed';
      readonly setting: 'listen' | 'database' | 'database_file' | 'tls' | 'metrics.listen';
      readonly wanted: string;
      readonly inEffect: string;
    };

/** Which part has changed. */
export type Changed = 'settings' | 'ways' | 'catalog' | 'definitions';

/** The initial configuration (from `loadLiveConfig`), and who receives the events. */
export interface LiveConfigParts extends Configuration {
  readonly report: (event: ConfigEvent) => void;
  readonly clock: Clock;
  /** For the watch of the directory. */
  readonly log: Log;
}

export interface LiveConfig {
  /** The settings in effect. `listen`, the database, and whether there is TLS, stay as they were at the start. */
  settings(): Settings;
  /** How connections leave: by these settings, and by what the files that they name contain. */
  ways(): Ways;
  catalog(): Catalog;
  definitions(): Definitions;
  /** Finds names in the catalog and the definitions, those that were just written, too. */
  readonly lookUp: LookUp;
  /** Reads the definitions now and returns their problems. Applies nothing. */
  checkDefinitions(): readonly Problem[];
  /** Reads every file now and returns all problems. Applies nothing. */
  check(): readonly Problem[];
  /** Reads the names in the files now; those in effect stand for what can't be read. Applies nothing. */
  defined(): Defined;
  /** Whether anything sets it: a flag, the environment or errand.yaml. */
  isSet(name: SettingName): boolean;
  /** Every setting in effect and where it comes from. */
  describe(): readonly SettingRow[];
  /** The problems of the files now; empty when all of their content is in effect. */
  problems(): readonly Problem[];
  /** Calls back after each change. Returns a function that ends this. */
  onChange(listener: (changed: Changed) => void): () => void;
  /** Reads every file now. */
  reload(): void;
  /** Sets the address that is actually bound, where port 0 asked for any. */
  bound(listen: string): void;
  /** Resolves when the directory is watched and its content is in effect. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** The last valid state of a file, or of all definitions together. */
interface Part<T> {
  current(): T;
  problems(): readonly Problem[];
  /** Applies what was read. Returns whether the state has changed. */
  take(read: Read<T>): boolean;
}

/** What was read, or else what is in effect. */
function valueOr<T>(read: Read<T>, part: Part<T>): T {
  return read.ok ? read.value : part.current();
}

function makePart<T>(file: string, initial: T, report: (event: ConfigEvent) => void): Part<T> {
  let current = initial;
  let problems: readonly Problem[] = [];
  const reject = (found: readonly Problem[]) => {
    if (isDeepStrictEqual(found, problems)) return;
    problems = found;
    report({ kind: 'rejected', file, problems });
  };
  return {
    current: () => current,
    problems: () => problems,
    take: (read) => {
      if (!read.ok) {
        reject(read.problems);
        return false;
      }
      const changed = !isDeepStrictEqual(read.value, current);
      const isNews = !isDeepStrictEqual(read.problems ?? [], problems);
      problems = read.problems ?? [];
      current = read.value;
      if (changed || (isNews && problems.length === 0)) report({ kind: 'accepted', file });
      if (isNews && problems.length > 0) report({ kind: 'left-out', problems });
      return changed;
    },
  };
}

interface Settled {
  readonly settings: Settings;
  readonly origins: Config['origins'];
}

const protocolOf = (settings: Pick<Settings, 'tls'>) => (usesTls(settings) ? 'https' : 'http');

/**
 * Reads errand.yaml, but keeps the database, which is open, the listening addresses, which are already bound, and whether the server
 * speaks TLS. What differs is reported once.
 */
function makeSettingsReader(
  { config, report }: LiveConfigParts,
  inEffect: () => Pick<Settings, 'listen' | 'tls'>,
): () => Read<Settled> {
  const { metrics, database, databaseFile, databaseConnections } = config.settings;
  const asked = {
    listen: config.settings.listen,
    database: withoutPassword(database),
    database_file: databaseFile,
    tls: protocolOf(config.settings),
    'metrics.listen': metrics.listen,
  };
  const reported = { ...asked };
  const compare = (setting: keyof typeof asked, wanted: string, current: string) => {
    const isNews = wanted !== reported[setting] && wanted !== asked[setting];
    reported[setting] = wanted;
    if (isNews) report({ kind: 'restart-needed', setting, wanted, inEffect: current });
  };
  return () => {
    const loaded = loadSettings(config.locations.configDir, config.overrides);
    if (!loaded.ok) return loaded;
    const { settings, origins } = loaded;
    const { listen, tls: current } = inEffect();
    compare('listen', settings.listen, listen);
    compare('database', withoutPassword(settings.database), asked.database);
    compare('database_file', settings.databaseFile, databaseFile);
    compare('tls', protocolOf(settings), asked.tls);
    compare('metrics.listen', settings.metrics.listen, metrics.listen);
    const { caFile } = settings.tls;
    const tls = protocolOf(settings) === asked.tls ? settings.tls : { ...current, caFile };
    const isDerived = origins.get('public_url') === 'default';
    const publicUrl = isDerived ? publicUrlFor({ listen, isSecure: usesTls({ tls }) }) : settings.publicUrl;
    const opened = { database, databaseFile, databaseConnections };
    return { ok: true, value: { settings: { ...settings, ...opened, listen, tls, publicUrl, metrics }, origins } };
  };
}

/** A directory that disappears does not mean the defaults: it is being replaced, or its disk is gone. */
function makeAbsence(directory: string): (file: string) => Problem | null {
  let wasThere = existsSync(directory);
  return (file) => {
    const isThere = existsSync(directory);
    wasThere ||= isThere;
    if (isThere || !wasThere) return null;
    return { file, line: null, column: null, message: `is gone, and so is its directory ${directory}` };
  };
}

function makeListeners(log: Log) {
  const listeners = new Set<(changed: Changed) => void>();
  return {
    notify: (changed: Changed) => {
      const call = (listener: (changed: Changed) => void) => () => {
        listener(changed);
        return true;
      };
      for (const listener of listeners)
        tried(log, `a change of ${changed} is not in effect everywhere`, call(listener));
    },
    onChange: (listener: (changed: Changed) => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/**
 * Answers what the work answers, or false where it throws, which is logged: nobody handles that where a timer or a signal has called, and
 * it would end the daemon.
 */
function tried(log: Log, words: string, work: () => boolean): boolean {
  try {
    return work();
  } catch (error) {
    log.error({ err: error }, words);
    return false;
  }
}

/** Stand for several files where events name one file. */
const DEFINITIONS = 'definitions';
const WAYS = 'trusted issuers and proxies';

/**
 * Settings, catalog and definitions that follow their files. They are independent: a fault in one does not affect the
 * others (J1), except that experts can only refer to models of the catalog in effect.
 * Nothing is read or watched before `start` or `reload`.
 */
export function makeLiveConfig(parts: LiveConfigParts): LiveConfig {
  const { config, catalog, definitions, report } = parts;
  const { configDir, credentialsDirectory } = config.locations;
  let listen = config.settings.listen;
  const settingsPart = makePart<Settled>(SETTINGS_FILE, { settings: config.settings, origins: config.origins }, report);
  const waysPart = makePart(WAYS, readWays(config.settings, config.variables, config.locations).ways, report);
  const catalogPart = makePart(MODELS_FILE, catalog, report);
  const definitionsPart = makePart(DEFINITIONS, definitions, report);
  const readSettings = makeSettingsReader(parts, () => ({ listen, tls: settingsPart.current().settings.tls }));
  const readCatalog = () => readModels({ configDir, credentialsDirectory });
  const readDefined = () =>
    readDefinitions({ configDir, credentialsDirectory }, catalogPart.current(), definitionsPart.current());
  const absence = makeAbsence(configDir);
  const unlessAbsent = <T>(file: string, read: () => Read<T>): Read<T> => {
    const gone = absence(file);
    return gone === null ? read() : { ok: false, problems: [gone] };
  };
  const inFile = <T>(file: string, read: () => Read<T>, part: Part<T>) => valueOr(unlessAbsent(file, read), part);

  const takes: readonly (readonly [Changed, () => boolean])[] = [
    ['settings', () => settingsPart.take(unlessAbsent(SETTINGS_FILE, readSettings))],
    ['ways', () => waysPart.take(readWaysOf(config, settingsPart.current().settings))],
    ['catalog', () => catalogPart.take(unlessAbsent(MODELS_FILE, readCatalog))],
    ['definitions', () => definitionsPart.take(unlessAbsent(DEFINITIONS, readDefined))],
  ];
  const { notify, onChange } = makeListeners(parts.log);
  const reload = () => {
    const changed = takes.filter(([what, take]) => tried(parts.log, `${what} could not be read again`, take));
    for (const [what] of changed) notify(what);
  };

  return {
    settings: () => settingsPart.current().settings,
    ways: waysPart.current,
    catalog: catalogPart.current,
    definitions: definitionsPart.current,
    lookUp: makeLookUp({ directory: configDir, reload, clock: parts.clock }),
    checkDefinitions: () => unlessAbsent(DEFINITIONS, readDefined).problems ?? [],
    check: () => checkFiles(config),
    defined: () =>
      definedBy(inFile(MODELS_FILE, readCatalog, catalogPart), inFile(DEFINITIONS, readDefined, definitionsPart)),
    isSet: (name) => settingsPart.current().origins.get(name) !== 'default',
    describe: () => describeSettings({ ...config, ...settingsPart.current() }),
    problems: () => [settingsPart, waysPart, catalogPart, definitionsPart].flatMap((part) => part.problems()),
    onChange,
    reload,
    bound: (address) => {
      if (address === listen) return;
      listen = address;
      reload();
    },
    ...makeWatch({
      open: (callbacks) => openDirectoryWatch(configDir, callbacks),
      failure: NOT_WATCHED,
      reload,
      clock: parts.clock,
      log: parts.log,
    }),
  };
}
