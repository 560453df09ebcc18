// Where the store is, from the settings and the file that they name.
import path from 'node:path';
import { type Problem, problemOutside } from '../catalog/reading/problem.ts';
import { isOutOfReach, readSecret, type SecretForm, type SecretLocations } from '../catalog/reading/secret-file.ts';
import { ErrandError } from '../domain/errors.ts';
import { engineOf, type Settings } from '../domain/settings.ts';
import { type AddressRead, readPostgresAddress } from '../store/engine/postgres/connections/address.ts';
import { readStoreMark } from '../files/store-marker.ts';
import type { StoreLocation } from '../store/location.ts';
import type { Config } from './config.ts';

/** The SQLite file of a data directory. */
export const fileIn = (dataDir: string): string => path.join(dataDir, 'errand.db');

type DatabaseSettings = Pick<Settings, 'database' | 'databaseFile'>;

const ONE_LINE: SecretForm = {
  passes: (secret) => !/[\r\n]/.test(secret),
  mustHold: 'must contain one line: the address of the database',
};

/** The problem of the file that the settings name. */
export function checkDatabaseFile({ databaseFile }: DatabaseSettings, locations: SecretLocations): readonly Problem[] {
  if (databaseFile === '') return [];
  if (isOutOfReach(databaseFile, locations)) {
    locations.unresolved?.add(databaseFile);
    return [];
  }
  const read = readAddressFile(databaseFile, locations);
  return read.ok ? [] : read.problems.map((words) => problemOutside(`database_file ${words}`));
}

function readAddressFile(reference: string, locations: SecretLocations): AddressRead {
  const read = readSecret(reference, locations, ONE_LINE);
  if (!read.ok) return { ok: false, problems: [read.why] };
  const address = readPostgresAddress(read.secret);
  return address.ok ? address : { ok: false, problems: address.problems.map((words) => `${reference} ${words}`) };
}

/** The location. Throws `conflict` where the file with its address can't be read, such as a credential outside the service. */
export function storeLocationOf({ settings, locations }: Pick<Config, 'settings' | 'locations'>): StoreLocation {
  const { database, databaseFile, databaseConnections: connections } = settings;
  if (engineOf(settings) === 'sqlite') return { kind: 'sqlite', file: fileIn(locations.dataDir) };
  const read = databaseFile === '' ? readPostgresAddress(database) : readAddressFile(databaseFile, locations);
  if (read.ok) return { kind: 'postgres', address: read.address, connections };
  throw new ErrandError(
    'conflict',
    `${databaseFile === '' ? 'database' : 'database_file'} ${read.problems.join('; ')}.`,
  );
}

/**
 * The location, for whoever looks at a data directory without its daemon. Throws `conflict` where its rows are in a database that the
 * settings don't name, or can't name while they are broken: a file that is there beside would be taken for them.
 */
export function requireMarked(location: StoreLocation, dataDir: string): StoreLocation {
  const known = readStoreMark(dataDir);
  if (location.kind === 'postgres' || known === null) return location;
  throw new ErrandError(
    'conflict',
    `The rows of ${dataDir} are in ${known}, which the settings don't name, as far as they can be read: errand config check.`,
  );
}
