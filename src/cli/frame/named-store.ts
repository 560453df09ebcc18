// Where the settings of an installation say that its rows are, for commands that must not fail by them.
import { loadConfig } from '../../config/config.ts';
import type { Environment, Flags } from '../../config/environment.ts';
import { storeLocationOf } from '../../config/store-location.ts';
import { nameOfStore } from '../../store/location.ts';

/** Its name; null where it can't be read. */
export function namedStore(directories: Pick<Flags, 'dataDir' | 'configDir'>, environment: Environment): string | null {
  const loaded = loadConfig(directories, environment);
  try {
    return loaded.ok ? nameOfStore(storeLocationOf(loaded.config)) : null;
  } catch {
    return 'a database';
  }
}
