// The master key at a start: the one that the rows are used with, compared before anything is sealed or opened with another.
import { existsSync, rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Locations } from '../../config/locations.ts';
import { fileIn } from '../../config/store-location.ts';
import { ErrandError } from '../../domain/errors.ts';
import {
  COST_OF_NEW_KEY,
  type DeriveKey,
  findMasterKey,
  makeMasterKey,
  masterKeyIdOf,
  type MasterKeyLocation,
  openMasterKey,
} from '../../files/master-key.ts';
import { storeMarkerOf } from '../../files/store-marker.ts';
import { nameOfStore, type StoreLocation } from '../../store/location.ts';
import type { Store } from '../../store/open-store.ts';

/** Where the master key is stored (J6). */
export function masterKeyLocation({ dataDir, masterKeyPath, credentialsDirectory }: Locations): MasterKeyLocation {
  const isCredential = credentialsDirectory !== null && dirname(masterKeyPath) === resolve(credentialsDirectory);
  const marker = storeMarkerOf(dataDir);
  return { path: masterKeyPath, isCredential, database: existsSync(marker) ? marker : fileIn(dataDir) };
}

/**
 * The key before the rows are looked at. Null: there is none, and the rows of the server decide whether one is missing. A file has them
 * to itself, so its key is made first. Throws `conflict` as `findMasterKey` does.
 */
export function findKey(place: MasterKeyLocation, { kind }: StoreLocation): DeriveKey | null {
  return kind === 'sqlite' ? openMasterKey(place) : findMasterKey(place);
}

interface Parts {
  readonly store: Pick<Store, 'installation' | 'users'>;
  readonly location: StoreLocation;
  readonly place: MasterKeyLocation;
  /** What `findKey` returned. */
  readonly found: DeriveKey | null;
}

/** The key that the rows are used with: from now on, if they aren't used with any yet. Throws `conflict` when it is another one or missing. */
export async function settleKey({ store, location, place, found }: Parts): Promise<DeriveKey> {
  const known = await store.installation.masterKeyId();
  if (found === null && (known !== null || (await store.users.count()) > 0)) throw missing(place, location);
  const key = found ?? makeMasterKey(place.path);
  const id = masterKeyIdOf(key);
  const isOwn = id === (known ?? (await store.installation.claimMasterKey(id)));
  if (isOwn) return key;
  // Another node was the first, since the look above: this key has sealed nothing.
  if (found === null) rmSync(place.path);
  throw found === null ? missing(place, location) : another(place, location);
}

const COPY =
  'Copy master.key from the data directory of another node, or put back the copy that you keep: all nodes have the same one.';

const missing = ({ path }: MasterKeyLocation, location: StoreLocation) =>
  refusal(`The master key ${path} is missing, and ${nameOfStore(location)} is used with one. ${COPY}`);

const another = ({ path }: MasterKeyLocation, location: StoreLocation) =>
  refusal(
    `${path} is another master key than the one that ${nameOfStore(location)} is used with. ${COPY} If that one is permanently ` +
      `lost, remove the file; "errand init --new-master-key" makes a new one. ${COST_OF_NEW_KEY}`,
  );

const refusal = (words: string) => new ErrandError('conflict', words);
