// What no row names: blobs, and workspaces of sessions that don't exist. Found a few at a time, whoever writes meanwhile.
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isUuid } from '../domain/ids.ts';
import { blobPath, listKeys } from './blobs/blob-place.ts';
import { sessionOf } from './workspaces.ts';

export interface Orphan {
  /** `row`: a small blob. */
  readonly kind: 'blob' | 'row' | 'workspace';
  /** The key of a blob, the session of a workspace. */
  readonly name: string;
  /** Of a blob; of a workspace, nobody has counted them. */
  readonly bytes: number;
}

interface SmallBlobUse {
  readonly key: string;
  readonly size: number;
  readonly isUsed: boolean;
}

export interface OrphanParts {
  /** The directories of blobs and of workspaces. */
  readonly blobs: string;
  readonly workspaces: string;
  /** What was changed since may belong to a row that is about to be written. */
  readonly before: number;
  /** Whether a row refers to a blob, or someone who will write one holds it. */
  isBlobInUse(key: string): boolean | Promise<boolean>;
  /** Small blobs behind a key, in their order. They are stored with what refers to them, so none is about to be used. */
  readonly listUses: (after: string, limit: number) => Promise<readonly SmallBlobUse[]>;
  /** Whether the files of a session may be needed, or are about to be removed. */
  hasFiles(sessionId: string): boolean | Promise<boolean>;
}

const PATHS: Readonly<Record<Orphan['kind'], (name: string) => string>> = {
  blob: (name) => blobPath('blobs', name),
  row: (name) => `small_blobs ${name}`,
  workspace: (name) => join('workspaces', name),
};

/** Its path in the data directory, or its table and key. */
export const orphanPath = ({ kind, name }: Orphan): string => PATHS[kind](name);

/** What isn't older may be of work in progress. */
export const ORPHAN_AGE_MS = 3_600_000;
/** Names that are looked at before the event loop turns. */
const SLICE = 50;

/** Each of them; null for a number of names that are none, so that the caller can rest or end. */
export async function* findOrphans(parts: OrphanParts): AsyncGenerator<Orphan | null> {
  let looked = 0;
  for await (const orphan of eachOrphan(parts)) {
    if (orphan !== null) yield orphan;
    looked += 1;
    if (looked % SLICE !== 0) continue;
    await nextTurn();
    yield null;
  }
}

async function* eachOrphan(parts: OrphanParts): AsyncGenerator<Orphan | null> {
  const { blobs, workspaces, before, isBlobInUse, listUses, hasFiles } = parts;
  for await (const name of listKeys(blobs)) {
    const found = (await isBlobInUse(name)) ? null : await oldOf(blobPath(blobs, name), before);
    yield found && { kind: 'blob', name, bytes: found.size };
  }
  for (let last: string | undefined = ''; last !== undefined; ) {
    const some = await listUses(last, SLICE);
    for (const { key: name, size, isUsed } of some) yield isUsed ? null : { kind: 'row', name, bytes: size };
    last = some.at(-1)?.key;
  }
  for await (const entry of await opendir(workspaces)) {
    const name = sessionOf(entry.name);
    const isOrphan = isUuid(name) && !(await hasFiles(name)) && (await oldOf(join(workspaces, entry.name), before));
    yield isOrphan ? { kind: 'workspace', name, bytes: 0 } : null;
  }
}

/** Null also for what is gone meanwhile. */
async function oldOf(path: string, before: number) {
  const stats = await lstat(path).catch(() => null);
  return stats !== null && Math.max(stats.mtimeMs, stats.ctimeMs) < before ? stats : null;
}
