// The pace of a backup: it rests as long as it works, so that the disk and the processors are there for runs.
import { setTimeout as sleep } from 'node:timers/promises';
import { ErrandError } from '../domain/errors.ts';

export interface Pace {
  /** Rests when it is time to; throws when the backup was cancelled. */
  rest(): Promise<void>;
  /** The same in a call that can't wait: blocks the thread. */
  restHere(): void;
  cancel(): void;
}

/** What a cancelled backup ends with. */
export const CANCELLED = 'The backup was cancelled.';

/** Works so long before it rests. */
const TURN_MS = 10;
/** A rest after long work, such as a slow write, is no longer than this. */
const MAX_REST_MS = 250;

export function makePace(): Pace {
  let begunAt = performance.now();
  let isCancelled = false;
  const still = new Int32Array(new SharedArrayBuffer(4));

  /** How long to rest now; 0 while there is time left. */
  function due(): number {
    if (isCancelled) throw new ErrandError('unavailable', CANCELLED);
    const worked = performance.now() - begunAt;
    return worked < TURN_MS ? 0 : Math.min(worked, MAX_REST_MS);
  }

  return {
    rest: async () => {
      const ms = due();
      if (ms === 0) return;
      await sleep(ms);
      begunAt = performance.now();
    },
    restHere: () => {
      const ms = due();
      if (ms === 0) return;
      Atomics.wait(still, 0, 0, ms);
      begunAt = performance.now();
    },
    cancel: () => {
      isCancelled = true;
    },
  };
}
