// How much of earlier turns the briefs on a worker thread may contain, so that all of them fit into its memory.
import { MAX_SHOWN_CHARACTERS } from '../../agent/documents/excerpt.ts';
import { MB } from '../../domain/byte-units.ts';
import type { Settings } from '../../domain/settings.ts';
import type { ClaimedRun } from '../../store/lifecycle/start-run.ts';
import type { Store } from '../../store/open-store.ts';

type Workers = Pick<Settings['workers'], 'memoryMb' | 'runsPerThread'>;

/** Limit of every history, however much memory a thread has. */
const MAX_SHARE = 16 * MB;
/**
 * Share of a thread's memory. A text is stored in the brief and again in the request to the model, and one character outside
 * Latin-1 doubles the size of a string: at worst four times its bytes, which is half of the memory.
 */
const PART_OF_MEMORY = 1 / 8;

/** Maximum bytes of a document's text: a character takes at most two in memory. */
export const DOCUMENT_BYTES = 2 * MAX_SHOWN_CHARACTERS;

/** Bytes of turns that all briefs on one thread may contain together. */
export function threadBytes({ memoryMb }: Pick<Workers, 'memoryMb'>): number {
  return Math.floor(memoryMb * MB * PART_OF_MEMORY);
}

/** The share of each brief when a thread is full. A turn that needs more is a large one. */
export function shareBytes(workers: Workers): number {
  return Math.min(MAX_SHARE, Math.floor(threadBytes(workers) / workers.runsPerThread));
}

/** The limit of a turn's brief: its share, including the turn itself; a large turn gets its share for the history alone. */
export function briefBytes(ownBytes: number, workers: Workers): number {
  const share = shareBytes(workers);
  return ownBytes > share ? ownBytes + share : share;
}

/** Bytes of a run's own turn as stored. */
export async function ownBytesOf({ turns }: Pick<Store, 'turns'>, run: ClaimedRun): Promise<number> {
  return run.fresh?.bytes ?? turns.bytesOf({ ...run, documentBytes: DOCUMENT_BYTES });
}
