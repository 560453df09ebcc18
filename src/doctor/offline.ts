// Examines an installation beside a stopped daemon, under the lock of its data directory (K1).
import { chownSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Environment, Flags, Places } from '../config/config.ts';
import { absentDirectory, type Configuration, loadLiveConfig } from '../config/live-config.ts';
import { sandboxSettings } from '../config/sandbox-settings.ts';
import { probeSandbox } from '../agent/sandbox/sandbox.ts';
import { systemClock } from '../domain/clock.ts';
import { notFound } from '../domain/errors.ts';
import type { ExaminationWish, Finding } from '../operations/doctor.ts';
import { lockDataDirectory } from '../store/engine/lock.ts';
import { makeDoctor } from './examine.ts';
import type { DaemonState } from './subject.ts';

export interface OfflineParts {
  readonly places: Places;
  readonly flags: Flags;
  readonly environment: Environment;
  readonly daemon: DaemonState;
}

/**
 * The findings. Throws `conflict` when another process holds the directory, and `not_found` when there is none. With a broken
 * configuration, everything else is examined by the defaults.
 */
export async function examineOffline(
  parts: OfflineParts,
  wish: ExaminationWish,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const { places, daemon } = parts;
  const { dataDir } = places;
  if (statSync(dataDir, { throwIfNoEntry: false }) === undefined) throw notFound(`The data directory ${dataDir}`);
  const lock = lockDataDirectory(dataDir);
  leaveToOwner(dataDir, 'errand.lock');
  try {
    const { problems, configuration } = readConfiguration(parts);
    const doctor = makeDoctor({
      places,
      settings: () => configuration.config.settings,
      catalog: () => configuration.catalog,
      problems: () => problems,
      sandbox: () => probeSandbox(sandboxSettings(configuration.config)),
      diskSamples: async () => [],
      daemon,
      clock: systemClock,
    });
    return await doctor.examine(wish, signal);
  } finally {
    lock.release();
  }
}

/** A lock that root has made would be closed to the daemon. */
function leaveToOwner(dataDir: string, name: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dataDir);
  chownSync(path.join(dataDir, name), uid, gid);
}

function readConfiguration({ places, flags, environment }: OfflineParts) {
  const read = loadLiveConfig(flags, environment);
  if (read.ok) return { problems: [...absentDirectory(places.configDir), ...read.problems], configuration: read };
  const nowhere = loadLiveConfig({ configDir: path.join(places.dataDir, 'no-configuration') }, {});
  if (!nowhere.ok) throw new Error('The defaults are no valid configuration.');
  const configuration: Configuration = nowhere;
  return { problems: read.problems, configuration };
}
