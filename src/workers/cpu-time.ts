// Bounds work on untrusted input in CPU time of this thread, so that a busy machine does not count against it.
import { createContext, Script } from 'node:vm';

/** How many times its CPU time some work may take by the clock, on a machine that gives this thread a small share. */
const MAX_SLOWDOWN = 10;
/**
 * Work that had used this share of its CPU time when it was stopped counts as having used all: the measurement is not exact.
 */
const NEARLY_ALL = 0.8;

const RUN = new Script('work()');
const context = createContext({ work: undefined });

/**
 * Does some work and stops it, by a throw, after so much CPU time of this thread. Only `vm` can stop code from outside, and it
 * uses the wall clock; work that was stopped before it had its CPU time starts again with a longer limit, estimated from the
 * first try. So the work must have no effect other than its result.
 */
export function withinCpuTime<T>(limitMs: number, work: () => T): T {
  for (let wallMs = limitMs; ; ) {
    const before = process.threadCpuUsage();
    try {
      return runFor(wallMs, work);
    } catch (error) {
      if ((error as NodeJS.ErrnoException | null)?.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
      const { user, system } = process.threadCpuUsage(before);
      const spentMs = (user + system) / 1_000;
      const mostMs = limitMs * MAX_SLOWDOWN;
      if (spentMs >= limitMs * NEARLY_ALL || wallMs >= mostMs) throw error;
      wallMs = Math.min(mostMs, Math.ceil((wallMs * 2 * limitMs) / Math.max(spentMs, 1)));
    }
  }
}

function runFor<T>(wallMs: number, work: () => T): T {
  context['work'] = work;
  return RUN.runInContext(context, { timeout: wallMs }) as T;
}
