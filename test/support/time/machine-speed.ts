// How fast this machine works now: limits of processor time are those of a quiet one. On a busy one two threads share a core, and the same
// work takes up to twice the processor time.
import { cpuMsOf } from './cpu-time.ts';

const TEXT = '\u0001ö"'.repeat(300_000);
/** What the work below takes on two quiet cores of a server, in ms. */
const QUIET_MS = 14;
/** A machine that is slower than this shows nothing. */
const SLOWEST = 3;

/** How many times as long as on a quiet machine processor work takes now, 1 or more. */
function slowness(): number {
  const tries = [1, 2, 3].map(() => cpuMsOf(() => JSON.parse(JSON.stringify({ text: TEXT }))));
  return Math.min(SLOWEST, Math.max(1, Math.min(...tries) / QUIET_MS));
}

/**
 * What is measured when it is least, of three times, in ms of a quiet machine; the first that is below `enoughMs` is the last. A
 * collection of garbage also waits for threads that don't get the processor.
 */
export async function leastOfThree(enoughMs: number, measureMs: () => Promise<number>): Promise<number> {
  let least = Infinity;
  for (let tries = 0; tries < 3 && least >= enoughMs; tries += 1) {
    const ms = await measureMs();
    least = Math.min(least, ms < enoughMs ? ms : ms / slowness());
  }
  return least;
}
