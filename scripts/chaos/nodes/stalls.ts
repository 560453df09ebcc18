// When this machine stood still, or had so much to do that nobody got anywhere: what a node does then is not its own fault.
import type { Stretch } from '../../../src/selftest/storm/storm.ts';

const LOOK_MS = 200;
const STALL_MS = 3_000;

/** Watches from now on, until it is stopped. */
export function watchStalls(): { readonly stalls: readonly Stretch[]; stop(): void } {
  const stalls: Stretch[] = [];
  let last = Date.now();
  const timer = setInterval(() => {
    const now = Date.now();
    if (now - last > STALL_MS) stalls.push({ from: last, to: now });
    last = now;
  }, LOOK_MS);
  return { stalls, stop: () => clearInterval(timer) };
}
