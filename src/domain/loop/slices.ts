// Slices of the main thread's time: long work takes them in turn, so that the loop turns often however much work there is.
import type { Clock } from '../clock.ts';

/** How long the slices of one turn of the loop last together. */
const LONGEST_TURN_MS = 2;

/** To be awaited between small steps of long work: it lets go of the thread once that has been held for a while. */
export type Pause = () => Promise<void>;

/** The owner of what is done for people without a credential. */
export const ANYONE = 'anyone';

/** Gives all long work of the thread its slices. There is one for each thread. */
export interface Slices {
  /**
   * The pauses of one piece of work. The next slice is for the owner who has used least of the thread since others wait; of one
   * owner, for the work that has waited longest. So whoever wants little waits for a turn of the loop, not for everybody else's.
   */
  of(owner: string): Pause;
}

type Clocked = Pick<Clock, 'monotonic'>;

export function makeSlices(clock: Clocked): Slices {
  // Who waits, by owner.
  const waiting = new Map<string, Waiter[]>();
  const shares = makeShares();
  // Null while nobody has asked for a slice in this turn or the last.
  let turn: { readonly startedAt: number; isUsed: boolean } | null = null;
  // Whoever has the thread now. Whether he is done with it is known at his next pause, or when the next one is resumed.
  let holder: { readonly pause: Pause; readonly owner: string; readonly since: number } | null = null;

  const isOver = () => turn !== null && clock.monotonic() - turn.startedAt >= LONGEST_TURN_MS;

  /** Charges the holder with what he has used. Other work may have come after his, so it is no more than a turn's slices. */
  function release(): void {
    if (holder !== null) shares.charge(holder.owner, Math.min(clock.monotonic() - holder.since, LONGEST_TURN_MS));
    holder = null;
  }

  // The first of the immediates of each turn of the loop.
  function beginTurn(): void {
    release();
    if (waiting.size === 0 && turn?.isUsed === false) {
      turn = null;
      shares.forget();
      return;
    }
    shares.prune();
    turn = { startedAt: clock.monotonic(), isUsed: false };
    setImmediate(beginTurn);
  }

  function take(pause: Pause, owner: string): void {
    turn!.isUsed = true;
    release();
    holder = { pause, owner, since: clock.monotonic() };
  }

  // One for each who waits. Between two of them, the first does his step.
  function resumeNext(): void {
    if (isOver()) return void setImmediate(resumeNext);
    release();
    const owner = shares.next(waiting.keys());
    const waiters = waiting.get(owner)!;
    const next = waiters.shift()!;
    waiting.delete(owner);
    if (waiters.length > 0) waiting.set(owner, waiters);
    take(next.pause, owner);
    next.resume();
  }

  return {
    of: (owner) => {
      const pause: Pause = async () => {
        if (turn === null) {
          turn = { startedAt: clock.monotonic(), isUsed: false };
          setImmediate(beginTurn);
        }
        const isNext = holder === null ? waiting.size === 0 : holder.pause === pause;
        if (isNext && !isOver()) return take(pause, owner);
        if (holder?.pause === pause) release();
        await new Promise<void>((resume) => {
          const own = waiting.get(owner) ?? [];
          own.push({ pause, resume });
          waiting.set(owner, own);
          shares.enter(owner);
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

/**
 * What each owner has used, in milliseconds. Whoever comes is put just before those who were served last, so that nobody saves up for
 * later, or is charged for when he was alone.
 */
function makeShares() {
  const used = new Map<string, number>();
  let level = 0;
  const least = () => level - LONGEST_TURN_MS;
  const usedBy = (owner: string) => Math.max(used.get(owner) ?? least(), least());
  return {
    enter: (owner: string) => void used.set(owner, usedBy(owner)),
    charge: (owner: string, ms: number) => void used.set(owner, usedBy(owner) + ms),
    /** Of those who wait, who has used least; of equals, who comes first. */
    next: (owners: Iterable<string>): string => {
      let [next, leastUsed] = ['', Number.POSITIVE_INFINITY];
      for (const owner of owners) if (usedBy(owner) < leastUsed) [next, leastUsed] = [owner, usedBy(owner)];
      level = Math.max(level, leastUsed);
      return next;
    },
    /** Those who have used least need no entry. */
    prune: () => {
      for (const [owner, own] of used) if (own <= least()) used.delete(owner);
    },
    forget: () => {
      used.clear();
      level = 0;
    },
  };
}
