// The half of laying out a workspace that removes: what isn't recorded of an old copy, so that only what is missing has to be written.
import { chmodSync, closeSync, constants, fstatSync, lstatSync, openSync, unlinkSync } from 'node:fs';
import { openFolderAt, removeFolderBeneath } from '../../disk/enter-beneath.ts';
import { dress, type Owner } from '../../disk/make-beneath.ts';
import { O_PATH } from '../../disk/open-beneath.ts';
import { codeOf, ErrandError } from '../../domain/errors.ts';
import { identityOf, readFound } from './copy-file.ts';
import { isExecutable, modeFor, targetOf } from './extras.ts';
import { isSettled, type Manifest, type SeenFile } from './manifests.ts';
import type { Pace } from './pace.ts';
import type { LayOutTask } from './snapshot-requests.ts';
import { NOTHING_SKIPPED } from './snapshot.ts';
import { type FoundEntry, type FoundFile, walkTree } from './walk-files.ts';
import type { Wanted } from './wanted.ts';

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;

/** What is left of an old copy. */
export interface Reverted {
  /** Files that are as recorded, by path. */
  readonly kept: ReadonlyMap<string, SeenFile>;
  /** The same of links. */
  readonly links: ReadonlySet<string>;
  readonly removed: number;
}

interface RevertParts {
  readonly wanted: Wanted;
  /** What was last seen of it: files that are unchanged since are not read again. */
  readonly manifest: Manifest;
  readonly pace: Pace;
}

/**
 * Removes from a directory what is not wanted there. Undefined when there is none, or when it has what can't be handled one by one, such as
 * folders that nobody may read: it has to be removed whole.
 */
export async function revertWorkspace(
  task: Pick<LayOutTask, 'root' | 'limits' | 'owner'>,
  parts: RevertParts,
): Promise<Reverted | undefined> {
  if (lstatSync(task.root, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined;
  try {
    reopen(task.root);
    return await revert(task, parts);
  } catch (error) {
    // Its end has come, or the machine fails; what the workspace itself is like is no error of these.
    if (error instanceof ErrandError && parts.pace.signal.aborted) throw error;
    if (error instanceof ErrandError || ODD.has(codeOf(error) ?? '')) return undefined;
    throw error;
  }
}

const ODD: ReadonlySet<string> = new Set([
  'EACCES',
  'EPERM',
  'ENOTEMPTY',
  'EEXIST',
  'ENOENT',
  'ENOTDIR',
  'ELOOP',
  'EISDIR',
  'EBUSY',
]);

/** Commands may have closed it. */
function reopen(root: string): void {
  const named = openSync(root, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  try {
    const { mode } = lstatSync(root);
    if ((mode & 0o700) !== 0o700) chmodSync(`/proc/self/fd/${named}`, (mode & 0o777) | 0o700);
  } finally {
    closeSync(named);
  }
}

async function revert(
  { root, limits, owner }: Pick<LayOutTask, 'root' | 'limits' | 'owner'>,
  { wanted, manifest, pace }: RevertParts,
): Promise<Reverted | undefined> {
  const [kept, links] = [new Map<string, SeenFile>(), new Set<string>()];
  const surplus: string[] = [];
  let [removed, isOdd] = [0, false];
  const skipped = { ...NOTHING_SKIPPED };
  for (const found of walkTree(root, { limits, skipped, left: () => (isOdd = true), check: pace.check })) {
    if (isOdd) return undefined;
    if (found.kind === 'folder') {
      if (found.path !== '' && !wanted.folders.has(found.path)) surplus.push(found.path);
      continue;
    }
    const file = found.kind === 'file' ? await keptOf(found, { wanted, manifest, pace, owner }) : undefined;
    if (file !== undefined) kept.set(found.path, file);
    else if (isWantedLink(found, wanted)) links.add(found.path);
    else {
      unlinkSync(found.place);
      removed += 1;
    }
    await pace.rest();
  }
  const top = openFolderAt(root);
  try {
    // A folder comes after those in it.
    for (const path of surplus) removeFolderBeneath(top, path.slice(1).split('/'));
  } finally {
    closeSync(top);
  }
  return isOdd ? undefined : { kept, links, removed: removed + surplus.length };
}

const isWantedLink = ({ kind, path, place }: FoundEntry, { links }: Wanted): boolean =>
  kind === 'link' && links.has(path) && links.get(path) === targetOf(place);

/** A file that is as it is recorded; undefined for another one. */
async function keptOf(
  found: FoundFile,
  { wanted, manifest, pace, owner }: RevertParts & { readonly owner: Owner | null },
): Promise<SeenFile | undefined> {
  const { path, place, stats } = found;
  const file = wanted.files.get(path);
  if (file === undefined || Number(stats.size) !== file.size) return undefined;
  const known = manifest.files.get(path);
  const hashedAt = Date.now();
  const isKnown = known?.settled === true && known.identity === identityOf(stats);
  const sha256 = isKnown ? known.sha256 : await readFound(found, null, pace);
  if (sha256 !== file.sha256) return undefined;
  const executes = wanted.executables.has(path);
  const isOwned = owner === null || (Number(stats.uid) === owner.uid && Number(stats.gid) === owner.gid);
  if (isOwned && executes === isExecutable(stats))
    return isKnown ? known : { identity: identityOf(stats), sha256, settled: isSettled(stats.ctimeNs, hashedAt) };
  const mode = executes === isExecutable(stats) ? Number(stats.mode) & 0o777 : modeFor(executes);
  return { identity: redress(place, mode, owner), sha256, settled: false };
}

/** Returns the identity that the file has then. */
function redress(place: string, mode: number, owner: Owner | null): string {
  const file = openSync(place, O_RDONLY | O_NOFOLLOW);
  try {
    dress(file, mode, owner);
    return identityOf(fstatSync(file, { bigint: true }));
  } finally {
    closeSync(file);
  }
}
