// Examines an installation beside a stopped daemon, under the lock of its data directory (K1).
import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { definedBy } from '../catalog/defined.ts';
import type { Environment, Flags } from '../config/environment.ts';
import type { Locations } from '../config/locations.ts';
import { absentDirectory, type Configuration, loadLiveConfig } from '../config/read-configuration.ts';
import { readWays } from '../config/read-ways.ts';
import { requireMarked, storeLocationOf } from '../config/store-location.ts';
import { sandboxSettings } from '../config/sandbox-settings.ts';
import { probeSandbox } from '../agent/sandbox/sandbox.ts';
import { systemClock } from '../domain/clock.ts';
import { ErrandError, notFound } from '../domain/errors.ts';
import type { ExaminationRequest, Finding } from '../operations/doctor.ts';
import { takeWays } from '../outbound/ways/ways.ts';
import { type DirectoryLock, lockDataDirectory } from '../store/engine/sqlite/file/lock.ts';
import { makeDoctor } from './examine.ts';
import type { DaemonState } from './subject.ts';

export interface OfflineParts {
  readonly locations: Locations;
  readonly flags: Flags;
  readonly environment: Environment;
  readonly daemon: DaemonState;
}

/**
 * The findings. Throws `conflict` when another process holds the directory, `not_found` when there is none, and `forbidden`
 * to users who can't enter it. With a broken configuration, everything else is examined by the defaults.
 */
export async function examineOffline(
  parts: OfflineParts,
  request: ExaminationRequest,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const { locations, daemon } = parts;
  requireAccess(locations.dataDir);
  // A daemon that hangs holds the lock: its files are read beside it.
  const isHung = daemon.state === 'silent' && daemon.isHung;
  const lock = isHung ? null : await takeLock(locations.dataDir, daemon, signal);
  try {
    const unresolved = new Set<string>();
    const { problems, configuration, defined } = readConfiguration(parts, unresolved);
    takeWays(
      readWays(configuration.config.settings, configuration.config.variables, configuration.config.locations).ways,
    );
    const doctor = makeDoctor({
      locations,
      store: () =>
        requireMarked(storeLocationOf({ settings: configuration.config.settings, locations }), locations.dataDir),
      settings: () => configuration.config.settings,
      catalog: () => configuration.catalog,
      defined: () => defined,
      problems: () => problems,
      sandbox: () => probeSandbox(sandboxSettings(configuration.config)),
      diskSamples: async () => [],
      daemon,
      isHeld: () => false,
      unresolved,
      clock: systemClock,
    });
    return await doctor.examine(request, signal);
  } finally {
    lock?.release();
  }
}

const TRIES = 20;
const BETWEEN_TRIES_MS = 500;

/** A daemon that fails at each start, and is started again and again, has the lock for a moment each time. */
async function takeLock(dataDir: string, daemon: DaemonState, signal: AbortSignal): Promise<DirectoryLock> {
  for (let tries = daemon.state === 'silent' ? TRIES : 1; ; tries -= 1) {
    try {
      return lockDataDirectory(dataDir);
    } catch (error) {
      if (tries <= 1 || !(error instanceof ErrandError) || error.reason !== 'conflict') throw error;
    }
    await pause(BETWEEN_TRIES_MS, undefined, { signal });
  }
}

function requireAccess(dataDir: string): void {
  const stats = statSync(dataDir, { throwIfNoEntry: false });
  if (stats === undefined) throw notFound(`The data directory ${dataDir}`);
  try {
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const message = `${dataDir} is closed to you: examine it as root, or as the user with the id ${stats.uid}.`;
    throw new ErrandError('forbidden', message, { cause: error });
  }
}

function readConfiguration({ locations, flags, environment }: OfflineParts, unresolved: Set<string>) {
  const read = loadLiveConfig(flags, environment, unresolved);
  if (read.ok) {
    const problems = [...absentDirectory(locations.configDir), ...read.problems];
    return { problems, configuration: read, defined: definedBy(read.catalog, read.definitions) };
  }
  const nowhere = loadLiveConfig({ configDir: path.join(locations.dataDir, 'no-configuration') }, {});
  if (!nowhere.ok) throw new Error('The defaults are no valid configuration.');
  const configuration: Configuration = nowhere;
  return { problems: read.problems, configuration, defined: null };
}
