// Where the store of a data directory is, for commands that look at it themselves.
import type { StoreLocation } from '../../store/location.ts';
import type { Context } from './context.ts';

/**
 * The location; with a broken configuration, the usual file. Throws where only the service can read what names it, and where the rows are
 * in a database that the settings don't name.
 */
export async function storeOf({ flags, io, locations }: Context): Promise<StoreLocation> {
  const { dataDir } = locations;
  const { loadConfig } = await import('../../config/config.ts');
  const { fileIn, requireMarked, storeLocationOf } = await import('../../config/store-location.ts');
  const loaded = loadConfig(flags, io.environment);
  const location = loaded.ok ? storeLocationOf(loaded.config) : ({ kind: 'sqlite', file: fileIn(dataDir) } as const);
  return requireMarked(location, dataDir);
}
