// Ends a sandbox that takes more of the disk than its workspace may, or the space that must stay free.
import { statSync } from 'node:fs';
import { freeBytes, type SpaceLimits } from '../../disk/disk-space.ts';
import { MB } from '../../domain/byte-units.ts';
import { countTaken, NOTICED_BYTES, restsUntil, takenIn } from './workspace-room.ts';
import { deletedBytes } from './process-tree.ts';
import type { StopCause } from './walls.ts';

/** In this time a disk can take some hundred megabytes. */
const LOOK_MS = 100;
/** Count at least this often, since one process may remove what another writes; less and less often while nothing changes. */
const [SHORTEST_MS, LONGEST_MS] = [500, 30_000];
const LEAST_BYTES = MB;

/**
 * The limits of a sandbox when it starts. If a limit is already exceeded, usage must not grow; the sandbox may still delete
 * files.
 */
export interface Room {
  readonly allowedBytes: number;
  /** What must stay free on the disk; 0 for nothing. */
  readonly floorBytes: number;
  /** The largest file that may be written; 0 when nothing may. */
  readonly fileBytes: number;
  /** What was free on the disk. */
  readonly freeBytes: number;
}

/** Measures the room; null where nothing is watched. */
export async function roomFor(workspace: string, space: SpaceLimits | null): Promise<Room | null> {
  if (space === null) return null;
  const free = freeBytes(workspace);
  const taken = await takenIn(workspace, space.quotaBytes);
  const [isFull, isLow] = [taken >= space.quotaBytes, free < space.keepFreeBytes];
  return {
    allowedBytes: isFull ? taken + LEAST_BYTES : space.quotaBytes,
    floorBytes: isLow ? 0 : space.keepFreeBytes,
    fileBytes: isFull || isLow ? 0 : space.quotaBytes,
    freeBytes: free,
  };
}

/** What is watched. */
interface Watched {
  /** Absolute path. */
  readonly workspace: string;
  /** The sandbox's first process, once known. */
  readonly firstPid: number | undefined;
}

/** A sandbox whose space is watched. */
export interface SpaceWatch {
  /** Checks one last time, when none of its processes is alive. Returns why it should have been ended, if so. */
  close(): Promise<StopCause | undefined>;
}

/** Watches it; calls `stop` at most once. */
export function watchSpace(watched: Watched, room: Room | null, stop: (cause: StopCause) => void): SpaceWatch {
  if (room === null) return { close: async () => undefined };
  const { workspace } = watched;
  const { dev } = statSync(workspace);
  const last = { free: room.freeBytes, bytes: 0, at: performance.now(), counted: false };
  let everyMs = SHORTEST_MS;

  async function isOver(): Promise<boolean> {
    const free = freeBytes(workspace);
    const open = watched.firstPid === undefined ? 0 : await deletedBytes(watched.firstPid, dev);
    const bytes = (await countTaken(workspace)) + open;
    everyMs = bytes > last.bytes ? SHORTEST_MS : Math.min(2 * everyMs, LONGEST_MS);
    Object.assign(last, { free, bytes, at: performance.now(), counted: true });
    return bytes > room!.allowedBytes;
  }

  async function look(): Promise<void> {
    const [now, free] = [performance.now(), freeBytes(workspace)];
    if (free < room!.floorBytes) stop('disk');
    else if (now < restsUntil(workspace)) return;
    else if (last.free - free >= LEAST_BYTES || now - last.at >= everyMs) if (await isOver()) stop('quota');
  }

  let looking: Promise<void> | undefined;
  const timer = setInterval(() => {
    // A missing workspace has ended with its run.
    looking ??= look()
      .catch(() => undefined)
      .finally(() => (looking = undefined));
  }, LOOK_MS);

  return {
    close: async () => {
      clearInterval(timer);
      await looking;
      const hasWritten = last.counted || room.freeBytes - freeBytes(workspace) >= NOTICED_BYTES;
      // What others remove meanwhile hides what this one wrote.
      const mayCount = hasWritten || performance.now() >= restsUntil(workspace);
      return mayCount && (await countTaken(workspace)) > room.allowedBytes ? 'quota' : undefined;
    },
  };
}
