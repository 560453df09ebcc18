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
import type { Here } from '../../store/sessions/workspaces-here.ts';
import type { WorkspaceSize } from '../../store/artifacts/workspace-tree.ts';

export interface ArtifactParts {
  readonly store: Store;
  readonly snapshotThread: SnapshotThread;
  readonly blobs: BlobStore;
  readonly removal: BlobRemoval;
  readonly workspaces: Pick<Workspaces, 'owner' | 'pathOf'>;
  /** Which workspaces are looked at. */
  readonly here: Here;
  /** Archives of so much are packed when they are asked for, the others after the run. */
  readonly packedOnRequest: WorkspaceSize;
  /** Whoever asks for the address of an archive of so much waits until it is packed; larger ones are packed while they are downloaded. */
  readonly waitedFor: WorkspaceSize;
  /** A workspace of so many bytes could not be laid out for lack of space: others may have some to give. */
  wantsRoom(bytes: number): void;
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
  /**
   * Removes those of some blobs that nothing refers to. Held ones, and those that storage has refused to remove, are tried again the next
   * time, or after a while. Throws the first failure of these blobs after all were tried.
   */
  remove(keys: readonly string[]): Promise<void>;
}

/** Of held ones, and where storage has refused: it may be back soon. */
const [HELD_RETRY_MS, REFUSED_RETRY_MS] = [60_000, 5_000];
/** Blobs between two pauses: each check takes time, and there may be many. */
const SLICE = 50;

type RemovalParts = Pick<ArtifactParts, 'store' | 'blobs' | 'clock' | 'stopping' | 'log'>;

export function makeBlobRemoval({ store, blobs, clock, stopping, log }: RemovalParts): BlobRemoval {
  let left = new Set<string>();
  let timer: Timer | undefined;

  function tryAgain(afterMs: number): void {
    if (left.size === 0) return;
    timer ??= clock.after(afterMs, () => {
      timer = undefined;
      if (!stopping.aborted) void removal.remove([]);
    });
  }

  const removal: BlobRemoval = {
    remove: async (keys) => {
      const own = new Set(keys);
      const all = new Set([...left, ...keys]);
      left = new Set();
      const failures: unknown[] = [];
      let [looked, retryMs] = [0, HELD_RETRY_MS];
      for (const key of all) {
        try {
          if (!(await blobs.removeUnless(key, store.sessions.isBlobInUse))) left.add(key);
        } catch (error) {
          // Another failure stays: what was orphaned is looked for at each start.
          const isRefused = error instanceof ErrandError && error.reason === 'unavailable';
          if (isRefused) left.add(key);
          if (isRefused) retryMs = REFUSED_RETRY_MS;
          if (own.has(key)) failures.push(error);
          else if (!isRefused) log.warn({ err: error }, 'a blob could not be removed');
        }
        looked += 1;
        if (looked % SLICE === 0) await new Promise((resolve) => void setImmediate(resolve));
      }
      tryAgain(retryMs);
      if (failures.length > 0) throw failures[0];
    },
  };
  return removal;
}
