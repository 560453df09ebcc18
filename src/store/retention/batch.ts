// What one commit may remove: it ends when its time is over, so that no request waits for it.

/** Rows are removed in portions; after each, the time is looked at. */
export interface Batch {
  /** How many rows of a weight the next statement may remove; 0 when the commit must end. */
  room(weight?: number): number;
}

export interface TimedBatch extends Batch {
  /** Milliseconds since its first statement; 0 before. */
  elapsedMs(): number;
}

/** A row in an index by age: how old it is, and its key. */
export interface Cursor {
  readonly at: number;
  readonly key: number;
}

/** Before all rows. */
export const START: Cursor = { at: 0, key: 0 };

/** What a commit has removed, and whether more may be left. `next`: behind what it has passed, where some of that stays. */
export interface Removed {
  readonly rows: number;
  readonly more: boolean;
  readonly next?: Cursor;
}

/** Milliseconds of statements in one commit at most; writing and syncing the log comes on top. */
export const MAX_BATCH_MS = 3;
/** Rows of the journal in one statement. */
const PORTION = 100;
/** Portions in one commit, however fast they are. */
const MAX_PORTIONS = 40;
/** And however slow: each commit gets through all tables that its verb looks at, so that it gets further. */
const MIN_PORTIONS = 2;
/** The weight of a row that may be large. */
export const LARGE = 20;

/** A batch whose time begins with its first statement. `monotonic` is in milliseconds. */
export function makeBatch(monotonic: () => number, forMs = MAX_BATCH_MS): TimedBatch {
  let startedAt: number | undefined;
  let portions = 0;
  return {
    room: (weight = 1) => {
      startedAt ??= monotonic();
      const isOver = portions >= MIN_PORTIONS && monotonic() - startedAt >= forMs;
      if (portions === MAX_PORTIONS || isOver) return 0;
      portions += 1;
      return Math.max(1, Math.floor(PORTION / weight));
    },
    elapsedMs: () => (startedAt === undefined ? 0 : monotonic() - startedAt),
  };
}
