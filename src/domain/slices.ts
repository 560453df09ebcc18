// Slices of the main thread's time: long work takes them in turn, so that the loop turns often however much work there is.
import type { Clock } from './clock.ts';

/** How long the slices of one turn of the loop last together. */
const LONGEST_TURN_MS = 4;

/** To be awaited between small steps of long work: it lets go of the thread once that has been held for a while. */
export type Pause = () => Promise<void>;

/** The owner of what is done for people without a credential. */
export const ANYONE = 'anyone';

/** Gives all long work of the thread its slices. There is one for each thread. */
export interface Slices {
  /**
   * The pauses of one piece of work. Whoever waits gets the next slice in turn: owner after owner, and of one owner, who has
   * waited longest.
   */
  of(owner: string): Pause;
}

type Clocked = Pick<Clock, 'monotonic'>;

export function makeSlices(clock: Clocked): Slices {
  // Who waits, by owner. The first owner is the next one.
  const waiting = new Map<string, (() => void)[]>();
  let startedAt: number | null = null;
  let holder: Pause | null = null;

  function beginTurn(): void {
    const [next] = waiting;
    if (next === undefined) {
      startedAt = null;
      holder = null;
      return;
    }
    const [owner, resumes] = next;
    const resume = resumes.shift()!;
    waiting.delete(owner);
    if (resumes.length > 0) waiting.set(owner, resumes);
    startedAt = clock.monotonic();
    setImmediate(beginTurn);
    resume();
  }

  function isFree(asking: Pause): boolean {
    if (startedAt === null) {
      startedAt = clock.monotonic();
      setImmediate(beginTurn);
    } else if (clock.monotonic() - startedAt >= LONGEST_TURN_MS) return false;
    return holder === asking || waiting.size === 0;
  }

  return {
    of: (owner) => {
      const pause: Pause = async () => {
        if (!isFree(pause))
          await new Promise<void>((resume) => {
            const own = waiting.get(owner);
            if (own === undefined) waiting.set(owner, [resume]);
            else own.push(resume);
          });
        holder = pause;
      };
      return pause;
    },
  };
}
