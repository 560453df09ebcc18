// The pace of a backup: it rests as long as it works, and much longer beside runs, so that disk and processors are there for them.
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { ErrandError } from '../domain/errors.ts';

export interface Pace {
  /** Rests when it is time to; throws when the backup was cancelled. */
  rest(): Promise<void>;
  /** The same in a call that can't wait: blocks the thread, for at most so long. */
  restHere(longestMs?: number): void;
  cancel(): void;
}

/** What a cancelled backup ends with. */
export const CANCELLED = 'The backup was cancelled.';

/** Works so long before it rests. */
const TURN_MS = 10;
/** A rest after long work, such as a slow write, is no longer than this. */
const MAX_REST_MS = 250;

/** The share of a processor that the rest of the process used while the backup rested, from which it counts as at work. */
const BUSY_SHARE = 0.1;
/** How much longer than its work a rest is then. */
const BUSY_FACTOR = 8;

/** How long to rest after so many milliseconds of work, by what the rest of the process used in the last rest. */
export function restAfter(workedMs: number, share: number): number {
  return Math.min(workedMs * (share > BUSY_SHARE ? BUSY_FACTOR : 1), MAX_REST_MS);
}

export function makePace(): Pace {
  let begunAt = performance.now();
  let share = 0;
  let isCancelled = false;
  const still = new Int32Array(new SharedArrayBuffer(4));

  /** How long to rest now; 0 while there is time left. */
  function due(): number {
    if (isCancelled) throw new ErrandError('unavailable', CANCELLED);
    const worked = performance.now() - begunAt;
    return worked < TURN_MS ? 0 : restAfter(worked, share);
  }

  /** While this thread rests, the processor time of the process is that of the others. */
  function beginRest(): () => void {
    const [restsAt, before] = [performance.now(), process.cpuUsage()];
    return () => {
      begunAt = performance.now();
      const { user, system } = process.cpuUsage(before);
      share = (user + system) / 1_000 / (begunAt - restsAt);
    };
  }

  return {
    rest: async () => {
      const ms = due();
      if (ms === 0) return;
      const ended = beginRest();
      await sleep(ms);
      ended();
    },
    restHere: (longestMs = MAX_REST_MS) => {
      const ms = Math.min(due(), longestMs);
      if (ms === 0) return;
      const ended = beginRest();
      Atomics.wait(still, 0, 0, ms);
      ended();
    },
    cancel: () => {
      isCancelled = true;
    },
  };
}
