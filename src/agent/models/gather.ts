// How long chunks of a model's stream are gathered: not at all for a single reader, longer when the thread is busy.

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
