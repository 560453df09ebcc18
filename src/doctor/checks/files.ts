// Checks of the data directory and the configuration: what they contain, and who can read them.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, lstatSync, readdirSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { formatProblem } from '../../catalog/reading/problem.ts';
import type { Locations } from '../../config/locations.ts';
import { isInNamespace } from '../../disk/kernel-users.ts';
import { codeOf } from '../../domain/errors.ts';
import { deriveFrom, masterKeyIdOf } from '../../files/master-key.ts';
import { shellWord } from '../../terminal/shell-word.ts';
import { type Check, failed, type CheckResult, ok, skipped, together, warning } from '../check.ts';
import { LOCK_FILES } from '../../store/engine/sqlite/file/lock.ts';
import type { Scan } from '../scan.ts';
import { asDaemon, byHand, serviceUser, whileStopped } from '../remedies.ts';

const configuration: Check = {
  id: 'configuration',
  title: 'The configuration files',
  examine: ({ locations: { configDir }, problems }) => {
    const found = problems();
    if (found.length === 0) return ok(`the files in ${configDir} are valid`);
    return failed(
      found.map(formatProblem).join('; '),
      byHand(`correct what is named in ${configDir}; errand config check tells when it is`),
    );
  },
};

/** What only the daemon may read, and what others may not write. */
const PRIVATE_FILES = [
  'errand.db',
  'errand.db-wal',
  'errand.lock',
  'master.key',
  'audit-anchor.json',
  'first-credentials',
];
const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;

const permissions: Check = {
  id: 'permissions',
  title: 'Who can read the data',
  examine: ({ locations }) => {
    const { dataDir, configDir } = locations;
    const found = [
      modeOf(dataDir, OTHERS, '700'),
      ...PRIVATE_FILES.map((name) => modeOf(path.join(dataDir, name), OTHERS, '600')),
      modeOf(configDir, OTHERS_WRITE, 'go-w'),
      ownerOf(locations),
      readersOf(locations),
    ];
    return together(found, `${dataDir} and its files are closed to others`);
  },
};

function modeOf(file: string, refused: number, mend: string): CheckResult {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined || (stats.mode & refused) === 0) return ok(file);
  const mode = (stats.mode & 0o777).toString(8).padStart(4, '0');
  return failed(`${file} has mode ${mode}`, `chmod ${mend} ${shellWord(file)}`);
}

/** A file of another user, such as one that root has restored, can't be opened by the daemon. */
function ownerOf(locations: Locations): CheckResult {
  const { dataDir } = locations;
  const { uid, gid } = statSync(dataDir);
  const user = serviceUser(locations);
  const service = user === null ? null : idsOf(user);
  // The daemon itself could not have been started on such a directory.
  if (process.getuid?.() === 0 && service !== null && !isInNamespace() && service.uid !== uid)
    return failed(
      `${dataDir} does not belong to ${user}, which the service runs as`,
      giveBack({ user: user!, owner: `${user}:` }, dataDir),
    );
  // An examination by root has its own name in the lock.
  const strange = readdirSync(dataDir).filter((name) => {
    if (LOCK_FILES.includes(name)) return false;
    const stats = lstatSync(path.join(dataDir, name), { throwIfNoEntry: false });
    return stats !== undefined && stats.uid !== uid;
  });
  if (strange.length === 0) return ok(dataDir);
  const whose = user === null ? { user: `${uid}`, owner: `${uid}:${gid}` } : { user, owner: `${user}:` };
  return failed(`${strange.join(', ')} belong to another user than ${dataDir}`, giveBack(whose, dataDir));
}

/** All that is another's: looking at a database of root's leaves files beside it that are root's, too. */
const giveBack = ({ user, owner }: { readonly user: string; readonly owner: string }, directory: string) =>
  `find ${shellWord(directory)} -maxdepth 1 ! -user ${user} -exec chown -R ${owner} {} +`;

const MAX_FILES = 1_000;

/** Configuration that only root can read is none to the service. */
function readersOf(locations: Locations): CheckResult {
  const user = serviceUser(locations);
  if (user === null) return ok('');
  const ids = process.getuid?.() === 0 && !isInNamespace() ? idsOf(user) : null;
  const closed = filesIn(locations.configDir).filter((file) => !(ids === null ? canRead(file) : mayRead(file, ids)));
  if (closed.length === 0) return ok(locations.configDir);
  const words = closed.map(shellWord).join(' ');
  return failed(`${closed.join(', ')} can't be read by ${user}`, `chgrp ${user} ${words} && chmod g+rX ${words}`);
}

/** The directory and what is in it, without what is behind links. */
function filesIn(directory: string): readonly string[] {
  try {
    const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile() || entry.isDirectory());
    return [directory, ...files.slice(0, MAX_FILES).map((entry) => path.join(entry.parentPath, entry.name))];
  } catch {
    return existsSync(directory) ? [directory] : [];
  }
}

function canRead(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch (error) {
    return codeOf(error) === 'ENOENT';
  }
}

interface Ids {
  readonly uid: number;
  readonly gid: number;
}

function mayRead(file: string, ids: Ids): boolean {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return true;
  const needed = stats.isDirectory() ? 0o5 : 0o4;
  const shift = stats.uid === ids.uid ? 6 : stats.gid === ids.gid ? 3 : 0;
  return ((stats.mode >> shift) & needed) === needed;
}

/** Null for a user that isn't there. */
function idsOf(user: string): Ids | null {
  const [uid, gid] = ['-u', '-g'].map((which) => {
    const { status, stdout } = spawnSync('id', [which, '--', user], { encoding: 'utf8', timeout: PROGRAM_MS });
    return status === 0 ? Number(stdout) : Number.NaN;
  }) as [number, number];
  return Number.isNaN(uid) || Number.isNaN(gid) ? null : { uid, gid };
}

const PROGRAM_MS = 10_000;

/** A missing, cut or exchanged key is found here; what it opens isn't. */
const masterKey: Check = {
  id: 'master_key',
  title: 'The master key',
  examine: async ({ locations, scan }) => {
    const file = locations.masterKeyPath;
    const isOwn = file === path.join(locations.dataDir, 'master.key');
    if (!isOwn && !canRead(file)) return skipped(`only the service can read ${file}`);
    const stats = statSync(file, { throwIfNoEntry: false });
    const isOther = stats?.size === KEY_BYTES && (await isAnother(file, await scan()));
    if (stats?.size === KEY_BYTES && !isOther) return ok(file);
    const seen = isOther
      ? 'is another key than the one that the database is used with'
      : stats === undefined
        ? 'is missing'
        : `has ${stats.size} bytes in place of ${KEY_BYTES}`;
    const evidence = `${file} ${seen}: put back the copy that you keep`;
    if (!isOwn) return failed(evidence, byHand(`put the key back to ${file}`));
    const renew = asDaemon(locations, 'errand init --new-master-key');
    const aside = stats === undefined ? '' : `mv ${shellWord(file)} ${shellWord(`${file}.damaged`)} && `;
    return failed(evidence, `${whileStopped(locations, `${aside}${renew}`)}  # only if there is no copy of it`);
  },
};

const KEY_BYTES = 32;

/** Whether the rows are used with another key, as far as it is known. */
async function isAnother(file: string, seen: Scan): Promise<boolean> {
  const known = seen.ok ? seen.database.masterKeyId : null;
  return known !== null && canRead(file) && masterKeyIdOf(deriveFrom(await readFile(file))) !== known;
}

const firstCredentials: Check = {
  id: 'first_credentials',
  title: "The first administrator's password",
  examine: ({ locations: { dataDir } }) => {
    const file = path.join(dataDir, 'first-credentials');
    if (!existsSync(file)) return ok('it is not stored on this machine');
    return warning(`${file} still contains it: store it elsewhere`, `rm ${shellWord(file)}`);
  },
};

export const FILE_CHECKS: readonly Check[] = [configuration, permissions, masterKey, firstCredentials];
