// Checks of the data directory and the configuration: what they contain, and who can read them.
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { formatProblem } from '../../catalog/reading/problem.ts';
import { shellWord } from '../../terminal/shell-word.ts';
import { type Check, failed, type Found, ok, together, warning } from '../check.ts';
import type { Subject } from '../subject.ts';

const configuration: Check = {
  id: 'configuration',
  title: 'The configuration files',
  examine: ({ places: { configDir }, problems }) => {
    const found = problems();
    if (found.length === 0) return ok(`the files in ${configDir} are valid`);
    return failed(found.map(formatProblem).join('; '), 'errand config check');
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
  examine: ({ places }) => {
    const { dataDir, configDir } = places;
    const found = [
      modeOf(dataDir, OTHERS, '700'),
      ...PRIVATE_FILES.map((name) => modeOf(path.join(dataDir, name), OTHERS, '600')),
      modeOf(configDir, OTHERS_WRITE, 'go-w'),
      ownerOf(places),
    ];
    return together(found, `${dataDir} and its files are closed to others`);
  },
};

function modeOf(file: string, refused: number, mend: string): Found {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined || (stats.mode & refused) === 0) return ok(file);
  const mode = (stats.mode & 0o777).toString(8).padStart(4, '0');
  return failed(`${file} has mode ${mode}`, `chmod ${mend} ${shellWord(file)}`);
}

/** A file of another user, such as one that root has restored, can't be opened by the daemon. */
function ownerOf({ dataDir }: Subject['places']): Found {
  const { uid, gid } = statSync(dataDir);
  const strange = [...PRIVATE_FILES, 'blobs', 'workspaces'].filter((name) => {
    const stats = statSync(path.join(dataDir, name), { throwIfNoEntry: false });
    return stats !== undefined && stats.uid !== uid;
  });
  if (strange.length === 0) return ok(dataDir);
  const files = strange.map((name) => shellWord(path.join(dataDir, name))).join(' ');
  return failed(`${strange.join(', ')} belong to another user than ${dataDir}`, `chown -R ${uid}:${gid} ${files}`);
}

/** A missing or cut key is found here; what it opens isn't. */
const masterKey: Check = {
  id: 'master_key',
  title: 'The master key',
  examine: ({ places: { masterKeyPath: file } }) => {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats?.size === KEY_BYTES) return ok(file);
    const seen = stats === undefined ? 'is missing' : `has ${stats.size} bytes in place of ${KEY_BYTES}`;
    return failed(
      `${file} ${seen}: restore it from a backup`,
      'errand init --new-master-key  # only if it is lost for good',
    );
  },
};

const KEY_BYTES = 32;

const firstCredentials: Check = {
  id: 'first_credentials',
  title: "The first administrator's password",
  examine: ({ places: { dataDir } }) => {
    const file = path.join(dataDir, 'first-credentials');
    if (!existsSync(file)) return ok('it is not stored on this machine');
    return warning(`${file} still contains it: store it elsewhere`, `rm ${shellWord(file)}`);
  },
};

export const FILE_CHECKS: readonly Check[] = [configuration, permissions, masterKey, firstCredentials];
