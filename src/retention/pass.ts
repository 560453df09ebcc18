// One pass over everything that is old, in short commits with pauses in between.
import { type Clock, pause } from '../domain/clock.ts';
import { makeBatch, MAX_BATCH_MS, type Cursor } from '../store/retention/batch.ts';
import type { Kind } from './kinds.ts';

/** How a pass is doing. `removed`: rows by kind. */
export interface PassReport {
  /** Counted from the start of the daemon. */
  readonly no: number;
  readonly startedAt: number;
  /** Null while it is in progress. */
  readonly endedAt: number | null;
  readonly removed: Readonly<Record<string, number>>;
}

/** After a commit, others get this many times its duration, and at least the minimum. */
const SHARE_FOR_OTHERS = 4;
const MIN_PAUSE_MS = 5;
const MAX_PAUSE_MS = 200;

/** A commit that takes longer, with its sync, makes the next ones smaller; a fast one lets them grow again. */
const SLOW_MS = 15;
const FAST_MS = 8;
const MIN_BATCH_MS = 0.5;

/** How many milliseconds of statements come after a commit that had so many, and took so long in all. */
function nextBatchMs(batchMs: number, tookMs: number): number {
  if (tookMs > SLOW_MS) return Math.max(batchMs / 2, MIN_BATCH_MS);
  return tookMs < FAST_MS ? Math.min(batchMs * 1.25, MAX_BATCH_MS) : batchMs;
}

/** What is to be removed now; see `Kind.remove`. */
export interface Due {
  readonly kind: Pick<Kind, 'name' | 'remove'>;
  readonly bound: number;
}

/** Removes what is due until nothing is left or the signal aborts; calls `told` with the rows of each commit. */
export async function removeDue(
  due: readonly Due[],
  { clock, stopping, told }: { clock: Clock; stopping: AbortSignal; told(kind: string, rows: number): void },
): Promise<void> {
  let batchMs = MAX_BATCH_MS;
  for (const { kind, bound } of due) {
    let from: Cursor | undefined;
    for (let more = true; more && !stopping.aborted; ) {
      const startedAt = clock.monotonic();
      const batch = makeBatch(() => clock.monotonic(), batchMs);
      const removed = await kind.remove(bound, batch, from);
      batchMs = nextBatchMs(batchMs, batch.elapsedMs());
      told(kind.name, removed.rows);
      ({ more, next: from } = removed);
      const tookMs = clock.monotonic() - startedAt;
      if (more) await pause(clock, Math.min(Math.max(tookMs * SHARE_FOR_OTHERS, MIN_PAUSE_MS), MAX_PAUSE_MS), stopping);
    }
  }
}
