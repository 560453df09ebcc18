// What collecting and packing share: their parts, their limits, and the removal of unused blobs.
import { MB } from '../../domain/byte-units.ts';
import type { Clock, Timer } from '../../domain/clock.ts';
import { ErrandError } from '../../domain/errors.ts';
import type { Settings } from '../../domain/settings.ts';
import type { BlobStore } from '../../files/blobs/blobs.ts';
import type { SnapshotThread } from '../../files/snapshots/snapshot-thread.ts';
import type { SnapshotLimits } from '../../files/snapshots/snapshot.ts';
import type { Workspaces } from '../../files/workspaces.ts';
import type { Log } from '../../log/log.ts';
import type { Store } from '../../store/open-store.ts';
import type { WorkspaceSize } from '../../store/artifacts/workspace-tree.ts';

export interface ArtifactParts {
  readonly store: Store;
  readonly snapshotThread: SnapshotThread;
  readonly blobs: BlobStore;
  readonly removal: BlobRemoval;
  readonly workspaces: Pick<Workspaces, 'pathOf'>;
  /** Archives of so much are packed when they are asked for, the others after the run. */
  readonly packedOnRequest: WorkspaceSize;
  /** Whoever asks for the address of an archive of so much waits until it is packed; larger ones are packed while they are downloaded. */
  readonly waitedFor: WorkspaceSize;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborts when the daemon stops; unfinished work continues at the next start. */
  readonly stopping: AbortSignal;
  settings(): Settings;
}

/** Deeper folders are skipped. */
const MAX_DEPTH = 256;

/** All. What an earlier version has left to pack, and what could not be packed on request, is packed after the run. */
export const PACKED_ON_REQUEST: WorkspaceSize = { fileCount: Infinity, totalBytes: Infinity };
/** Packing as much takes 0.1 to 0.2 s. */
export const WAITED_FOR: WorkspaceSize = { fileCount: 200, totalBytes: 4 * MB };

/** The current limits of one request to the snapshot thread. */
export function requestLimits({ artifacts }: Settings): {
  readonly limits: SnapshotLimits;
  readonly deadlineMs: number;
} {
  const { deadlineSeconds, maxFileMb, maxFiles, maxTotalMb } = artifacts;
  return {
    limits: {
      maxFileBytes: maxFileMb * MB,
      maxFiles,
      maxTotalBytes: maxTotalMb * MB,
      maxDepth: MAX_DEPTH,
    },
    deadlineMs: deadlineSeconds * 1_000,
  };
}

/** A failure in words for its reader: an expected one has its own message. */
export function failureOf(error: unknown, otherwise: string): string {
  return error instanceof ErrandError ? error.message : otherwise;
}

export interface BlobRemoval {
  /** Removes those of some blobs that nothing refers to. Held ones are checked again the next time, or after a minute. */
  remove(keys: readonly string[]): Promise<void>;
}

const RETRY_MS = 60_000;
/** Blobs between two pauses: each check takes time, and there may be many. */
const SLICE = 50;

type RemovalParts = Pick<ArtifactParts, 'store' | 'blobs' | 'clock' | 'stopping' | 'log'>;

export function makeBlobRemoval({ store, blobs, clock, stopping, log }: RemovalParts): BlobRemoval {
  let held = new Set<string>();
  let timer: Timer | undefined;

  async function retry(): Promise<void> {
    timer = undefined;
    try {
      if (!stopping.aborted) await removal.remove([]);
    } catch (error) {
      log.warn({ err: error }, 'blobs that were held could not be removed');
    }
  }

  const removal: BlobRemoval = {
    remove: async (keys) => {
      const left = new Set([...held, ...keys]);
      held = new Set();
      let looked = 0;
      try {
        for (const key of left) {
          // Also when that fails: one that can't be removed must not be in the way of all others, each time.
          left.delete(key);
          if (!(await blobs.removeUnless(key, store.sessions.isBlobInUse))) held.add(key);
          looked += 1;
          if (looked % SLICE === 0) await new Promise((resolve) => void setImmediate(resolve));
        }
      } finally {
        // Those behind a failure.
        for (const key of left) held.add(key);
        if (held.size > 0) timer ??= clock.after(RETRY_MS, () => void retry());
      }
    },
  };
  return removal;
}
