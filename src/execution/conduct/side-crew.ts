// A crew beside the ordinary one, for runs that are kept apart. It is hired for the first of them and ends with the last.
import { makePermits } from '../queue/permits.ts';
import type { Crew, CrewSize } from './crew.ts';

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
  /** Takes a place that weighs so much of the room. One that outweighs all of it has the room for itself. */
  take(weight: number): Seat;
  /** Runs that have a place, or wait for one. */
  count(): number;
  /** The crew, while there is one. */
  hired(): Crew | undefined;
}

/** How large a crew is hired, and what it has room for: no more runs than its threads take, so that none waits unseen. */
export interface CrewPlan {
  readonly size: CrewSize;
  readonly room: number;
}

export interface SideCrewParts {
  /** Asked for the first run; what it says holds until the last one has left. */
  plan(): CrewPlan;
  hire(size: CrewSize): Crew;
}

export function makeSideCrew(parts: SideCrewParts): SideCrew {
  const permits = makePermits();
  const seats = new Set<Seat>();
  let plan = parts.plan();
  let crew: Crew | undefined;

  function dismiss(): void {
    if (seats.size > 0) return;
    void crew?.destroy();
    crew = undefined;
  }

  function take(weight: number): Seat {
    if (seats.size === 0) plan = parts.plan();
    const { promise: ready, resolve } = Promise.withResolvers<void>();
    const permit = permits.acquire('', { limit: plan.room, weight }, resolve);
    const seat: Seat = {
      ready,
      crew: () => (crew ??= parts.hire(plan.size)),
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
