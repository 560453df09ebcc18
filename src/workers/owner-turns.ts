// Work of many owners for few processes: one owner's waits for none of another's.
import type { Clock } from '../domain/clock.ts';

export interface OwnerTurnsParts {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Of one owner, in progress and waiting. */
  readonly maxOwn: number;
  /** Of one whose work was slow a while ago. */
  readonly maxSlow: number;
}

export interface OwnerTurns {
  /** Does the work after the owner's others; null when there are too many of them. */
  take<T>(owner: string, work: () => Promise<T>): Promise<T | null>;
  /** Some work of the owner was too slow: for an hour, theirs is slow work. */
  noteSlow(owner: string): void;
}

const SLOW_MS = 60 * 60_000;
/** Slow owners that are remembered: the last ones. */
const MAX_SLOW_OWNERS = 2_000;

/**
 * Makes it: one work of each owner is done at a time, and one of all those together whose work was slow a while ago. However many of
 * them are hostile, they leave to the others all processes but one.
 */
export function makeOwnerTurns({ clock, maxOwn, maxSlow }: OwnerTurnsParts): OwnerTurns {
  const owners = new Map<string, Turns>();
  const slow = makeTurns();
  /** By owner: until when. */
  const slowUntil = new Map<string, number>();
  const isSlow = (owner: string) => (slowUntil.get(owner) ?? 0) > clock.monotonic();
  return {
    take: async (owner, work) => {
      const turns = owners.get(owner) ?? makeTurns();
      if (turns.count() >= (isSlow(owner) ? maxSlow : maxOwn)) return null;
      owners.set(owner, turns);
      try {
        return await turns.take(() => (isSlow(owner) ? slow.take(work) : work()));
      } finally {
        if (turns.count() === 0) owners.delete(owner);
      }
    },
    noteSlow: (owner) => {
      slowUntil.delete(owner);
      slowUntil.set(owner, clock.monotonic() + SLOW_MS);
      const oldest = slowUntil.keys().next();
      if (slowUntil.size > MAX_SLOW_OWNERS && oldest.done !== true) slowUntil.delete(oldest.value);
    },
  };
}

/** Work that is done one after another. */
interface Turns {
  /** In progress and waiting. */
  count(): number;
  take<T>(work: () => Promise<T>): Promise<T>;
}

function makeTurns(): Turns {
  let count = 0;
  let last: Promise<unknown> = Promise.resolve();
  return {
    count: () => count,
    take: async (work) => {
      count += 1;
      const mine = last.then(work);
      last = mine.catch(() => undefined);
      try {
        return await mine;
      } finally {
        count -= 1;
      }
    },
  };
}
