// Workspaces: one directory per session, the only place its agent can use.
import { createHash } from 'node:crypto';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { makeDirectoriesBeneath, makeRoot, type Owner, reopenRoot } from '../disk/make-beneath.ts';
import { openFileBeneath, statBeneath } from '../disk/open-beneath.ts';
import { replaceFileBeneath, TEMPORARY_PREFIX } from '../disk/replace-beneath.ts';
import { takenBy } from '../disk/disk-space.ts';
import { removeBeneath, removeIn } from '../disk/remove-beneath.ts';
import { walkBeneath } from '../disk/walk-beneath.ts';
import type { Attachment } from '../domain/sessions/content.ts';
import { codeOf, ErrandError } from '../domain/errors.ts';
import type { BlobStore } from './blobs/blobs.ts';
import { LAYING_PREFIX } from './snapshots/snapshot-thread.ts';

export interface Workspaces {
  /** Owner of what agents create, unless another one is given; null is the daemon's own user. */
  readonly owner: Owner | null;
  /** Absolute path of a session's workspace. It is created when something is put into it. */
  pathOf(sessionId: string): string;
  /**
   * Writes attachments into the workspace, whole. Returns false, and writes none, when the workspace would exceed `quotaBytes`.
   */
  placeUploads(sessionId: string, attachments: readonly Attachment[], options: PlaceOptions): Promise<boolean>;
  /**
   * Removes what a run that lost its worker left half-written, and restores access to what a command had closed. Only while no
   * run of the session is in progress.
   */
  tidy(sessionId: string): Promise<void>;
  /** Removes a session's workspace, also one that was taken out of the way, but nothing that its links lead to. */
  remove(sessionId: string): Promise<void>;
  /**
   * Takes a session's workspace out of the way, within this call, also what of it was being laid out. Returns whether it had one; `blocked`
   * while an earlier one, of which something was left, is in the way itself.
   */
  retire(sessionId: string): boolean | 'blocked';
  /** Removes what was taken out of the way, also by an earlier process. */
  removeRetired(sessionId: string): Promise<void>;
}

export interface PlaceOptions {
  readonly quotaBytes: number;
  /** Whether the agent may have changed them since: then existing ones stay as the agent left them (C4). */
  readonly hasBegun: boolean;
  readonly owner?: Owner | null;
}

/** Of the names of workspaces that were taken out of the way. */
const RETIRED_PREFIX = '.retired-';
const retiredName = (name: string) => `${RETIRED_PREFIX}${name}`;
const layingName = (sessionId: string) => `${LAYING_PREFIX}${sessionId}`;
/** The session that a name in the directory of workspaces is of, if it is one's. */
export const sessionOf = (name: string): string => name.replace(RETIRED_PREFIX, '').replace(LAYING_PREFIX, '');
const UUID = /^[0-9a-f-]{36}$/;
const isTemporary = (name: string) =>
  name.startsWith(TEMPORARY_PREFIX) && UUID.test(name.slice(TEMPORARY_PREFIX.length));

/** The workspaces below a directory. */
export function makeWorkspaces(parts: { directory: string; blobs: BlobStore; owner: Owner | null }): Workspaces {
  const { directory, blobs, owner: first } = parts;
  const pathOf = (sessionId: string) => join(directory, sessionId);
  return {
    owner: first,
    pathOf,
    placeUploads: async (sessionId, attachments, { quotaBytes, hasBegun, owner = first }) => {
      const root = pathOf(sessionId);
      await makeRoot(root, owner);
      await makeDirectoriesBeneath(root, '/uploads', { mode: 0o755, owner });
      const missing: Attachment[] = [];
      for (const one of attachments)
        if (!(await (hasBegun ? isThere(root, one.workspacePath) : isWhole(root, one)))) missing.push(one);
      const bytes = missing.reduce((sum, { size }) => sum + size, 0);
      if (bytes > 0 && (await takenBy(root)) + bytes > quotaBytes) return false;
      for (const { workspacePath, sha256 } of missing) {
        const fill = (path: string) => blobs.copyTo(sha256, path);
        await replaceFileBeneath(root, workspacePath, fill, { mode: 0o644, owner });
      }
      return true;
    },
    tidy: async (sessionId) => {
      const root = pathOf(sessionId);
      // A run may lose its worker before it has a workspace.
      if (!(await isThere(directory, sessionId))) return;
      await reopenRoot(root);
      for await (const { folder, listing } of walkBeneath(root, '/')) {
        const left = listing.entries.filter(({ name }) => isTemporary(name));
        for (const { name } of left) await removeIn(root, folder, name);
      }
    },
    remove: async (sessionId) => {
      for (const name of [sessionId, layingName(sessionId)].flatMap((each) => [each, retiredName(each)]))
        if (await isThere(directory, name)) await removeBeneath(directory, name);
    },
    retire: (sessionId) => {
      const ofLaying = retireIn(directory, layingName(sessionId));
      return ofLaying === 'blocked' ? ofLaying : retireIn(directory, sessionId);
    },
    removeRetired: async (sessionId) => {
      for (const name of [retiredName(sessionId), retiredName(layingName(sessionId))])
        if (await isThere(directory, name)) await removeBeneath(directory, name);
    },
  };
}

function retireIn(directory: string, name: string): boolean | 'blocked' {
  try {
    renameSync(join(directory, name), join(directory, retiredName(name)));
    return true;
  } catch (error) {
    const code = codeOf(error) ?? '';
    if (code === 'ENOENT') return false;
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return 'blocked';
    throw error;
  }
}

async function isThere(root: string, path: string): Promise<boolean> {
  return statBeneath(root, path).then(
    () => true,
    (error: unknown) => {
      if (error instanceof ErrandError && error.reason === 'not_found') return false;
      throw error;
    },
  );
}

/** Whether an attachment exists there with all its bytes. A link or folder in its place is refused when it is written. */
async function isWhole(root: string, { workspacePath, size, sha256 }: Attachment): Promise<boolean> {
  if (!(await isThere(root, workspacePath))) return false;
  const facts = await statBeneath(root, workspacePath);
  if (facts.kind !== 'file' || facts.size !== size) return false;
  const file = await openFileBeneath(root, workspacePath);
  const hash = createHash('sha256');
  await pipeline(file.createReadStream(), hash);
  return hash.digest('hex') === sha256;
}
