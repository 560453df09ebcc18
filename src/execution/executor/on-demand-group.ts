// A thread group for runs that take no common slot. It is created for the first of them.
import { isDeepStrictEqual } from 'node:util';
import { makePermits } from '../queue/permits.ts';
import type { ThreadGroup, PoolSize } from './thread-group.ts';

/** A place for one run, or a position in the queue for one. */
export interface Reservation {
  /** Resolves when the run may start, or has left. */
  readonly ready: Promise<void>;
  /** Only once it is `ready`. */
  group(): ThreadGroup;
  /** Passes the place to the run that has waited longest, or leaves the queue. A second call does nothing. */
  leave(): void;
}

export interface OnDemandGroup {
  /** Takes a place with this weight. One that outweighs the whole room gets all of it. */
  take(weight: number): Reservation;
  /** Runs that have a place, or wait for one. */
  count(): number;
  /** The group, while it exists. */
  current(): ThreadGroup | undefined;
}

/** The size of a new group, and its room: no more runs than its threads take, so that none waits unnoticed. */
export interface GroupPlan {
  readonly size: PoolSize;
  readonly room: number;
}

export interface OnDemandGroupParts {
  /** Whether its threads end with the last run. Otherwise they wait for others, until they have idled. */
  readonly endsWithRuns: boolean;
  /** Called for the first run; the plan is valid until the last one has left. */
  plan(): GroupPlan;
  create(size: PoolSize): ThreadGroup;
}

export function makeOnDemandGroup(parts: OnDemandGroupParts): OnDemandGroup {
  const permits = makePermits();
  const reservations = new Set<Reservation>();
  let plan = parts.plan();
  let group: ThreadGroup | undefined;

  function end(): void {
    void group?.destroy();
    group = undefined;
  }

  function planForFirst(): void {
    const next = parts.plan();
    if (!isDeepStrictEqual(next, plan)) end();
    plan = next;
  }

  function take(weight: number): Reservation {
    if (reservations.size === 0) planForFirst();
    const { promise: ready, resolve } = Promise.withResolvers<void>();
    const permit = permits.acquire('', { limit: plan.room, weight }, resolve);
    const reservation: Reservation = {
      ready,
      group: () => (group ??= parts.create(plan.size)),
      leave: () => {
        if (!reservations.delete(reservation)) return;
        permit.release();
        resolve();
        if (parts.endsWithRuns && reservations.size === 0) end();
      },
    };
    reservations.add(reservation);
    return reservation;
  }

  return { take, count: () => reservations.size, current: () => group };
}
