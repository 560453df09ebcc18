// Places of attempts in flight: how many there are, and for whom.
import type { Lane } from '../store/webhooks/deliveries.ts';

/** How many attempts may be in flight. */
export const LIMITS = {
  all: 64,
  /** Of webhooks that are not proven: the other places are for those whose receivers answer. */
  unproven: 32,
  /** Of one user's webhooks, or of the house's. */
  perOwner: 24,
  perOwnerUnproven: 8,
  /** Of proven webhooks at one host and port, which may die for all of them at once. Leaves an owner places for others. */
  perHost: 12,
  perWebhook: 4,
  perUnprovenWebhook: 1,
} as const;

/** Who takes a place. */
export type Taker = Pick<Lane, 'standing' | 'host' | 'owner'>;

export interface Places {
  /** How many more a webhook may take, as for its standing, its owner and its host. */
  left(taker: Taker): number;
  /** The same without regard to the host. */
  leftOfOwner(owner: number, standing: Lane['standing']): number;
  /** Places that nobody has. */
  free(): number;
  occupy(deliveryId: number, taker: Taker): void;
  leave(deliveryId: number): void;
}

/** Makes the places, all of them free. */
export function makePlaces(): Places {
  const taken = new Map<number, Taker>();
  const unproven = makeCounts<'all'>();
  const unprovenPerOwner = makeCounts<number>();
  const perOwner = makeCounts<number>();
  /** Of proven webhooks. */
  const perHost = makeCounts<string>();

  function count({ owner, host, standing }: Taker, by: 1 | -1): void {
    perOwner.add(owner, by);
    if (standing === 'proven') return perHost.add(host, by);
    unproven.add('all', by);
    unprovenPerOwner.add(owner, by);
  }

  function leftOfOwner(owner: number, standing: Lane['standing']): number {
    const left = Math.min(LIMITS.all - taken.size, LIMITS.perOwner - perOwner.of(owner));
    if (standing === 'proven') return left;
    return Math.min(left, LIMITS.unproven - unproven.of('all'), LIMITS.perOwnerUnproven - unprovenPerOwner.of(owner));
  }

  return {
    leftOfOwner,
    free: () => LIMITS.all - taken.size,
    left: ({ owner, standing, host }) => {
      const left = leftOfOwner(owner, standing);
      return standing === 'proven' ? Math.min(left, LIMITS.perHost - perHost.of(host)) : left;
    },
    occupy: (deliveryId, { owner, host, standing }) => {
      const taker = { owner, host, standing };
      taken.set(deliveryId, taker);
      count(taker, 1);
    },
    leave: (deliveryId) => {
      count(taken.get(deliveryId)!, -1);
      taken.delete(deliveryId);
    },
  };
}

/** Counts by key; holds none that is 0. */
function makeCounts<Key>() {
  const counts = new Map<Key, number>();
  return {
    of: (key: Key): number => counts.get(key) ?? 0,
    add: (key: Key, by: number): void => {
      const count = (counts.get(key) ?? 0) + by;
      if (count === 0) counts.delete(key);
      else counts.set(key, count);
    },
  };
}
