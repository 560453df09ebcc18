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
  // Who waits, by owner; the first owner is the next one.
  const waiting = new Map<string, Waiter[]>();
  // Null while nobody has asked for a slice in this turn or the last.
  let turn: { readonly startedAt: number; isUsed: boolean } | null = null;
  // Whoever has the thread now. Whether he is done with it is known at his next pause, or when the next one is resumed.
  let holder: Pause | null = null;

  const isOver = () => turn !== null && clock.monotonic() - turn.startedAt >= LONGEST_TURN_MS;

  // The first of the immediates of each turn of the loop.
  function beginTurn(): void {
    holder = null;
    if (waiting.size === 0 && turn?.isUsed === false) {
      turn = null;
      return;
    }
    turn = { startedAt: clock.monotonic(), isUsed: false };
    setImmediate(beginTurn);
  }

  function take(pause: Pause): void {
    turn!.isUsed = true;
    holder = pause;
  }

  // One for each who waits. Between two of them, the first does his step.
  function resumeNext(): void {
    if (isOver()) return void setImmediate(resumeNext);
    const [owner, waiters] = waiting.entries().next().value!;
    const next = waiters.shift()!;
    waiting.delete(owner);
    if (waiters.length > 0) waiting.set(owner, waiters);
    take(next.pause);
    next.resume();
  }

  return {
    of: (owner) => {
      const pause: Pause = async () => {
        if (turn === null) {
          turn = { startedAt: clock.monotonic(), isUsed: false };
          setImmediate(beginTurn);
        }
        const isNext = holder === pause || (holder === null && waiting.size === 0);
        if (isNext && !isOver()) return take(pause);
        await new Promise<void>((resume) => {
          const own = waiting.get(owner) ?? [];
          own.push({ pause, resume });
          waiting.set(owner, own);
          setImmediate(resumeNext);
        });
      };
      return pause;
    },
  };
}

interface Waiter {
  readonly pause: Pause;
  resume(): void;
}
