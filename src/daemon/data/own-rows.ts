// Whether the rows of a database and the files of a data directory belong together: files that no row names would be removed.
import { statSync } from 'node:fs';
import { blobTargetOf } from '../../config/blob-target.ts';
import type { Config } from '../../config/config.ts';
import { fileIn } from '../../config/store-location.ts';
import { ErrandError } from '../../domain/errors.ts';
import { locationOf as bucketName } from '../../files/blobs/s3/target.ts';
import { hasJoined, markStore, readStoreMark, storeMarkerOf } from '../../files/store-marker.ts';
import { nameOfStore, type StoreLocation } from '../../store/location.ts';
import type { Store } from '../../store/open-store.ts';

type Rows = Pick<Store, 'users' | 'objects' | 'installation'>;

interface Found {
  readonly dataDir: string;
  /** Of the database. */
  readonly name: string;
}

interface Joining extends Found {
  /** Where the bytes of files are, and where they are by the settings; null: in a data directory. */
  readonly bytes: string | null;
  readonly wanted: string | null;
}

/** Throws `conflict` where the settings name no database, and the rows of the directory are in one. Before a file is made. */
export function requireSameKind(dataDir: string, location: StoreLocation): void {
  const known = readStoreMark(dataDir);
  if (location.kind === 'postgres' || known === null) return;
  throw refusal(
    `${dataDir} has its rows in ${known}, and neither database nor database_file names one. Set it; or remove ` +
      `${storeMarkerOf(dataDir)} if they were moved back (docs/POSTGRESQL.md).`,
  );
}

/**
 * Throws `conflict` where the rows are of another directory, or those of this one are not there. A new directory may join rows whose
 * files are in the bucket that the settings name: its key is looked at next (`own-key.ts`). Returns whether it has joined, now or before.
 */
export async function requireOwnRows(config: Config, location: StoreLocation, rows: Rows): Promise<boolean> {
  const { dataDir } = config.locations;
  if (location.kind === 'sqlite') return false;
  const isEmpty = (await rows.users.count()) === 0;
  const known = readStoreMark(dataDir);
  const hasFile = (statSync(fileIn(dataDir), { throwIfNoEntry: false })?.size ?? 0) > 0;
  const name = nameOfStore(location);
  if (isEmpty) requireNone({ dataDir, name, known, hasFile });
  const isNew = !isEmpty && known === null && !hasFile;
  if (!isNew && !hasJoined(dataDir)) return false;
  const bytes = (await rows.objects.getLocation())?.name ?? null;
  if (isNew) await requireJoinable({ dataDir, name, bytes, wanted: bucketOf(config) }, rows);
  else if (bytes === null)
    throw refusal(
      `The bytes of files of ${name} are in the data directory of another node, and no longer in a bucket. There, set blobs.s3 and run ` +
        `errand blobs copy --to s3 (docs/S3.md); then this one can start.`,
    );
  return true;
}

/** Files of a directory belong to rows that must be somewhere. */
function requireNone({ dataDir, name, known, hasFile }: Found & { known: string | null; hasFile: boolean }): void {
  if (known !== null)
    throw refusal(
      `${name} is empty, and ${dataDir} has files of the rows in ${known}. Name that one, or restore a backup; to ` +
        `begin anew, take another --data-dir.`,
    );
  if (hasFile)
    throw refusal(
      `${name} is empty, and ${fileIn(dataDir)} has the rows of ${dataDir}. Move them: errand store copy (docs/POSTGRESQL.md); to ` +
        `begin anew, take another --data-dir.`,
    );
}

async function requireJoinable({ dataDir, name, bytes, wanted }: Joining, { installation }: Rows): Promise<void> {
  const rows = `${name} has the rows of another data directory than ${dataDir}`;
  if (bytes === null)
    throw refusal(
      `${rows}, whose files are not here. Give each Errand a database of its own. For another node of that one, its files have to be in a ` +
        `bucket: set blobs.s3 there, and errand blobs copy --to s3 (docs/S3.md). If this directory was moved or restored: touch ` +
        storeMarkerOf(dataDir),
    );
  if (bytes !== wanted)
    throw refusal(
      `${rows}, and the bytes of its files are in ${bytes}. For another node of it, blobs.s3 has to name that bucket` +
        `${wanted === null ? '' : `, not ${wanted}`} (docs/S3.md).`,
    );
  if ((await installation.masterKeyId()) === null)
    throw refusal(`${rows}. Start its daemon once with this version, so that the rows know their master key.`);
}

const bucketOf = ({ settings, locations }: Config): string | null => {
  const target = blobTargetOf(settings, locations);
  return target === null ? null : bucketName(target);
};

/** From now on they belong together. `joined`: what `requireOwnRows` returned. */
export function markOwnRows(dataDir: string, location: StoreLocation, joined: boolean): void {
  if (location.kind === 'postgres') markStore(dataDir, nameOfStore(location), joined);
}

const refusal = (words: string) => new ErrandError('conflict', words.charAt(0).toUpperCase() + words.slice(1));
