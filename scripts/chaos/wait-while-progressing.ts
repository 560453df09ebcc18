// Waiting on a machine that may be slow: as long as there is progress, nothing is wrong.
import { setTimeout as sleep } from 'node:timers/promises';

const HANGS_MS = 300_000;
const LOOK_MS = 50;

export interface Expected {
  /** Completes "No progress, and this does not hold: …". */
  readonly what: string;
  holds(): boolean | Promise<boolean>;
  /** Called before each look at both. */
  look?(): Promise<void>;
  /** Changes with any progress. */
  sign(): number;
}

/** Waits until something holds; throws after five minutes without progress. */
export async function waitWhileProgressing({
  what,
  holds,
  sign,
  look = async () => undefined,
}: Expected): Promise<void> {
  await look();
  let last = sign();
  let since = performance.now();
  while (!(await holds())) {
    const now = sign();
    if (now !== last) since = performance.now();
    last = now;
    if (performance.now() - since > HANGS_MS) throw new Error(`No progress, and this does not hold: ${what}.`);
    await sleep(LOOK_MS);
    await look();
  }
}
