// What the briefs on a worker thread may hold of turns, so that all of them fit into its memory.
import { MAX_SHOWN_CHARACTERS } from '../../agent/documents/excerpt.ts';
import type { Settings } from '../../domain/settings.ts';
import type { ClaimedRun } from '../../store/runs/claim-runs.ts';
import type { Store } from '../../store/open-store.ts';

type Workers = Pick<Settings['workers'], 'memoryMb' | 'runsPerThread'>;

const MEGABYTE = 1024 * 1024;
/** What no history has more of, however much memory a thread has. */
const MAX_SHARE = 16 * MEGABYTE;
/**
 * Of a thread's memory. A text is held by the brief and again by the request that is sent, and one character outside
 * Latin-1 makes two bytes of every character: four times its bytes at worst, which is half of the memory.
 */
const PART_OF_MEMORY = 1 / 8;

/** Bytes that the text of a document takes at most: no character has more than two in memory. */
export const DOCUMENT_BYTES = 2 * MAX_SHOWN_CHARACTERS;

/** What all briefs on one thread may hold of turns. */
export function threadBytes({ memoryMb }: Pick<Workers, 'memoryMb'>): number {
  return Math.floor(memoryMb * MEGABYTE * PART_OF_MEMORY);
}

/** What each of them may, when a thread has as many as it has runs. A turn that takes more is a large one. */
export function shareBytes(workers: Workers): number {
  return Math.min(MAX_SHARE, Math.floor(threadBytes(workers) / workers.runsPerThread));
}

/** What the brief of a turn may hold: its share, the turn itself included; a large turn has its share for its history. */
export function briefBytes(ownBytes: number, workers: Workers): number {
  const share = shareBytes(workers);
  return ownBytes > share ? ownBytes + share : share;
}

/** Bytes of a run's own turn, as the store has them. */
export function ownBytesOf({ turns }: Pick<Store, 'turns'>, run: ClaimedRun): Promise<number> {
  return turns.bytesOf({ ...run, documentBytes: DOCUMENT_BYTES });
}
