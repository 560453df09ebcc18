// Checks of what is stored: the database, the blobs, and the runs that make no progress.
import { refusalOfSchema } from '../../store/engine/schema.ts';
import { listIds } from '../../backups/repository/repository.ts';
import { wordsOfDoubt, wordsOfFault } from '../../domain/people/audit-anchor.ts';
import { withCommands, wordsOfMore, wordsOfPin } from '../../operations/capabilities/pins.ts';
import { orphanPath } from '../../files/orphans.ts';
import { shellWord } from '../../terminal/shell-word.ts';
import { inMegabytes } from '../../terminal/sizes.ts';
import type { Inspection } from '../../store/inspection/inspect.ts';
import { type Check, failed, ok, skipped, warning } from '../check.ts';
import type { BlobCount } from '../scan.ts';
import { byHand, serviceUser, whileStopped } from '../remedies.ts';
import { engineIn, type Subject } from '../subject.ts';
import { POSTGRES_CHECKS } from './postgres.ts';
import { SQLITE_CHECKS } from './sqlite.ts';

const database: Check = {
  id: 'database',
  title: 'The database',
  examine: async (subject) => {
    const seen = await subject.scan();
    const restore = restoreOf(subject);
    if (!seen.ok)
      return failed(`it could not be read: ${seen.why}`, engineIn(subject) === 'postgres' ? READ_WHY : restore);
    const { figures, faults, schemaVersion, ownVersion, isUsable } = seen.database;
    const engine = figures.engine === 'sqlite' ? '' : `PostgreSQL ${figures.version}, `;
    const words = `${engine}${inMegabytes(figures.bytes)}, version ${schemaVersion}${schemaVersion > ownVersion && isUsable ? NEWER : ''}`;
    if (schemaVersion > ownVersion && !isUsable)
      return failed(
        `${words}: this Errand knows versions up to ${ownVersion}`,
        byHand('install the version of Errand that wrote it, or a newer one'),
      );
    if (!isUsable && refusalOfSchema(schemaVersion) !== null)
      return failed(
        `${words}: too old for this Errand`,
        byHand('start it once with the last Errand 0.1, and then with this one'),
      );
    if (faults === null) return skipped(`${words}: too large to search for damage unless you add --full`);
    if (faults.length > 0) return failed(`${words}, damaged: ${faults.join('; ')}`, restore);
    return ok(`${words}, ${healthOf(seen.database)}`);
  },
};

const NEWER = ' (of a newer Errand, and this one goes on with it)';

const READ_WHY = byHand('do what it says; errand doctor tells when it is done');

/** A server examines its pages by itself, if it can. */
function healthOf({ server }: Inspection): string {
  if (server === null) return 'without damage';
  return server.hasChecksums ? 'no page failed its checksum' : 'its pages have no checksums';
}

/**
 * The newest backup in place of the data, which is put aside; the master key, which is in no backup by default, is kept. What
 * happened since that backup stays in the directory that was put aside.
 */
function restoreOf(subject: Subject): string {
  const { locations, settings } = subject;
  if (engineIn(subject) === 'postgres')
    return byHand('docs/POSTGRESQL.md says how to restore a backup into an empty database');
  const { directory } = settings().backup;
  const { dataDir } = locations;
  const aside = shellWord(`${dataDir}.damaged`);
  if (directory === '' || !hasBackups(directory))
    return byHand(
      `errand backup restore BACKUPS --to ${shellWord(`${dataDir}.restored`)}, with the directory of a backup`,
    );
  const user = serviceUser(locations);
  const owner = user === null ? '' : ` --owner ${user}`;
  const restore = `errand backup restore ${shellWord(directory)} --to ${shellWord(dataDir)} --config-dir ${aside}/restored-config${owner}`;
  const keepKey = `cp -p ${aside}/master.key ${shellWord(dataDir)}/`;
  return whileStopped(locations, `mv ${shellWord(dataDir)} ${aside} && ${restore} && ${keepKey}`);
}

function hasBackups(directory: string): boolean {
  try {
    return listIds(directory).length > 0;
  } catch {
    return false;
  }
}

const blobs: Check = {
  id: 'blobs',
  title: 'Stored files against their rows',
  examine: async (subject) => {
    const seen = await subject.scan();
    if (!seen.ok) return skipped('the database could not be read');
    const { named, missing, wrong, examples, isWhole, bucket } = seen.blobs;
    const words = `${named}${isWhole ? '' : ' of more (all with --full)'} looked at`;
    if (bucket !== null) return inBucket({ ...seen.blobs, bucket }, words);
    if (missing + wrong === 0) return ok(`${words}, all there`);
    const evidence = `${words}: ${missing} missing, ${wrong} of the wrong size, such as ${examples.join(', ')}`;
    return failed(evidence, restoreOf(subject));
  },
};

/** What is missing is in the bucket alone. */
function inBucket({ named, missing, wrong, examples, bucket }: BlobCount & { bucket: string }, words: string) {
  const said = `${words}: ${named - missing} in rows or local copies, the others in ${bucket}`;
  if (wrong === 0) return ok(said);
  const damaged = `${said}, ${wrong} of the wrong size, such as ${examples.join(', ')}`;
  return failed(damaged, byHand('remove these copies from the folder blobs of the data directory'));
}

const orphans: Check = {
  id: 'orphans',
  title: 'Files that no row names',
  examine: async ({ scan, isHeld }) => {
    const seen = await scan();
    if (!seen.ok) return skipped('the database could not be read');
    const { blobs: found, bytes, workspaces, examples, isWhole } = seen.orphans;
    const held = examples.filter(({ kind, name }) => kind !== 'workspace' && isHeld(name));
    const count = found - held.length;
    const more = isWhole ? '' : ' among those looked at (all with --full)';
    if (count + workspaces === 0) return ok(`there are none${more}`);
    const shown = examples.filter((orphan) => !held.includes(orphan)).slice(0, SHOWN_ORPHANS);
    const words = shown.map(orphanPath).join(', ');
    const evidence = `${count} stored files (${inMegabytes(bytes)}) and ${workspaces} workspaces${more}, such as ${words}`;
    return warning(evidence, 'errand gc');
  },
};

const SHOWN_ORPHANS = 5;

const runs: Check = {
  id: 'runs',
  title: 'Runs that make no progress',
  examine: async ({ scan, clock }) => {
    const seen = await scan();
    if (!seen.ok) return skipped('the database could not be read');
    const { stuck } = seen.database;
    if (stuck.length === 0) return ok('there are none');
    const minutes = (since: number) => Math.floor((clock.now() - since) / 60_000);
    const evidence = stuck.map(({ id, status, since }) => `${id} ${status} without an event for ${minutes(since)} min`);
    return warning(evidence.join('; '), stuck.map(({ id }) => `errand runs stop ${id}`).join('\n'));
  },
};

const webhooks: Check = {
  id: 'webhooks',
  title: 'Webhooks that fail',
  examine: async ({ scan }) => {
    const seen = await scan();
    if (!seen.ok) return skipped('the database could not be read');
    const failing = seen.database.webhooks;
    if (failing.length === 0) return ok('there are none');
    const evidence = failing.map(({ name, failures, disabledReason }) =>
      disabledReason === null ? `${name}: ${failures} failures in a row` : `${name} was disabled: ${disabledReason}`,
    );
    const [first] = failing;
    const isDisabled = failing.filter(({ disabledReason }) => disabledReason !== null);
    const remedies = isDisabled.map(({ id }) => `errand webhooks enable ${id}`);
    return warning(
      evidence.join('; '),
      remedies.length > 0
        ? remedies.join('\n')
        : byHand(`its receiver has to answer; errand webhooks deliveries ${first!.id} shows what it said`),
    );
  },
};

const pins: Check = {
  id: 'pins',
  title: 'Keys, users and scheduled tasks against the configuration',
  examine: async ({ scan, defined }) => {
    const [seen, names] = [await scan(), defined()];
    if (names === null) return skipped('the configuration files could not be read');
    if (!seen.ok || seen.database.pins === null) return skipped('the database could not be read');
    const lost = withCommands(seen.database.pins, names);
    if (lost.total === 0) return ok('what they are pinned to is defined');
    const words = [...lost.pins.map(wordsOfPin), wordsOfMore(lost)].filter((part) => part !== '');
    return warning(words.join('; '), lost.pins.map(({ command }) => command).join('\n'));
  },
};

const auditLog: Check = {
  id: 'audit_log',
  title: 'The audit log against its anchor',
  examine: async ({ scan, anchor }) => {
    const seen = await scan();
    if (!seen.ok || seen.database.audit === null) return skipped('the database could not be read');
    const { fault, isAnchorDue } = seen.database.audit;
    if (anchor.kind === 'missing' && isAnchorDue) return skipped('no daemon has written its anchor yet');
    if (anchor.kind !== 'seen') return failed(wordsOfFault(`anchor_${anchor.kind}`, null), VERIFY);
    const { end, doubt } = anchor.anchor;
    if (fault !== null) return failed(wordsOfFault(fault, end), VERIFY);
    if (doubt !== null) return failed(wordsOfDoubt(doubt), VERIFY);
    return ok(`it contains entry ${end.id}${anchor.isSealVerified ? '' : '; the seal takes the master key'}`);
  },
};

const VERIFY = byHand(
  'errand audit verify shows the entries; compare them with those of a backup (errand backup list)',
);

export const DATA_CHECKS: readonly Check[] = [
  database,
  ...SQLITE_CHECKS,
  ...POSTGRES_CHECKS,
  blobs,
  orphans,
  runs,
  webhooks,
  pins,
  auditLog,
];
