// Workspaces: one directory per session, the only place its agent can touch.
import { chown, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDirectoriesBeneath, type Owner, replaceFileBeneath, statBeneath } from '../beneath.ts';
import type { Attachment } from '../domain/content.ts';
import { ErrandError } from '../domain/errors.ts';
import type { BlobStore } from './blobs.ts';

export interface Workspaces {
  /** Owner of what the agent makes; null is the daemon's own user. */
  readonly owner: Owner | null;
  /** Makes a session's workspace where it is missing, and answers its absolute path. */
  open(sessionId: string): Promise<string>;
  /** Lays attachments into the workspace; those that are there stay as the agent left them (C4). */
  layUploads(sessionId: string, attachments: readonly Attachment[]): Promise<void>;
}

/** The workspaces below a directory. */
export function makeWorkspaces(parts: { directory: string; blobs: BlobStore; owner: Owner | null }): Workspaces {
  const { directory, blobs, owner } = parts;
  const pathOf = (sessionId: string) => join(directory, sessionId);
  return {
    owner,
    open: async (sessionId) => {
      const path = pathOf(sessionId);
      const made = await mkdir(path, { recursive: true, mode: 0o700 });
      if (made !== undefined && owner !== null) await chown(path, owner.uid, owner.gid);
      return path;
    },
    layUploads: async (sessionId, attachments) => {
      const root = pathOf(sessionId);
      await makeDirectoriesBeneath(root, '/uploads', { mode: 0o755, owner });
      for (const attachment of attachments) {
        if (await isThere(root, attachment.workspacePath)) continue;
        await replaceFileBeneath(root, attachment.workspacePath, await blobs.read(attachment.sha256), {
          mode: 0o644,
          owner,
        });
      }
    },
  };
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
