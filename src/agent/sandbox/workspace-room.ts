// How much a workspace may still take: checked before anything is written into it.
import { freeBytes, megabytes, type SpaceLimits, takenBy } from '../../disk/disk-space.ts';
import { MB } from '../../domain/byte-units.ts';

/** Writes show in the disk's free space: when that has dropped by this much, a workspace is counted again. */
export const NOTICED_BYTES: number = 4 * MB;
const MAX_KNOWN = 1_000;
/** After a count, the next one that nothing calls for waits for this multiple of its duration. */
const REST = 10;

interface Count {
  readonly takenBytes: number;
  /** What was free on the disk then. */
  readonly freeBytes: number;
  /** Until when another count would cost too much; a reading of the monotonic clock, in milliseconds. */
  readonly restsUntil: number;
}

/** Workspaces as this thread has last counted them, the newest last. */
const counts = new Map<string, Count>();

/** What an empty folder takes. */
const FOLDER_BYTES = 4_096;

/** Notes a workspace that was made just now, which needs no count. */
export function noteNew(workspace: string): void {
  note(workspace, { takenBytes: FOLDER_BYTES, freeBytes: freeBytes(workspace), restsUntil: 0 });
}

/** Counts what a workspace takes. */
export async function countTaken(workspace: string): Promise<number> {
  const [free, startedAt] = [freeBytes(workspace), performance.now()];
  const taken = await takenBy(workspace);
  const at = performance.now();
  return note(workspace, { takenBytes: taken, freeBytes: free, restsUntil: at + REST * (at - startedAt) });
}

/** Until when a workspace rests after its last count; 0 when it may be counted at any time. */
export const restsUntil = (workspace: string): number => counts.get(workspace)?.restsUntil ?? 0;

function note(workspace: string, count: Count): number {
  counts.delete(workspace);
  counts.set(workspace, count);
  const [oldest] = counts.keys();
  if (counts.size > MAX_KNOWN && oldest !== undefined) counts.delete(oldest);
  return count.takenBytes;
}

/**
 * What a workspace takes, accurate to the threshold above. At a limit it is counted again, since files may have been removed.
 */
export async function takenIn(workspace: string, limitBytes: number, free = freeBytes(workspace)): Promise<number> {
  const last = counts.get(workspace);
  const isRecent = last !== undefined && last.freeBytes - free < NOTICED_BYTES;
  return isRecent && last.takenBytes < limitBytes ? last.takenBytes : countTaken(workspace);
}

/** Checks for room for a file of some bytes. Returns why there is none, in words for the model; null when there is. */
export async function shortageFor(bytes: number, workspace: string, limits: SpaceLimits): Promise<string | null> {
  const { quotaBytes, keepFreeBytes } = limits;
  const free = freeBytes(workspace);
  if (keepFreeBytes > 0 && free - bytes < keepFreeBytes) return diskIsFull(limits);
  const taken = await takenIn(workspace, quotaBytes - bytes, free);
  if (taken + bytes > quotaBytes) return quotaIsTaken(limits);
  note(workspace, { takenBytes: taken + bytes, freeBytes: free, restsUntil: restsUntil(workspace) });
  return null;
}

export const quotaIsTaken = ({ quotaBytes }: SpaceLimits): string =>
  `the workspace may take ${megabytes(quotaBytes)} MB, and that is not enough; remove what is not needed`;

export const diskIsFull = ({ keepFreeBytes }: SpaceLimits): string =>
  `the disk is almost full: ${megabytes(keepFreeBytes)} MB of it must stay free; remove what is not needed`;
