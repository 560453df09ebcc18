// Waits until something is true, in place of sleeping and hoping.

/**
 * Answers the first value of `condition` that is neither false, null nor undefined. A condition that throws counts as not
 * yet true. Throws after `timeoutMs` (default 60,000) with what was awaited and the last error.
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  options: { timeoutMs?: number; everyMs?: number; what?: string } = {},
): Promise<Exclude<T, false | null | undefined>> {
  const { timeoutMs = 60_000, everyMs = 10, what = condition.toString() } = options;
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const { value, error } = await attempt(condition);
    if (value !== undefined && value !== null && value !== false) return value as Exclude<T, false | null | undefined>;
    if (performance.now() >= deadline) throw new Error(`Not true within ${timeoutMs} ms: ${what}`, { cause: error });
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

async function attempt<T>(condition: () => T | Promise<T>): Promise<{ value?: T; error?: unknown }> {
  try {
    return { value: await condition() };
  } catch (error) {
    return { error };
  }
}
