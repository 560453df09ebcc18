// The master key: 32 random bytes that every other key of the daemon is derived from (J6).
import { hkdfSync, randomBytes } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { ErrandError, messageOf } from '../domain/errors.ts';

const KEY_BYTES = 32;
/** Any access of the group or of others. */
const NOT_OWNER = 0o077;

/** Where the key is stored. A service's credential is protected by the service manager, not by its mode. */
export interface MasterKeyLocation {
  readonly path: string;
  readonly isCredential: boolean;
  /** The database that was created with the key: if it exists, a missing key is lost, not new. */
  readonly database?: string;
}

/** The purpose of a derived key. Keys of different purposes are unrelated. */
type KeyPurpose =
  | 'login-token'
  | 'secret'
  | 'file-address'
  | 'audit-log'
  | 'backup'
  | 'key-id'
  | 'configuration'
  | 'office-cookie';

/** Derives a 32-byte key for a purpose; another salt gives another key. */
export type DeriveKey = (purpose: KeyPurpose, salt: Buffer) => Buffer;

/** What is lost with the key. */
export const COST_OF_NEW_KEY =
  'All login tokens and file addresses become invalid, and the credentials of connections must be entered again.';

/**
 * Returns the function that derives keys from the master key, which itself is never passed on; null where neither key nor database
 * exists. Call it under the data directory's lock. Throws `conflict` when the key of a database is missing, and when the file can't be
 * read, has other content, or is accessible to others.
 */
export function findMasterKey(place: MasterKeyLocation): DeriveKey | null {
  if (isThere(place)) return deriveFrom(readKeyFile(place));
  if (hasDatabase(place)) throw lost(place);
  return null;
}

/** The same, and creates a master key where neither key nor database exists. */
export const openMasterKey = (place: MasterKeyLocation): DeriveKey => findMasterKey(place) ?? makeMasterKey(place.path);

/** Names a master key: who has only the name can't find the key. The same for all nodes of an installation. */
export const masterKeyIdOf = (deriveKey: DeriveKey): string => deriveKey('key-id', NO_SALT).toString('hex', 0, 16);

const NO_SALT = Buffer.alloc(0);

/** The function that derives keys from a master key. */
export function deriveFrom(master: Uint8Array): DeriveKey {
  return (purpose, salt) => Buffer.from(hkdfSync('sha256', master, salt, `errand/${purpose}`, KEY_BYTES));
}

/** The master key itself, for a backup that it is encrypted in. Throws as `openMasterKey` does. */
export function readMasterKey(place: MasterKeyLocation): Buffer {
  if (!isThere(place)) throw lost(place);
  return readKeyFile(place);
}

/** Throws `conflict` unless the key of a database is missing. */
export function requireLostMasterKey(place: MasterKeyLocation): void {
  if (isThere(place)) throw refused(`${place.path} exists: no master key is missing.`);
  if (!hasDatabase(place)) throw refused(`There is no database without its master key.`);
}

// Without following links: a link with a missing target is a key that isn't there yet, and must not be replaced.
const isThere = ({ path }: MasterKeyLocation) => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

function hasDatabase({ database }: MasterKeyLocation): boolean {
  return database !== undefined && (statSync(database, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

function lost({ path, database }: MasterKeyLocation): ErrandError {
  const way = `Restore it from a backup, or provide it as the service's credential master-key.`;
  const last = `If it is permanently lost, "errand init --new-master-key" makes a new one. ${COST_OF_NEW_KEY}`;
  return refused(`The master key ${path} is missing, and ${database} was made with one. ${way} ${last}`);
}

/** Makes a key. Renamed only when complete: half a key after a crash would prevent every later start. */
export function makeMasterKey(path: string): DeriveKey {
  const key = randomBytes(KEY_BYTES);
  const unfinished = `${path}.new`;
  rmSync(unfinished, { force: true });
  const file = openSync(unfinished, 'wx', 0o600);
  try {
    writeSync(file, key);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(unfinished, path);
  const directory = openSync(dirname(path), 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
  return deriveFrom(key);
}

function readKeyFile({ path, isCredential }: MasterKeyLocation): Buffer {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    throw refused(`The master key can't be read: ${messageOf(error)}.`, error);
  }
  try {
    const found = fstatSync(file);
    if (!found.isFile() || found.size !== KEY_BYTES) {
      throw refused(
        `${path} must be a file of ${KEY_BYTES} bytes${found.isFile() ? `, but holds ${found.size}` : ''}.`,
      );
    }
    const mode = found.mode & 0o777;
    if (!isCredential && (mode & NOT_OWNER) !== 0) {
      const shown = mode.toString(8).padStart(4, '0');
      throw refused(`${path} is the master key, and its mode ${shown} opens it to others. Run: chmod 600 ${path}`);
    }
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

function refused(message: string, cause?: unknown): ErrandError {
  return new ErrandError('conflict', message, { cause });
}
