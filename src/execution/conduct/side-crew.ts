// A crew beside the ordinary one, for runs that are kept apart. It is hired for the first of them and ends with the last.
import { makePermits } from '../queue/permits.ts';
import type { Crew } from './crew.ts';

/** A place for one run, or one in the line for it. */
export interface Seat {
  /** Resolves when the run may start, or has left. */
  readonly ready: Promise<void>;
  /** Only once it is `ready`. */
  crew(): Crew;
  /** Gives the place to who waited longest, or leaves the line. A second call does nothing. */
  leave(): void;
}

export interface SideCrew {
  take(): Seat;
  /** Runs that have a place, or wait for one. */
  count(): number;
  /** The crew, while there is one. */
  hired(): Crew | undefined;
}

export interface SideCrewParts {
  /** How many runs there may be at once: no more than its threads take, so that none waits unseen in their queue. */
  readonly places: number;
  hire(): Crew;
}

export function makeSideCrew({ places, hire }: SideCrewParts): SideCrew {
  const permits = makePermits();
  const seats = new Set<Seat>();
  let crew: Crew | undefined;

  function dismiss(): void {
    if (seats.size > 0) return;
    void crew?.destroy();
    crew = undefined;
  }

  function take(): Seat {
    const { promise: ready, resolve } = Promise.withResolvers<void>();
    const permit = permits.acquire('', places, resolve);
    const seat: Seat = {
      ready,
      crew: () => (crew ??= hire()),
      leave: () => {
        if (!seats.delete(seat)) return;
        permit.release();
        resolve();
        dismiss();
      },
    };
    seats.add(seat);
    return seat;
  }

  return { take, count: () => seats.size, hired: () => crew };
}
