// Gathers text that arrives in quick succession: all later processing costs per piece, not per character.

/** Just under the pace of a fast local model, so that its tokens pass one by one. */
const QUIET_MS = 15;
/** Within what the journal may merge (G8), and enough for twice as many streams with the same work. */
const BUSY_MS = 40;
const BUSY_SHARE = 0.5;
const LOOK_EVERY_MS = 250;

/** The time to gather in milliseconds, by how busy this thread's event loop was in the last quarter of a second. */
export function makeGather(): () => number {
  let seen = performance.eventLoopUtilization();
  let seenAt = performance.now();
  let gatherMs = QUIET_MS;
  return () => {
    const now = performance.now();
    if (now - seenAt >= LOOK_EVERY_MS) {
      const usage = performance.eventLoopUtilization();
      gatherMs = performance.eventLoopUtilization(usage, seen).utilization >= BUSY_SHARE ? BUSY_MS : QUIET_MS;
      seen = usage;
      seenAt = now;
    }
    return gatherMs;
  };
}

/** One for the thread: its streams share one event loop. */
export const threadGatherMs = makeGather();

export interface TextGatherer {
  add(text: string): void;
  /** Passes on what is gathered. */
  flush(): void;
}

/**
 * Makes a gatherer. The first text after a quiet time passes in the same turn of the event loop, with all that arrives in it;
 * what follows within `gatherMs()` of the last piece passes together, at the end of that time.
 */
export function gatherText(gatherMs: () => number, write: (text: string) => void): TextGatherer {
  let gathered = '';
  let timer: NodeJS.Timeout | undefined;
  let wroteAt = -Infinity;

  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const text = gathered;
    gathered = '';
    if (text === '') return;
    wroteAt = performance.now();
    write(text);
  };
  const add = (text: string) => {
    const isFirst = gathered === '';
    gathered += text;
    if (!isFirst) return;
    const waitMs = gatherMs() - (performance.now() - wroteAt);
    if (waitMs <= 0) queueMicrotask(flush);
    else timer = setTimeout(flush, waitMs);
  };
  return { add, flush };
}
