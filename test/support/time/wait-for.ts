// Waits until something is true, in place of sleeping and hoping.

const LONGEST_PAUSE_MS = 50;
/** After a look that takes long, as one that starts a process. */
const LONGEST_REST_MS = 500;

/**
 * Answers the first value of `condition` that is neither false, null nor undefined. A condition that throws counts as not
 * yet true. Looks every `everyMs` (default 10); in a long wait less often, and after a look that took long as much later. Throws after
 * `timeoutMs` (default 120,000: it ends what hangs) with what was awaited and the last error.
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  options: { timeoutMs?: number; everyMs?: number; what?: string } = {},
): Promise<Exclude<T, false | null | undefined>> {
  const { timeoutMs = 120_000, everyMs = 10, what = condition.toString() } = options;
  const begin = performance.now();
  for (;;) {
    const lookedAt = performance.now();
    const { value, error } = await attempt(condition);
    if (value !== undefined && value !== null && value !== false) return value as Exclude<T, false | null | undefined>;
    const now = performance.now();
    const waitedMs = now - begin;
    if (waitedMs >= timeoutMs) throw new Error(`Not true within ${timeoutMs} ms: ${what}`, { cause: error });
    // To look takes of the processor what is waited for may need.
    const restMs = Math.min(LONGEST_REST_MS, now - lookedAt);
    const pauseMs = Math.max(everyMs, restMs, Math.min(LONGEST_PAUSE_MS, waitedMs / 20));
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

async function attempt<T>(condition: () => T | Promise<T>): Promise<{ value?: T; error?: unknown }> {
  try {
    return { value: await condition() };
  } catch (error) {
    return { error };
  }
}
