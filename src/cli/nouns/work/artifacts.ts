// Artifacts on the command line: the files of a session or a run, and their archive saved as a file.
import { createHash, randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { access, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type {
  ArchiveWire,
  FileNodeWire,
  RunArtifactsWire,
  SessionArtifactsWire,
} from '../../../wire/sessions/artifact.ts';
import { messageOf } from '../../../domain/errors.ts';
import { makeDirectories } from '../../../disk/make-directories.ts';
import type { Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import { type Column, column, field } from '../../../terminal/columns.ts';
import { confirm } from '../../frame/standard-input.ts';

interface DownloadOptions {
  /** Directory to save the archive in; created when it is missing. */
  readonly download?: string;
}

const FILES: readonly Column<FileNodeWire>[] = [
  field('path', 9),
  column('size', ({ oss_meta: meta }) => meta?.size, 7),
  field('mimeType', 3),
  column('sha256', ({ oss_meta: meta }) => meta?.sha256, 1),
];
const CHANGES: readonly Column<FileNodeWire>[] = [column('status', (file) => file.oss_status, 8), ...FILES];

interface Saved {
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
}
const SAVED: readonly Column<Saved>[] = [field('path'), field('size'), field('sha256')];

/** Shows the files of a workspace, or saves its archive. `ask` returns what there is of it now. */
export async function showWorkspace(
  context: Context,
  ask: () => Promise<SessionArtifactsWire>,
  { download }: DownloadOptions,
): Promise<void> {
  const found = await ask();
  const { workspace_export_status: status, archive, error } = found;
  if (download !== undefined) return save(context, { status, archive, error, directory: download, ask });
  context.out.list(filesIn(found.files), FILES, found);
  if (status !== 'ready') context.out.hint(error === undefined ? `Export: ${status}.` : `Export: ${error.message}`);
}

/** Shows the files of a run, or saves their archive. `ask` returns what there is of them now. */
export async function showRunArtifacts(
  context: Context,
  ask: () => Promise<RunArtifactsWire>,
  { download }: DownloadOptions,
): Promise<void> {
  const found = await ask();
  const { artifact_status: status, archive } = found;
  const error = found.error ?? undefined;
  if (download !== undefined) return save(context, { status, archive, error, directory: download, ask });
  context.out.list(found.files, CHANGES, found);
  if (status !== 'ready')
    context.out.hint(error === undefined ? `Artifacts: ${status}.` : `Artifacts: ${error.message}`);
  const skipped = Object.entries(found.skipped ?? {}).filter(([, count]) => count > 0);
  if (skipped.length > 0) {
    context.out.hint(
      `Skipped: ${skipped.map(([reason, count]) => `${count} ${reason.replaceAll('_', ' ')}`).join(', ')}.`,
    );
  }
}

/** The files of a tree, in order of their paths. */
function filesIn(nodes: readonly FileNodeWire[]): FileNodeWire[] {
  const all = nodes.flatMap((node) => (node.children === null ? [node] : filesIn(node.children)));
  return all.sort((a, b) => (a.path < b.path ? -1 : 1));
}

interface Saving {
  readonly status: string;
  readonly archive: ArchiveWire | null;
  readonly error: { readonly message: string } | undefined;
  readonly directory: string;
  ask(): Promise<{ readonly archive: ArchiveWire | null }>;
}

/** Gives the file its name only when it is complete. Throws `conflict` while there is no archive yet, `failure` when it can't be saved. */
async function save(context: Context, { status, archive, error, directory, ask }: Saving): Promise<void> {
  if (archive === null) {
    throw new CommandError('conflict', error?.message ?? `There is no archive: its status is ${status}.`);
  }
  const path = join(directory, basename(archive.filename));
  if (await isThere(path)) await confirm(context, async () => `Replace ${path}?`);
  const unfinished = join(directory, `.${basename(archive.filename)}.${randomUUID()}`);
  await onDisk(Promise.resolve().then(() => makeDirectories(directory, 0o777)));
  try {
    const got = await fetchInto(context, archive, unfinished);
    // One that was packed for this download has its size and hash now, unless its files have changed meanwhile.
    const said = archive.sha256 === null ? (await ask()).archive : archive;
    const isOther = archive.sha256 === null && said?.sha256 == null;
    if (!isOther && (got.size !== said?.size || got.sha256 !== said.sha256))
      throw new CommandError('failure', 'The archive was damaged in transit. Nothing was saved.');
    await onDisk(rename(unfinished, path));
    const saved: Saved = { path, ...got };
    context.out.record(saved, SAVED, saved);
  } finally {
    await rm(unfinished, { force: true });
  }
}

async function fetchInto(
  { client, signal }: Context,
  archive: ArchiveWire,
  path: string,
): Promise<Omit<Saved, 'path'>> {
  const reply = await client().download(archive.url);
  const hash = createHash('sha256');
  let size = 0;
  const measured = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      size += chunk.length;
      done(null, chunk);
    },
  });
  await onDisk(pipeline(reply, measured, createWriteStream(path, { flags: 'wx' }), { signal }), signal);
  return { size, sha256: hash.digest('hex') };
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** An interruption keeps its own reason. */
async function onDisk<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
  return work.catch((error: unknown) => {
    if (signal?.aborted === true) throw error;
    throw new CommandError('failure', `The archive could not be saved: ${messageOf(error)}`);
  });
}
