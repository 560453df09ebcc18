// How fast this machine works now: limits of processor time are those of a machine that is quiet. On a busy one two threads share a core,
// and the same work takes up to twice the processor time.
import { cpuMsOf } from './cpu-time.ts';

const TEXT = '\u0001ö"'.repeat(300_000);
/** What the work below takes on two quiet cores. */
const QUIET_MS = 14;

/** How many times as long as on a quiet machine processor work takes now: 1 or more, and 3 at most. */
export function slowness(): number {
  const tries = [1, 2, 3].map(() => cpuMsOf(() => JSON.parse(JSON.stringify({ text: TEXT }))));
  return Math.min(3, Math.max(1, Math.min(...tries) / QUIET_MS));
}
