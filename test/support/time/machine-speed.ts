// How fast this machine works now: limits of processor time are those of a quiet one. On a busy one two threads share a core, and the same
// work takes up to twice the processor time.
import { cpuMsOf } from './cpu-time.ts';

/** Node.js has it, but its types don't. */
declare const WebAssembly: {
  readonly Memory: new (size: { readonly initial: number }) => { readonly buffer: ArrayBuffer };
};

const TEXT = '\u0001ö"'.repeat(300_000);
/** 32 MB, of 64 KB. */
const FRESH_PAGES = 512;

/** Kinds of work, and what they take on two quiet cores of a server, in ms: for text, and for memory that the kernel has to give. */
const WORK = [
  { quietMs: 14, work: () => JSON.parse(JSON.stringify({ text: TEXT })) as unknown },
  // What a buffer gets may be memory that the process has used before.
  { quietMs: 20, work: () => new Uint8Array(new WebAssembly.Memory({ initial: FRESH_PAGES }).buffer).fill(1) },
];
/** A machine that is slower than this shows nothing. Virtual ones that get their memory page by page are six times slower for fresh memory. */
const SLOWEST = 10;

/** How many times as long as on a quiet machine work takes now, 1 or more. */
function slowness(): number {
  const times = WORK.map(({ quietMs, work }) => Math.min(...[1, 2, 3].map(() => cpuMsOf(work))) / quietMs);
  return Math.min(SLOWEST, Math.max(1, ...times));
}

/** CPU time of this thread for some work, in ms of a quiet machine. */
export function quietCpuMsOf(work: () => void): number {
  const ms = cpuMsOf(work);
  return ms / slowness();
}

/**
 * What is measured when it is least, of five times, in ms of a quiet machine: what else is going on only adds to it. The first that is below `enoughMs` is the last. A
 * collection of garbage also waits for threads that don't get the processor. How slow the machine is changes within a second: what it was
 * at either end counts.
 */
export async function leastOfFive(enoughMs: number, measureMs: () => Promise<number>): Promise<number> {
  let least = Infinity;
  let before = 1;
  for (let tries = 0; tries < 5 && least >= enoughMs; tries += 1) {
    const ms = await measureMs();
    if (ms < enoughMs) return ms;
    const after = slowness();
    least = Math.min(least, ms / Math.max(before, after));
    before = after;
  }
  return least;
}
