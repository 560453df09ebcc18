// Whether the rows of a database and the files of a data directory belong together: files that no row names would be removed.
import { statSync } from 'node:fs';
import { fileIn } from '../config/store-location.ts';
import { ErrandError } from '../domain/errors.ts';
import { markStore, readStoreMark, storeMarkerOf } from '../files/store-marker.ts';
import { nameOfStore, type StoreLocation } from '../store/location.ts';
import type { Store } from '../store/open-store.ts';

/** Throws `conflict` where the settings name no database, and the rows of the directory are in one. Before a file is made. */
export function requireSameKind(dataDir: string, location: StoreLocation): void {
  const known = readStoreMark(dataDir);
  if (location.kind === 'postgres' || known === null) return;
  throw refusal(
    `${dataDir} has its rows in ${known}, and neither database nor database_file names one. Set it; or remove ` +
      `${storeMarkerOf(dataDir)} if they were moved back (docs/POSTGRESQL.md).`,
  );
}

/** Throws `conflict` where the rows are of another directory, or those of this one are not there. */
export async function requireOwnRows(
  dataDir: string,
  location: StoreLocation,
  { users }: Pick<Store, 'users'>,
): Promise<void> {
  if (location.kind === 'sqlite') return;
  const isEmpty = (await users.count()) === 0;
  const known = readStoreMark(dataDir);
  const file = fileIn(dataDir);
  const hasFile = (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;
  const name = nameOfStore(location);
  if (isEmpty && known !== null)
    throw refusal(
      `${name} is empty, and ${dataDir} has files of the rows in ${known}. Name that one, or restore a backup; to ` +
        `begin anew, take another --data-dir.`,
    );
  if (isEmpty && hasFile)
    throw refusal(
      `${name} is empty, and ${file} has the rows of ${dataDir}. Move them: errand store copy (docs/POSTGRESQL.md); to ` +
        `begin anew, take another --data-dir.`,
    );
  if (!isEmpty && known === null && !hasFile)
    throw refusal(
      `${name} has the rows of another data directory than ${dataDir}, whose files are not here. Give each Errand a ` +
        `database of its own; or, if this directory was moved or restored: touch ${storeMarkerOf(dataDir)}`,
    );
}

/** From now on they belong together. */
export function markOwnRows(dataDir: string, location: StoreLocation): void {
  if (location.kind === 'postgres') markStore(dataDir, nameOfStore(location));
}

const refusal = (words: string) => new ErrandError('conflict', words.charAt(0).toUpperCase() + words.slice(1));
