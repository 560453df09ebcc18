// `errand backup verify` and `errand backup restore`: neither needs a daemon.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { SANDBOX_OWNER } from '../../../agent/sandbox/users.ts';
import { sealKeyOf } from '../../../backups/backups.ts';
import { requireEmpty, restore } from '../../../backups/restore.ts';
import { openSource, type Source } from '../../../backups/source.ts';
import { sumOf, summaryOf } from '../../../backups/summary.ts';
import { type Verdict, verify } from '../../../backups/verify.ts';
import { unwrapKey } from '../../../backups/wrapped-key.ts';
import type { Flags } from '../../../config/environment.ts';
import { fileIn } from '../../../config/store-location.ts';
import { makeTemporaryFolder } from '../../../disk/temporary-folder.ts';
import { deriveFrom, readMasterKey } from '../../../files/master-key.ts';
import type { Manifest } from '../../../wire/backups/manifest.ts';
import type { Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import { namedStore } from '../../frame/named-store.ts';
import { flag, type Given, option, required } from '../../frame/options.ts';
import { makeProgressBar } from '../../terminal/progress.ts';
import { BACKUPS } from './columns.ts';
import { databaseAt, databaseInFile } from '../../frame/database-location.ts';
import { nameOfStore, type StoreLocation } from '../../../store/location.ts';
import { shellWord } from '../../../terminal/shell-word.ts';
import { hintLeftOut } from './left-out.ts';
import { ownerOf } from './owner.ts';
import { readPassphrase } from './passphrase.ts';
import { sourcePath } from './source-path.ts';

export const VERIFY = {
  scratch: option(
    '--scratch <directory>',
    'where the database is unpacked meanwhile (default: the folder for temporary files)',
  ),
};

export async function verifyBackup(
  context: Context,
  from: string | undefined,
  id: string | undefined,
  options: Given<typeof VERIFY>,
): Promise<void> {
  const { io, signal } = context;
  const source = openSource(await sourcePath(context, from));
  const scratch = await makeScratch(options);
  const bar = makeProgressBar(io);
  try {
    const onProgress = (bytes: number, manifest: Manifest) => bar.show('verifying', bytes, sumOf(manifest).bytes);
    const request = { source, id: newestOf(source, id), scratch, sealKey: sealKeyHere(context), onProgress, signal };
    const verdict = await verify(request);
    bar.end();
    showVerdict(context, verdict);
  } finally {
    bar.end();
    rmSync(scratch, { recursive: true, force: true });
    source.close();
  }
}

function showVerdict({ out }: Context, verdict: Verdict): void {
  const { id, files, bytes, faults, isSealVerified, leftOut, unrestorable } = verdict;
  const ok = faults.length === 0 && unrestorable.count === 0;
  if (out.format === 'json')
    out.json({
      ok,
      id,
      files,
      bytes,
      seal_verified: isSealVerified,
      faults,
      left_out: leftOut.count,
      left_out_files: leftOut.named,
      unrestorable: unrestorable.count,
      unrestorable_files: unrestorable.named,
    });
  else for (const fault of faults) out.hint(fault);
  hintLeftOut(out, 'was left out when the backup was made', leftOut);
  hintLeftOut(out, "can't be restored", unrestorable);
  if (faults.length > 0) throw new CommandError('checkFailed', `The backup ${id} is not as it was made.`);
  if (!ok)
    throw new CommandError(
      'checkFailed',
      `The backup ${id} is as it was made, but a restore will leave out ${unrestorable.count} of its files.`,
    );
  if (out.format === 'json') return;
  const seal = isSealVerified ? '' : ' Its seal was not verified: that takes the master key.';
  out.text(`The backup ${id} is intact: ${files} files.${seal}\n`);
}

async function makeScratch({ scratch }: Given<typeof VERIFY>): Promise<string> {
  return scratch === undefined ? makeTemporaryFolder('verify') : mkdtempSync(join(resolve(scratch), 'errand-verify-'));
}

/** That of the installation here, if there is one whose key can be read. */
function sealKeyHere({ locations }: Context): Uint8Array | null {
  try {
    const isCredential = locations.credentialsDirectory !== null;
    return sealKeyOf(deriveFrom(readMasterKey({ path: locations.masterKeyPath, isCredential })));
  } catch {
    return null;
  }
}

/** The backup of an id, otherwise the newest. Throws `notFound`. */
function newestOf({ ids }: Source, id: string | undefined): string {
  const found = id ?? ids.at(-1);
  if (found !== undefined && ids.includes(found)) return found;
  throw new CommandError(
    'notFound',
    id === undefined ? 'There is no complete backup there.' : `There is no backup ${id}.`,
  );
}

export const RESTORE = {
  to: required(option('--to <directory>', 'the data directory; missing or empty')),
  paused: flag('--paused', 'disable webhooks and scheduled tasks, for a copy beside the original'),
  owner: option('--owner <user>', 'the user that the daemon runs as (default: the owner of the data directory)'),
  database: option(
    '--database <address>',
    'an empty PostgreSQL database for the rows (default: a file of the data directory)',
  ),
  databaseFile: option('--database-file <file>', 'a file whose one line is that address, when it has a password'),
  withoutMasterKey: flag('--without-master-key', 'leave out the master key of the backup'),
  passphraseFile: option(
    '--passphrase-file <file>',
    'a file with the passphrase of the master key, - for stdin; typed when absent',
  ),
};
type RestoreOptions = Given<typeof RESTORE>;

export async function restoreBackup(
  context: Context,
  from: string,
  id: string | undefined,
  options: RestoreOptions,
): Promise<void> {
  const { io, out, signal, flags } = context;
  const source = openSource(from);
  const bar = makeProgressBar(io);
  try {
    const manifest = source.manifest(newestOf(source, id));
    const dataDir = resolve(options.to);
    const configDir = flags.configDir === undefined ? join(dataDir, 'config') : resolve(flags.configDir);
    // Before anything is asked.
    requireEmpty({ dataDir, configDir });
    const [service, rowsTo] = [ownerOf(dataDir, options.owner), rowsTarget(options)];
    const masterKey = await masterKeyOf(context, manifest, options);
    const { bytes: total } = sumOf(manifest);
    const leftOut = await restore({
      source,
      manifest,
      dataDir,
      configDir,
      masterKey,
      // A daemon of root has the workspaces owned by the user of the sandbox.
      owner: service === null && process.getuid?.() === 0 ? SANDBOX_OWNER : null,
      service,
      paused: options.paused === true,
      rowsTo,
      onProgress: (bytes) => bar.show('restoring', bytes, total),
      onRows: bar.show,
      signal,
    });
    bar.end();
    const summary = summaryOf(manifest);
    const missing = { unrestorable: leftOut.count, unrestorable_files: leftOut.named };
    out.record(summary, BACKUPS, { ...summary, ...missing, data_dir: dataDir, config_dir: configDir });
    if (masterKey === null) hintKey(context, join(dataDir, 'master.key'), options.owner);
    if (options.paused === true) out.hint(OTHER_BACKUPS);
    hintOwner(context, dataDir);
    if (manifest.bucket !== undefined) out.hint(hintOfBucket(manifest.bucket));
    hintRows(context, { dataDir, configDir }, rowsTo);
    hintLeftOut(out, "can't be restored", leftOut);
    if (leftOut.count > 0)
      throw new CommandError(
        'checkFailed',
        `The restore is incomplete: ${leftOut.count} files could not be restored to ${dataDir}; everything else is there.`,
      );
  } finally {
    bar.end();
    source.close();
  }
}

function rowsTarget({ database, databaseFile }: RestoreOptions): StoreLocation | null {
  if (database !== undefined && databaseFile !== undefined)
    throw new CommandError('usage', 'Give either --database or --database-file.');
  if (databaseFile !== undefined) return databaseInFile(databaseFile, '--database-file');
  const location = database === undefined ? null : databaseAt(database, '--database');
  if (location?.kind !== 'sqlite') return location;
  throw new CommandError('usage', '--database must be the address of a PostgreSQL database, postgres://…');
}

async function masterKeyOf(context: Context, { master_key: wrapped, id }: Manifest, options: RestoreOptions) {
  if (wrapped === null || options.withoutMasterKey === true) return null;
  return unwrapKey(wrapped, await readPassphrase(context, options.passphraseFile, false), id);
}

/** Root restores, and the daemon usually runs as another user. */
const OTHER_BACKUPS =
  'If backup.directory is set, this copy makes its backups where the original does, and removes old ones there. Before you start it: errand config set backup.directory --default';

const hintOfBucket = (bucket: string) =>
  `The bytes of files are in ${bucket}, not in the backup: what was removed there since is lost unless the bucket keeps versions. This copy removes no object of it, until errand blobs own says that the original is gone.`;

function hintKey({ out }: Context, file: string, owner: string | undefined): void {
  const way = owner === undefined ? '' : `: install -m 600 -o ${shellWord(owner)} master.key ${shellWord(file)}`;
  out.hint(`Put the master key at ${file} before you start the daemon${way}`);
}

function hintOwner({ out }: Context, dataDir: string): void {
  if (statSync(dataDir).uid !== 0) return;
  out.hint(`${dataDir} belongs to root. If the daemon runs as another user, restore with --owner.`);
}

type Directories = Required<Pick<Flags, 'dataDir' | 'configDir'>>;

/** The settings that were restored may name another place for the rows than they are in now. */
function hintRows({ out }: Context, restored: Directories, rowsTo: StoreLocation | null): void {
  const [is, named] = [rowsTo === null ? fileIn(restored.dataDir) : nameOfStore(rowsTo), namedStore(restored, {})];
  if (named === is) return;
  const settings = join(restored.configDir, 'errand.yaml');
  const before = 'Before you start the daemon,';
  if (rowsTo !== null)
    out.hint(`The rows are in ${is}. ${before} name it as database or database_file in ${settings}.`);
  else if (named !== null)
    out.hint(
      `The rows are in ${is}, and ${settings} names ${named}. ${before} copy them to an empty database (errand store copy), or remove database and database_file there.`,
    );
}
