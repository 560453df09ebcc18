// Initialises a data directory: database, master key, commented configuration files, and the first administrator (K5).
import { chmodSync, existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config/config.ts';
import type { Locations } from '../../config/locations.ts';
import { defaultConfigFiles } from '../../config/default-config-files.ts';
import { requireMarked, storeLocationOf } from '../../config/store-location.ts';
import { systemClock } from '../../domain/clock.ts';
import { ErrandError, messageOf } from '../../domain/errors.ts';
import { makeMasterKey, masterKeyIdOf, requireLostMasterKey } from '../../files/master-key.ts';
import { writeAtomically } from '../../files/blobs/write-atomically.ts';
import { makeDirectories } from '../../disk/make-directories.ts';
import { hashPassword, makeKey, makePassword } from '../../operations/people/secrets.ts';
import { lockDataDirectory } from '../../store/engine/sqlite/file/lock.ts';
import { renderBody } from '../../webhooks/bodies/render-body.ts';
import { explainRefusal } from '../../store/explain-refusal.ts';
import { openStore, type Store } from '../../store/open-store.ts';
import { findKey, masterKeyLocation, settleKey } from './own-key.ts';
import { markOwnRows, requireOwnRows, requireSameKind } from './own-rows.ts';
import { requireMounted } from './unmounted.ts';

/** What was created, with the two secrets that are shown once. */
export interface Created {
  readonly dataDir: string;
  readonly configDir: string;
  readonly admin: { readonly userId: string; readonly username: string; readonly password: string };
  readonly apiKey: { readonly id: string; readonly key: string; readonly scope: 'admin' };
}

const JOINS = 'joins an installation that has its administrator: errand serve starts a node there.';

const OWNER_ALONE = 0o700;

/**
 * Initialises a data directory and leaves it closed. Throws `conflict` when it was already initialised, or when another process
 * holds it (the message names its pid).
 */
export async function initialize(config: Config, adminName: string): Promise<Created> {
  const { dataDir } = config.locations;
  const location = storeLocationOf(config);
  const place = masterKeyLocation(config.locations);
  prepareDirectories(config.locations);
  const lock = lockDataDirectory(dataDir);
  try {
    requireSameKind(dataDir, location);
    const found = findKey(place, location);
    const store = openStore(location, systemClock, { renderBody });
    try {
      const joined = await requireOwnRows(config, location, store);
      await settleKey({ store, location, place, found });
      const created = await createFirstAdministrator(store, config.locations, adminName);
      if (created === null)
        throw new ErrandError('conflict', `${dataDir} ${joined ? JOINS : 'is already initialised.'}`);
      markOwnRows(dataDir, location, joined);
      return created;
    } finally {
      await store.close();
    }
  } catch (error) {
    throw explainRefusal(error, location);
  } finally {
    lock.release();
  }
}

/**
 * Creates a new master key for a data directory that has lost its own; `COST_OF_NEW_KEY` says what that costs. Throws
 * `conflict` when none is missing, or when another process holds the directory or the database.
 */
export async function renewMasterKey(config: Config): Promise<void> {
  const { dataDir } = config.locations;
  const location = requireMarked(storeLocationOf(config), dataDir);
  const place = masterKeyLocation(config.locations);
  requirePrivate(dataDir);
  const lock = lockDataDirectory(dataDir);
  try {
    requireLostMasterKey(place);
    const store = openStore(location, systemClock, { renderBody });
    try {
      // First, so that a crash leaves no key that the next start refuses.
      await store.installation.forgetMasterKey();
      await store.installation.claimMasterKey(masterKeyIdOf(makeMasterKey(place.path)));
    } finally {
      await store.close();
    }
  } catch (error) {
    throw explainRefusal(error, location);
  } finally {
    lock.release();
  }
}

/**
 * Creates the missing directories and commented configuration files. Throws `conflict` for a data directory that others can
 * enter.
 */
export function prepareDirectories({ dataDir, configDir }: Locations): void {
  made(dataDir, OWNER_ALONE);
  // An empty directory can't be in use for anything else.
  if (readdirSync(dataDir).length === 0) {
    requireMounted(dataDir);
    makePrivate(dataDir);
  }
  requirePrivate(dataDir);
  // Created at once, so that backup configurations can name it.
  made(join(dataDir, 'workspaces'), OWNER_ALONE);
  try {
    layDefaultConfig(configDir);
  } catch (error) {
    // A service manager may own the directory: the defaults are in effect even without their commented files.
    if (!isRefusal(error)) throw error;
  }
}

function makePrivate(directory: string): void {
  try {
    chmodSync(directory, OWNER_ALONE);
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
}

function requirePrivate(dataDir: string): void {
  const mode = statSync(dataDir).mode & 0o777;
  if ((mode & ~OWNER_ALONE) === 0) return;
  const shown = mode.toString(8).padStart(4, '0');
  const words = `${dataDir} is the data directory, and its mode ${shown} opens it to others.`;
  throw new ErrandError('conflict', `${words} Run: chmod 700 ${dataDir}`);
}

function made(directory: string, mode: number): void {
  try {
    makeDirectories(directory, mode);
  } catch (error) {
    throw new ErrandError('internal', `The directory ${directory} cannot be made: ${messageOf(error)}.`, {
      cause: error,
    });
  }
}

function layDefaultConfig(configDir: string): void {
  made(configDir, 0o755);
  for (const { name, text } of defaultConfigFiles()) {
    const path = join(configDir, name);
    if (!existsSync(path)) writeAtomically(path, text, 0o644);
  }
}

function isRefusal(thrown: unknown): boolean {
  const error = thrown instanceof ErrandError ? thrown.cause : thrown;
  return ['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '');
}

/** Creates the first administrator and their key; null when users already exist. */
export async function createFirstAdministrator(
  store: Store,
  { dataDir, configDir }: Locations,
  adminName: string,
): Promise<Created | null> {
  // Checked first, so that an ordinary start does not hash a password needlessly.
  if ((await store.users.count()) > 0) return null;
  const password = makePassword();
  const { text, id, lastFour, secretSha256 } = makeKey();
  const created = await store.createFirstAdministrator(
    {
      username: adminName,
      fullName: '',
      department: '',
      role: 'admin',
      teamId: null,
      functionalRole: null,
      scenario: null,
      passwordHash: await hashPassword(password),
    },
    {
      id,
      name: 'first key',
      scope: 'admin',
      lastFour,
      secretSha256,
      model: null,
      target: 'free',
      projectId: null,
      expiresAt: null,
    },
  );
  if (created === null) return null;
  const { user } = created;
  return {
    dataDir,
    configDir,
    admin: { userId: user.id, username: user.username, password },
    apiKey: { id, key: text, scope: 'admin' },
  };
}
